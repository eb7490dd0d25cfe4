"""Tests of every pair of models: t from scores and their covariance, paired permutation, Wilcoxon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.base.lazy import special
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.sign_flip import AUTO_LIMIT, pair_p_values
from sparingly.base.stats.signed_rank import pair_signed_rank

# What subtracting two equal variances leaves, as a share of their root; and of means, as a share of them.
_ROUNDING, _MEAN_ROUNDING = 1e-7, 1e-12


def pair_errors(covariance: Floats) -> Floats:
    """Return the standard error of every difference, se_jk = √(Σ_jj + Σ_kk − 2Σ_jk), models × models."""
    variance = np.diag(covariance)
    squared = variance[:, None] + variance[None, :] - 2 * covariance
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def pair_tells(covariance: Floats, scores: Floats | None = None) -> Mask:
    """Return which pairs have an error that is more than rounding, models × models.

    An error is rounding below 1e-7 of the root of the two variances' sum, and below 1e-12 of the scores.
    """
    variances = np.maximum(np.diag(covariance), 0.0)
    smallest = _ROUNDING * np.sqrt(variances[:, None] + variances[None, :])
    if scores is not None:
        size = np.abs(scores)
        smallest = np.maximum(smallest, _MEAN_ROUNDING * np.maximum(size[:, None], size[None, :]))
    return np.asarray(pair_errors(covariance) > smallest)


def checked_scores(scores: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return scores and covariance as arrays; raise UsageError unless they fit together."""
    scores, covariance = np.asarray(scores, np.float64), np.asarray(covariance, np.float64)
    count = len(scores) if scores.ndim == 1 else -1
    if covariance.shape != (count, count):
        raise UsageError(
            f"A ranking needs one score per model and their covariance, not {scores.shape} "
            f"and {covariance.shape}."
        )
    scored = ~np.isnan(scores)
    if not scored.any():
        raise UsageError("No model has a score, so there is nothing to rank.")
    if not np.isfinite(covariance[np.ix_(scored, scored)]).all():
        raise UsageError("The covariance of the scores has missing or infinite values.")
    return scores, covariance


@dataclass(frozen=True, eq=False)
class PairTests:
    """One-sided p-values of all pairs, from which the two-sided ones follow."""

    test: str  # the name of the test
    # models × models; [j, k] is the p-value that model j is worse than model k, NaN on the diagonal and where
    # the two were never judged together.
    worse: Floats

    @cached_property
    def two_sided(self) -> Floats:
        """min(1, 2·min(p, p of the other direction)), models × models."""
        return np.minimum(1.0, 2.0 * np.fmin(self.worse, self.worse.T))

    def agreeing(self, scores: Floats) -> Floats:
        """Return the two-sided p-values, 1 where the test favours the model with the lower score.

        A rank test asks about typical differences and a score is a mean: where the two contradict each other,
        nothing is decided.
        """
        difference = scores[:, None] - scores[None, :]
        lower_wins = (difference > 0) & (self.worse < self.worse.T)
        return np.where(lower_wins | lower_wins.T, 1.0, self.two_sided)


def t_tests(
    scores: Floats,
    covariance: Floats,
    degrees: float = math.inf,
    *,
    certain: bool = True,
    two_sided: Floats | None = None,
) -> PairTests:
    """Test μ_j < μ_k by t = (μ̂_j − μ̂_k)/se_jk; it accounts for weights, documents and predictions.

    ``two_sided`` holds p-values in place of those of Student's t, such as ``Estimate.pair_p_values``, which
    belong to the printed intervals of differences; the guards hold for them, too.

    Two guards. An error of 0 (or of mere rounding) means that the judged items happen to show the same
    difference, which proves nothing: p = 1, unless nothing is left to chance (``certain``), where the sign
    decides. And no p-value is below ``least_p``, what n units can support however alike they are, but for a
    given one of 0 without an error: both models were judged on everything.
    """
    difference, errors = scores[:, None] - scores[None, :], pair_errors(covariance)
    has_error = pair_tells(covariance, scores)
    if two_sided is not None:
        # They are 1 where no error is known; of two-valued scores it is known what was not seen.
        has_error = has_error | (two_sided < 1.0)
    ratio = np.divide(difference, errors, out=np.zeros_like(difference), where=has_error & (errors > 0))
    tail = special.stdtr(degrees, ratio)
    if two_sided is not None:
        tail = np.where(difference < 0, two_sided / 2.0, 1.0 - two_sided / 2.0)
    smallest = np.full(tail.shape, least_p(degrees))
    if two_sided is not None:
        smallest[(errors == 0) & (two_sided == 0)] = 0.0
    tail = np.maximum(tail, smallest)
    # Without any error left the sign decides; without a difference nothing speaks against the null.
    without_error = np.where((difference < 0) & certain, 0.0, 1.0)
    worse = np.where(has_error, tail, without_error)
    worse[np.isnan(difference) | np.isnan(errors) | np.isnan(tail)] = np.nan
    np.fill_diagonal(worse, np.nan)
    return PairTests("t", worse)


def least_p(degrees: float) -> float:
    """Return the least one-sided p-value that n = degrees + 1 units can support: P(t < −n/2).

    Were all n units to show the same difference d, one more that shows −d would make t = n/2: no sample is
    taken to rule out that there is such a unit.
    """
    return 0.0 if math.isinf(degrees) else float(special.stdtr(degrees, -(degrees + 1.0) / 2.0))


def permutation_tests(scores: Floats, keys: Keys, *, seed: int = 0, flips: int = 1000) -> PairTests:
    """Test pairs by flipping the signs of per-item differences (items × models; Fisher 1935).

    For items that were all as likely to be drawn; it knows nothing of weights. No p-value is below what so
    many flips, or all sign patterns of the items on which two models differ, can support.
    """
    p_better = pair_p_values(scores, keys=keys, seed=seed, flips=flips)
    count = scores.shape[1]
    upper = _square(1.0 - p_better, count)
    worse = np.where(np.tri(count, k=-1, dtype=bool), 1.0 - upper.T, upper)
    differ = np.array([(np.abs(scores.T - column) > 0).sum(axis=1) for column in scores.T])
    smallest = np.where(differ > AUTO_LIMIT, 1.0 / (flips + 1.0), 2.0 ** -np.minimum(differ, AUTO_LIMIT))
    return PairTests("permutation", _where_compared(np.maximum(worse, smallest), scores))


def wilcoxon_tests(scores: Floats) -> PairTests:
    """Test pairs by Wilcoxon's signed ranks of per-item differences (items × models).

    For items that were all as likely to be drawn; it asks about typical differences, not about means.
    """
    count = scores.shape[1]
    less, greater = (pair_signed_rank(scores, side).p for side in ("less", "greater"))
    worse = _square(less, count)
    worse.T[np.triu_indices(count, 1)] = greater
    return PairTests("wilcoxon", _where_compared(worse, scores))


def _square(pairs: Floats, count: int) -> Floats:
    """Return a vector over pairs as the upper half of a square."""
    square = np.full((count, count), np.nan)
    square[pair_indices(count)] = pairs
    return square


def _where_compared(worse: Floats, scores: Floats) -> Floats:
    """Return p-values with NaN on the diagonal and where two models share no judged item."""
    judged = (~np.isnan(scores)).astype(np.float64)
    worse[judged.T @ judged == 0] = np.nan
    np.fill_diagonal(worse, np.nan)
    return worse
