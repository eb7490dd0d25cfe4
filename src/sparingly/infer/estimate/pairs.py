"""What differences of models need: their joint errors, intervals and p-values of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.stats.discordant import discordant_interval, discordant_p, effective_votes
from sparingly.infer.estimate.intervals import (
    DISCORDANT,
    BoundedInterval,
    Interval,
    IntervalBasis,
    IntervalSet,
    Tails,
    find_intervals,
    pair_tails,
    score_tails,
    unsupported,
)
from sparingly.infer.estimate.sample import JudgedSample
from sparingly.infer.estimate.variance import ScoreErrors

# Wins, losses, of how many items, and how many of these there are.
Votes = tuple[Floats, Floats, Floats | float, float]
# Differences unit by unit that are held at once while p-values of many pairs are found.
_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class PairErrors:
    """The joint errors of the models, and how intervals of differences are made.

    ``errors`` are those for the target, ``over_set`` those over this set, whatever the target. ``complete``
    says whether everything was judged, so that there is no error; ``two_valued`` whether every score is an
    end of the ``scale``. ``bounded`` returns intervals of pairs by the scale alone; None where there are
    none. ``plain_size`` is the number of items that plain means of single items describe, all models
    judged on the same ones (infinite for inputs like these); None where scores are anything else. ``items``
    is the same number for any scores of one draw.
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
    plain_size: float | None = None
    items: float | None = None

    def intervals(
        self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]
    ) -> tuple[Floats, IntervalSet]:
        """Return the standard errors of differences, and intervals around them."""
        basis = self._basis(first, second, centre, names)
        bounded = None if self.bounded is None else self.bounded(first, second)
        return basis.errors, find_intervals(basis, self.level, self.interval, self.seed, bounded)

    def p_values(self, first: Ints, second: Ints, centre: Floats) -> Floats:
        """Return the two-sided p-value of every difference: 1 less the level whose interval just reaches 0.

        1 where there is no error to go by. Over this set, 0 for any difference of two fully judged models.
        """
        at_once = max(_CELLS // max(len(self.errors.shape), 1), 1)
        parts = [slice(start, start + at_once) for start in range(0, len(centre), at_once)]
        p_values = [self._p_values(first[part], second[part], centre[part]) for part in parts]
        return np.concatenate([np.zeros(0), *p_values])

    def _p_values(self, first: Ints, second: Ints, centre: Floats) -> Floats:
        certain = np.where(centre == 0, 1.0, 0.0) + 0.0 * centre
        if self.complete:
            return certain
        if (counts := self._votes(first, second, centre)) is not None:
            p_values = discordant_p(*counts)
            return np.where(self.exact[first] & self.exact[second], certain, p_values)
        basis = self._basis(first, second, centre, [""] * len(centre))
        p_values = basis.reach.p_values(centre)
        # Where the side towards 0 is not supported, nothing is decided.
        low, high = unsupported(basis, np.isfinite(p_values))
        p_values = np.where((low & (centre > 0)) | (high & (centre < 0)), 1.0, p_values)
        p_values = np.where(np.isnan(p_values) & ~np.isnan(centre) & ~np.isnan(basis.errors), 1.0, p_values)
        return np.where(self.exact[first] & self.exact[second], certain, p_values)

    def discordant(self, first: Ints, second: Ints, centre: Floats) -> Votes | None:
        """Return on how many items just the first and just the second passes, of how many, and of what size.

        Passes and fails on the same items are compared by these alone (McNemar), whatever their number. None
        where scores have more than two values, or are no plain means: with predictions, weights, documents.
        """
        if not self.two_valued or self.scale is None or self.plain_size is None:
            return None
        wins, losses = self._wins[first, second], self._wins[second, first]
        items, reach = len(self.sample.rows), self.scale[1] - self.scale[0]
        if not np.allclose(centre / reach, (wins - losses) / items, rtol=0.0, atol=1e-9):
            return None
        return wins, losses, float(items), self.plain_size

    def _votes(self, first: Ints, second: Ints, centre: Floats) -> Votes | None:
        """Return what ``discordant`` does, for passes and fails with predictions, weights or documents, too.

        There as many labels count as would give the same error. None where models were judged on different
        items.
        """
        plain, sample = self.discordant(first, second, centre), self.sample
        if plain is not None or not self.two_valued or self.scale is None or self.items is None:
            return plain
        same_share = np.ptp(sample.share, axis=1).max(initial=0.0) <= 1e-9
        if self.complete or sample.separate or not sample.judged.all() or not same_share:
            return None
        reach, weight = self.scale[1] - self.scale[0], sample.share[:, 0]
        shares = (self._passed.T * weight) @ (1.0 - self._passed) / weight.sum()
        decided = self._wins[first, second] + self._wins[second, first]
        # Labels that are all alike tell no design effect: then units count, not the labels in them.
        units = np.minimum(self.errors.counts[first], self.errors.counts[second])
        labels = np.where(decided > 0, len(sample.rows), np.clip(units, 1.0, len(sample.rows)))
        wins, losses, labels = effective_votes(
            centre / reach,
            self.errors.of_pairs(first, second)[0] / reach,
            (shares[first, second], shares[second, first]),
            decided,
            labels,
            self.items,
            freedom=self.errors.freedom,
        )
        return wins, losses, labels, np.inf

    @cached_property
    def _passed(self) -> Floats:
        """1 where a model passes an item, 0 where it does not."""
        scores = self.sample.scores
        return (scores > scores.min(initial=np.inf)).astype(np.float64) if np.ptp(scores) > 0 else 0 * scores

    @cached_property
    def _wins(self) -> Floats:
        """On how many items the model of the row passes and that of the column does not."""
        return np.asarray(self._passed.T @ (1.0 - self._passed))

    @cached_property
    def exact(self) -> Mask:
        """Which scores are known without error: over this set, those of fully judged models."""
        return np.asarray(self.sample.fully_judged & (self.errors.fraction > 0))

    @cached_property
    def units(self) -> Floats:
        """The number of units that the error of every score is learned from; all items for an exact one."""
        deepest = max(float(self.errors.counts.max(initial=0.0)), 1.0)
        depth = np.maximum(self.errors.units * self.errors.counts / deepest, 1.0)
        return np.where(self.exact, float(self.sample.size), depth)

    def least_differences(self, first: Ints, second: Ints, level: float) -> tuple[Floats, Floats]:
        """Return the smallest differences for the first and for the second model with p ≤ 1 − level.

        The inverse of ``p_values``; infinite where no difference would be decided.
        """
        basis = self._basis(first, second, np.zeros(len(first)), [""] * len(first))
        varies = basis.errors > 0
        ends = zip(basis.reach.halves(level), unsupported(basis, varies), strict=True)
        below, above = (np.where(varies & ~doubtful, half, np.inf) for half, doubtful in ends)
        return below, above

    @cached_property
    def tails(self) -> Tails:
        """The tails of single differences over all pairs."""
        reach = 0.0 if self.scale is None or not self.two_valued else self.scale[1] - self.scale[0]
        return pair_tails(self.errors, DISCORDANT * reach**2)

    def _basis(self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]) -> IntervalBasis:
        standard_errors, shape = self.errors.of_pairs(first, second)
        depth = np.where(self.exact, np.inf, self.errors.counts)
        freedom = np.where(self.exact, self.errors.freedom, self.errors.freedoms)
        reach = None if self.scale is None else self.scale[1] - self.scale[0]
        proportions = None
        if (counts := self._votes(first, second, centre)) is not None and reach is not None:
            wins, losses, items, size = counts

            def proportions(level: float) -> tuple[Floats, Floats]:
                low, high = discordant_interval(wins, losses, items, size, level)
                return reach * low, reach * high

        return replace(
            interval_basis(names, centre, self.errors, self.complete),
            errors=standard_errors,
            shape=shape,
            counts=np.minimum(depth[first], depth[second]),
            freedom=np.minimum(freedom[first], freedom[second]),
            tails=self.tails,
            scale=None if reach is None else (-reach, reach),
            supported=self.two_valued,
            proportions=proportions,
            exact=self.exact[first] & self.exact[second],
        )

    def common_items(self, first: Ints, second: Ints) -> Ints:
        """Return the number of items that count and on which both models of every pair were judged."""
        judged = (self.sample.judged & (self.sample.importance > 0)[:, None]).astype(np.int64)
        return np.asarray((judged.T @ judged)[first, second])

    def deviations(self, first: Ints, second: Ints) -> Floats:
        """Return the standard deviation over items of every pair's differences, estimated for the whole set.

        Over the items on which both were judged, weighted by what they stand for; NaN without two of them.
        """
        sample, deviations = self.sample, np.full(len(first), np.nan)
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            common = sample.judged[:, one] & sample.judged[:, other] & (sample.importance > 0)
            count = int(common.sum())
            if count < 2:
                continue
            weight = np.sqrt(sample.share[common, one] * sample.share[common, other])
            values = sample.scores[common, one] - sample.scores[common, other]
            deviation = values - float(weight @ values / weight.sum())
            # An item's importance counts twice in the variance of a weighted mean.
            squared = (weight * sample.importance[common]) @ deviation**2
            deviations[place] = np.sqrt(squared / weight.sum() * count / (count - 1.0))
        return deviations


def interval_basis(
    names: Sequence[str], centre: Floats, errors: ScoreErrors, complete: bool
) -> IntervalBasis:
    """Return what intervals of scores are made of."""
    return IntervalBasis(
        names=names,
        centre=centre,
        errors=errors.standard_errors,
        shape=errors.shape,
        counts=errors.counts,
        tails=score_tails(errors),
        stratum=errors.stratum,
        units=errors.units,
        freedom=errors.freedoms,
        complete=complete,
        unit_name=errors.unit_name,
    )
