"""What differences of models need: their joint errors, intervals and p-values of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.infer.estimate.intervals import (
    BoundedInterval,
    Interval,
    IntervalBasis,
    IntervalSet,
    find_intervals,
    unsupported,
)
from sparingly.infer.estimate.sample import JudgedSample
from sparingly.infer.estimate.tails import DISCORDANT, Tails, pair_tails, score_tails
from sparingly.infer.estimate.variance import ScoreErrors

# Differences unit by unit that are held at once while p-values of many pairs are found.
_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class PairErrors:
    """The joint errors of the models, and how intervals are to be made.

    Attributes:
        sample: What was judged.
        errors: The joint errors for the target.
        over_set: The joint errors over this very set, whatever the target.
        level: The level of intervals.
        interval: Their kind.
        seed: The seed of the bootstrap.
        complete: Whether nothing is left to chance.
        bounded: Returns intervals of pairs that assume only the scale; None where there are none.
        scale: The lowest and the highest score that there can be; None where it is not known.
        two_valued: Whether there are only two scores, the ends of the scale.
    """

    sample: JudgedSample
    errors: ScoreErrors
    over_set: ScoreErrors
    level: float
    interval: Interval
    seed: int
    complete: bool
    bounded: Callable[[Ints, Ints], BoundedInterval] | None
    scale: tuple[float, float] | None = None
    two_valued: bool = False

    def intervals(
        self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]
    ) -> tuple[Floats, IntervalSet]:
        """Return the standard errors of differences, and intervals around them."""
        spread = self._spread(first, second, centre, names)
        bounded = None if self.bounded is None else self.bounded(first, second)
        return spread.errors, find_intervals(spread, self.level, self.interval, self.seed, bounded)

    def p_values(self, first: Ints, second: Ints, centre: Floats) -> Floats:
        """Return the two-sided p-value of every difference: 1 less the level whose interval just reaches 0.

        1 where there is no error to go by; of two models that are judged on everything, 0 for any difference
        at all over this set.
        """
        at_once = max(_CELLS // max(len(self.errors.shape), 1), 1)
        parts = [slice(start, start + at_once) for start in range(0, len(centre), at_once)]
        found = [self._p_values(first[part], second[part], centre[part]) for part in parts]
        return np.concatenate([np.zeros(0), *found])

    def _p_values(self, first: Ints, second: Ints, centre: Floats) -> Floats:
        certain = np.where(centre == 0, 1.0, 0.0) + 0.0 * centre
        if self.complete:
            return certain
        spread = self._spread(first, second, centre, [""] * len(centre))
        p_values = spread.reach.p_values(centre)
        # Where the side towards 0 is not supported, nothing is decided.
        low, high = unsupported(spread, np.isfinite(p_values))
        p_values = np.where((low & (centre > 0)) | (high & (centre < 0)), 1.0, p_values)
        p_values = np.where(np.isnan(p_values) & ~np.isnan(centre) & ~np.isnan(spread.errors), 1.0, p_values)
        return np.where(self.exact[first] & self.exact[second], certain, p_values)

    @cached_property
    def exact(self) -> Mask:
        """Which scores are known without error: over this set, those of models judged on everything."""
        return np.asarray(self.sample.fully_judged & (self.errors.fraction > 0))

    @cached_property
    def units(self) -> Floats:
        """How many units the error of every score is learned from; all items for one that is exact."""
        deepest = max(float(self.errors.counts.max(initial=0.0)), 1.0)
        depth = np.maximum(self.errors.units * self.errors.counts / deepest, 1.0)
        return np.where(self.exact, float(self.sample.size), depth)

    def least_differences(self, first: Ints, second: Ints, level: float) -> tuple[Floats, Floats]:
        """Return how large differences for the first and for the second model have to be for p ≤ 1 − level.

        The inverse of ``p_values``; infinite where no difference would be decided.
        """
        spread = self._spread(first, second, np.zeros(len(first)), [""] * len(first))
        varies = spread.errors > 0
        ends = zip(spread.reach.halves(level), unsupported(spread, varies), strict=True)
        below, above = (np.where(varies & ~doubtful, half, np.inf) for half, doubtful in ends)
        return below, above

    @cached_property
    def tails(self) -> Tails:
        """What single differences are like over all pairs."""
        reach = 0.0 if self.scale is None or not self.two_valued else self.scale[1] - self.scale[0]
        return pair_tails(self.errors, DISCORDANT * reach**2)

    def _spread(self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]) -> IntervalBasis:
        errors, shape = self.errors.of_pairs(first, second)
        spread = spread_of(names, centre, errors, shape, self.errors, self.complete)
        depth = np.where(self.exact, np.inf, self.errors.counts)
        counts = np.minimum(depth[first], depth[second])
        reach = None if self.scale is None else self.scale[1] - self.scale[0]
        scale = None if reach is None else (-reach, reach)
        exact = self.exact[first] & self.exact[second]
        return replace(
            spread, counts=counts, tails=self.tails, scale=scale, supported=self.two_valued, exact=exact
        )

    def common_items(self, first: Ints, second: Ints) -> Ints:
        """Return the number of items that count and on which both models of every pair were judged."""
        judged = (self.sample.judged & (self.sample.importance > 0)[:, None]).astype(np.int64)
        return np.asarray((judged.T @ judged)[first, second])

    def deviations(self, first: Ints, second: Ints) -> Floats:
        """Return the standard deviation over items of every pair's differences, estimated for the whole set.

        Over the items on which both were judged, weighted by what they stand for; NaN without two of them.
        """
        return np.array(
            [_deviation(self.sample, one, other) for one, other in zip(first, second, strict=True)]
        )


def spread_of(
    names: Sequence[str],
    centre: Floats,
    standard_errors: Floats,
    shape: Floats,
    errors: ScoreErrors,
    complete: bool,
) -> IntervalBasis:
    """Return what intervals of scores are made of."""
    return IntervalBasis(
        names=names,
        centre=centre,
        errors=standard_errors,
        shape=shape,
        counts=errors.counts,
        tails=score_tails(errors),
        stratum=errors.stratum,
        units=errors.units,
        freedom=errors.freedom,
        complete=complete,
        unit_name=errors.unit_name,
    )


def _deviation(sample: JudgedSample, first: int, second: int) -> float:
    common = sample.judged[:, first] & sample.judged[:, second] & (sample.importance > 0)
    count = int(common.sum())
    if count < 2:
        return float("nan")
    weight = np.sqrt(sample.share[common, first] * sample.share[common, second])
    values = sample.scores[common, first] - sample.scores[common, second]
    deviation = values - float(weight @ values / weight.sum())
    # An item's importance counts twice in the variance of a weighted mean.
    squared_weight = weight * sample.importance[common]
    return float(np.sqrt(squared_weight @ deviation**2 / weight.sum() * count / (count - 1.0)))
