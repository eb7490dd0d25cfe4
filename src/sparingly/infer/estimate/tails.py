"""How far a score may lie from its estimate on either side: Student's interval, corrected for long tails.

A handful of judgements seldom holds the rare large errors that a long tail is made of, and then says that
there are none. Two corrections bring intervals back to their level; both are in closed form, so that a
p-value is the level at which the interval begins to hold 0:

* Each side gets the errors that were not seen. To the variance of the score are added κ squared deviations
  of a judgement on that side, as they are over all models: V_side = V + κ·(1 − f)·m_side/n². Other models'
  rare errors tell what this model's may be like: one part of κ grows with the kurtosis of all models'
  judgements (0 where they are no longer-tailed than normal ones), the other where few models tell it.
* The quantile of Student's distribution is moved by the skewness of the studentised mean of a sample without
  replacement. With λ = γ/√n and ρ = λ·√(1 − f), T has the mean −ρ/2 and the third cumulant
  λ(1 − 2f)/√(1 − f) − 3ρ, so its quantile lies at q − ρ/2 + (λ(1 − 2f)/√(1 − f) − 3ρ)(q² − 1)/6 (Cornish and
  Fisher 1938; Hall 1992, section 2.6; Babu and Singh 1985 for finite populations). The skewness is the
  model's own, as far as it is more than chance gives a normal sample, or that of all models, whichever
  reaches farther; a side is never shortened.

Constants were chosen on uniform draws from all public sets, no family left out;
``benchmarks/default_coverage.py`` shows how often intervals hold on thirteen of them and on made ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.arrays import Floats

if TYPE_CHECKING:
    from sparingly.infer.estimate.variance import ScoreErrors

# κ = UNSEEN·w + UNSEEN_ALONE/M squared deviations, for M models that are judged on the same scale; w goes
# from 0 at the kurtosis of normal judgements to 1 where it is LONG more.
UNSEEN, UNSEEN_ALONE = 6.0, 14.0
NORMAL, LONG = 3.0, 6.0
# The correction for skewness counts SKEW + SKEW_ALONE/M times: few judgements show too little skewness.
SKEW, SKEW_ALONE = 1.25, 1.25
# Of two-valued scores it is known what was not seen: an item on which one of two models passes, either way.
DISCORDANT = 2.0
# A model that spreads more than so many times as far as the middle one is counted as if it did not.
_MOST_SPREAD = 100.0
# A sample of almost everything leaves a skewness of its few unjudged items that cannot be learned.
_MOST_OF_SET = 0.98


@dataclass(frozen=True, eq=False)
class Tails:
    """The tails of single judgements on either side, over all models (or pairs of models)."""

    low: float  # the mean of squared deviations below the centre, of one judgement
    high: float  # the same above the centre
    skew: float  # the skewness γ of a judgement
    kurtosis: float  # the kurtosis of a judgement; 3 for normal ones
    models: int  # the number of models it is learned from
    fraction: float = 0.0  # the share f of the set that is judged; 0 for inputs like these

    @property
    def unseen(self) -> float:
        """κ, how many squared deviations are added on either side."""
        return UNSEEN * min(max((self.kurtosis - NORMAL) / LONG, 0.0), 1.0) + UNSEEN_ALONE / self.models

    @property
    def weight(self) -> float:
        """How many times the correction for skewness counts."""
        return SKEW + SKEW_ALONE / self.models

    @property
    def chance(self) -> float:
        """How many standard errors of a skewness are subtracted as noise: none with one or two models."""
        return max(1.0 - 2.0 / self.models, 0.0)

    @property
    def unsampled(self) -> float:
        """1 − f, the share of the set that is not judged."""
        return 1.0 - min(self.fraction, _MOST_OF_SET)


def score_tails(errors: ScoreErrors) -> Tails:
    """Return the tails of judgements over all models, from what every unit contributes to every score."""
    single = _single(errors)
    total = max(float(errors.counts.sum()), 1.0)
    low, high = ((np.clip(single, *ends) ** 2).sum() / total for ends in ((None, 0.0), (0.0, None)))
    squared, models = float(low + high), max(errors.shape.shape[1], 1)
    skew = float((single**3).sum()) / total / squared**1.5 if squared > 0 else 0.0
    kurtosis = _kurtosis(float((single**4).sum()) / total, squared)
    return Tails(float(low), float(high), skew, kurtosis, models, errors.fraction)


def pair_tails(errors: ScoreErrors, floor: float = 0.0) -> Tails:
    """Return the tails of differences of two judgements over all pairs of models: the same on both sides.

    ``floor`` is the least that is added to the sum of squared differences, where the scale tells it.
    """
    single = _single(errors)
    models, root = single.shape[1], np.sqrt(np.maximum(errors.counts, 1.0))
    products = single.T @ single / (root[:, None] * root)
    if models < 2:
        return Tails(0.0, 0.0, 0.0, NORMAL, 1, errors.fraction)
    # The means over all pairs j < k of (c_uj − c_uk)² and (c_uj − c_uk)⁴, of one judgement each; the second
    # from sums of powers of every unit.
    pairs = models * (models - 1.0) / 2.0
    squared = float(models * np.trace(products) - products.sum()) / pairs
    first, second, third, fourth = (((single / np.sqrt(root)) ** power).sum(axis=1) for power in (1, 2, 3, 4))
    fourths = float((models * fourth - 4.0 * first * third + 3.0 * second**2).sum()) / pairs
    tails = Tails(squared, squared, 0.0, _kurtosis(fourths, squared), models, errors.fraction)
    reach = max(tails.low, floor * tails.unsampled / tails.unseen)
    return replace(tails, low=reach, high=reach)


def _single(errors: ScoreErrors) -> Floats:
    """Return what single judgements contribute, units × models; another order of magnitude is cut down.

    A model whose judgements spread a hundred times as far as the middle one's (a slip of the pen, another
    scale) tells nothing of what the others' may be like.
    """
    single = errors.shape * errors.counts
    spread = np.sqrt((single**2).sum(axis=0) / np.maximum(errors.counts, 1.0))
    varied = np.sort(spread[spread > 0])
    limit = _MOST_SPREAD * varied[(len(varied) - 1) // 2] if len(varied) else 0.0
    return single * np.where(spread > limit, limit / np.where(spread > 0, spread, 1.0), 1.0)


def own_skewness(shape: Floats) -> Floats:
    """Return the skewness of the sum of every column, Σc³/(Σc²)^{3/2}: γ/√n; 0 where nothing varies."""
    second, third = (shape**2).sum(axis=0), (shape**3).sum(axis=0)
    return np.asarray(np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0))


def _kurtosis(fourth: float, second: float) -> float:
    return fourth / second**2 if second > 0 else NORMAL


@dataclass(frozen=True, eq=False)
class Reach:
    """What the ends of intervals are made of, for scores or for differences.

    ``skew`` is γ/√n of each number's own contributions, ``counts`` the number n of units behind it, and
    ``tails`` what judgements are like over all models.
    """

    errors: Floats
    skew: Floats
    counts: Floats
    freedom: Floats | float
    tails: Tails

    def side_errors(self) -> tuple[Floats, Floats]:
        """Return the standard errors towards the low and the high side, √(V + κ·m_side/n²)."""
        # The contributions behind the tails carry √(1 − π) already.
        unseen = self.tails.unseen / np.maximum(self.counts, 1.0) ** 2
        low, high = (np.sqrt(self.errors**2 + unseen * part) for part in (self.tails.low, self.tails.high))
        return low, high

    def halves(self, level: float, *, one_sided: bool = False) -> tuple[Floats, Floats]:
        """Return how far the low and the high end lie from the estimate."""
        quantile = student_quantile(self.freedom, level if one_sided else 0.5 + level / 2.0)
        low, high = self.side_errors()
        usual = self._usual_quantile
        # Beyond the usual level the expansion is not trusted: both ends grow in proportion from there.
        beyond, inner = np.maximum(quantile / usual, 1.0), np.minimum(quantile, usual)
        return (
            beyond * (inner + self._shift(inner, 1.0)) * low,
            beyond * (inner + self._shift(inner, -1.0)) * high,
        )

    def p_values(self, centre: Floats) -> Floats:
        """Return two-sided p-values of a difference of 0: 1 less the level whose interval just reaches it.

        The interval's end towards 0 lies at (q + w·max(0, A + B(q² − 1)))·se, which grows with q (in
        proportion beyond the level of 95 %): the root of the quadratic is the quantile at which it meets 0,
        and 2·P(t > q) the p-value. NaN without an error.
        """
        from scipy.special import ndtr, stdtr

        finite = np.isfinite(self.freedom)
        low, high = self.side_errors()
        error = np.where(centre > 0, low, high)
        ratio = np.divide(np.abs(centre), error, out=np.full(len(centre), np.nan), where=error > 0)
        # For a positive difference the low end decides.
        side = np.where(centre > 0, 1.0, -1.0)
        usual = self._usual_quantile
        moved = np.where(centre > 0, self._shift(usual, 1.0), self._shift(usual, -1.0))
        quantile = np.where(
            ratio > usual + moved, ratio * usual / (usual + moved), self._quantile_reaching(ratio, side)
        )
        tail = np.where(finite, stdtr(np.where(finite, self.freedom, 1.0), -quantile), ndtr(-quantile))
        return np.asarray(np.minimum(2.0 * tail, 1.0))

    @property
    def _usual_quantile(self) -> Floats:
        """The quantile of the usual level, 95 % on both sides."""
        return student_quantile(self.freedom, 0.975)

    def _shifts(self) -> list[tuple[Floats, Floats]]:
        """Return A and B of the shift w·(A + B(q² − 1)) by the own skewness and by that of all models."""
        unsampled, fraction = self.tails.unsampled, 1.0 - self.tails.unsampled
        counts = np.maximum(self.counts, 1.0)
        # The skewness of a normal sample has a standard error of √(6/n), so that of its sum has √6/n.
        beyond = np.maximum(np.abs(self.skew) - self.tails.chance * math.sqrt(6.0) / counts, 0.0)
        shifts = []
        for skew in (np.sign(self.skew) * beyond, self.tails.skew / np.sqrt(counts)):
            joint = skew * math.sqrt(unsampled)
            third = skew * (1.0 - 2.0 * fraction) / math.sqrt(unsampled) - 3.0 * joint
            shifts.append((-joint / 2.0 * self.tails.weight, third / 6.0 * self.tails.weight))
        return shifts

    def _shift(self, quantile: Floats, side: float) -> Floats:
        """Return by how much the quantile is moved outwards at the low (1) or the high (−1) end."""
        moved = [side * (first + second * (quantile**2 - 1.0)) for first, second in self._shifts()]
        return np.maximum(np.maximum(moved[0], moved[1]), 0.0)

    def _quantile_reaching(self, ratio: Floats, side: Floats) -> Floats:
        """Return the quantile at which the moved one equals a ratio: the least over the possible shifts."""
        quantile = ratio
        for first, second in self._shifts():
            start, bend = side * (first - second), np.where(side * second > 1e-12, side * second, np.nan)
            root = (np.sqrt(np.maximum(1.0 + 4.0 * bend * (ratio - start), 0.0)) - 1.0) / (2.0 * bend)
            quantile = np.fmin(quantile, np.maximum(root, 0.0))
        return np.where(np.isnan(ratio), np.nan, quantile)


def student_quantile(freedom: Floats | float, tail: float) -> Floats:
    """Return the quantile of Student's distribution, the normal one's for infinite degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    finite = np.isfinite(freedom)
    return np.where(finite, stdtrit(np.where(finite, freedom, 1.0), tail), ndtri(tail))
