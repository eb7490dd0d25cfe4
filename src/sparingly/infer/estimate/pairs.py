"""What differences of models need: their joint errors, and intervals of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.infer.estimate.intervals import Bounded, Interval, Intervals, Spread, find_intervals
from sparingly.infer.estimate.sample import Floats, Rows, Sample
from sparingly.infer.estimate.variance import Errors


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
        whole: Whether nothing is left to chance.
        bounded: Returns intervals of pairs that assume only the scale; None where there are none.
    """

    sample: Sample
    errors: Errors
    over_set: Errors
    level: float
    interval: Interval
    seed: int
    whole: bool
    bounded: Callable[[Rows, Rows], Bounded] | None

    def intervals(
        self, first: Rows, second: Rows, centre: Floats, names: Sequence[str]
    ) -> tuple[Floats, Intervals]:
        """Return the standard errors of differences, and intervals around them."""
        wrong, shape = self.errors.of_pairs(first, second)
        spread = spread_of(names, centre, wrong, shape, self.errors, self.whole)
        bounded = None if self.bounded is None else self.bounded(first, second)
        return wrong, find_intervals(spread, self.level, self.interval, self.seed, bounded)

    def common(self, first: Rows, second: Rows) -> Rows:
        """Return the number of items that count and on which both models of every pair were judged."""
        there = (self.sample.judged & (self.sample.importance > 0)[:, None]).astype(np.int64)
        return np.asarray((there.T @ there)[first, second])

    def deviations(self, first: Rows, second: Rows) -> Floats:
        """Return the standard deviation over items of every pair's differences, estimated for the whole set.

        Over the items on which both were judged, weighted by what they stand for; NaN without two of them.
        """
        return np.array(
            [_deviation(self.sample, one, other) for one, other in zip(first, second, strict=True)]
        )


def spread_of(
    names: Sequence[str], centre: Floats, wrong: Floats, shape: Floats, errors: Errors, whole: bool
) -> Spread:
    """Return what intervals of scores or differences are made of."""
    return Spread(
        names, centre, wrong, shape, errors.stratum, errors.units, errors.freedom, whole, errors.drawn
    )


def _deviation(sample: Sample, first: int, second: int) -> float:
    both = sample.judged[:, first] & sample.judged[:, second] & (sample.importance > 0)
    count = int(both.sum())
    if count < 2:
        return float("nan")
    weight = np.sqrt(sample.share[both, first] * sample.share[both, second])
    values = sample.scores[both, first] - sample.scores[both, second]
    away = values - float(weight @ values / weight.sum())
    # An item's importance counts twice in the variance of a weighted mean.
    matter = weight * sample.importance[both]
    return float(np.sqrt(matter @ away**2 / weight.sum() * count / (count - 1.0)))
