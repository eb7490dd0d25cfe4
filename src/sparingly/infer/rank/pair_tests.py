"""Tests of every pair of models, by name: t, paired permutation, Wilcoxon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparingly.base.rng import Keys
from sparingly.base.stats.holm import holm
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.base.stats.signflip import pair_p_values
from sparingly.infer.rank.max_t import pair_errors, pair_tells

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairTests:
    """One-sided p-values of all pairs, from which the two-sided and the corrected ones follow.

    Attributes:
        test: The name of the test.
        worse: models × models; [j, k] is the p-value that model j is worse than model k, NaN on the diagonal
            and where the two were never judged together.
    """

    test: str
    worse: Floats

    @cached_property
    def two_sided(self) -> Floats:
        """min(1, 2·min(p, p of the other direction)), models × models."""
        return np.minimum(1.0, 2.0 * np.fmin(self.worse, self.worse.T))

    @cached_property
    def corrected(self) -> Floats:
        """The two-sided p-values with Holm's correction over all pairs, models × models."""
        first, second = pair_indices(len(self.worse))
        return _square(holm(self.two_sided[first, second]), len(self.worse), mirrored=True)


def t_tests(
    scores: Floats, covariance: Floats, degrees: float = math.inf, *, certain: bool = True
) -> PairTests:
    """Test μ_j < μ_k by t = (μ̂_j − μ̂_k)/se_jk; it honours weights, documents and predictions.

    Two models that never differ have p = 1 in both directions. Where an error of 0 only means that the
    judged items happen to show the same difference (not ``certain``), nothing is told: p = 1.
    """
    from scipy.stats import norm, t

    difference, errors = scores[:, None] - scores[None, :], pair_errors(covariance)
    told = pair_tells(covariance)
    ratio = np.divide(difference, errors, out=np.zeros_like(difference), where=told)
    tail = norm.cdf(ratio) if math.isinf(degrees) else t.cdf(ratio, degrees)
    # Without any error left the sign decides; without a difference nothing speaks against the null.
    sure = np.where((difference < 0) & certain, 0.0, 1.0)
    worse = np.where(told, tail, sure)
    worse[np.isnan(difference)] = np.nan
    np.fill_diagonal(worse, np.nan)
    return PairTests("t", worse)


def permutation_tests(scores: Floats, keys: Keys, *, seed: int = 0, flips: int = 1000) -> PairTests:
    """Test pairs by flipping the signs of per-item differences (items × models; Fisher 1935).

    For items that were all as likely to be drawn; it knows nothing of weights.
    """
    p_better = pair_p_values(scores, keys=keys, seed=seed, flips=flips)
    count = scores.shape[1]
    upper = _square(1.0 - p_better, count)
    worse = np.where(np.tri(count, k=-1, dtype=bool), 1.0 - upper.T, upper)
    return PairTests("permutation", _without_strangers(worse, scores))


def wilcoxon_tests(scores: Floats) -> PairTests:
    """Test pairs by Wilcoxon's signed ranks of per-item differences (items × models).

    For items that were all as likely to be drawn; it asks about typical differences, not about means.
    """
    count = scores.shape[1]
    less, greater = (pair_signed_rank(scores, side).p for side in ("less", "greater"))
    worse = _square(less, count)
    worse.T[np.triu_indices(count, 1)] = greater
    return PairTests("wilcoxon", _without_strangers(worse, scores))


def _square(pairs: Floats, count: int, *, mirrored: bool = False) -> Floats:
    """Return a vector over pairs as the upper half of a square, or as both halves."""
    square = np.full((count, count), np.nan)
    first, second = pair_indices(count)
    square[first, second] = pairs
    if mirrored:
        square[second, first] = pairs
    return square


def _without_strangers(worse: Floats, scores: Floats) -> Floats:
    """Put NaN where two models were never judged on the same item, and on the diagonal."""
    judged = (~np.isnan(scores)).astype(np.float64)
    worse[judged.T @ judged == 0] = np.nan
    np.fill_diagonal(worse, np.nan)
    return worse
