"""What a selection makes of the metrics: their quarters, and the items that none of them points at.

A selection that follows metrics looks where metrics are low (or at odds). Bad outputs that every metric likes
are its blind spots: nobody looks there, so nobody learns of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.moments import row_means
from sparingly.data.describe.representation_shares import SCORES, Share, quarter_shares, shares
from sparingly.data.evalset import EvalSet

LOW = 0.25
FLAGS = ("no metric flags it", "some metric flags it")
SPOTS = ("low though no metric flags it", "low as some metric says", "not low")


@dataclass(frozen=True)
class MetricShares:
    """Shares by quarter of the items' means of a metric."""

    metric: str
    quarters: tuple[Share, ...]

    @property
    def shift(self) -> float:
        """How much of the selection lies in other quarters than in the set, from 0 to 1."""
        return sum(abs(share.selected_share - share.full_share) for share in self.quarters) / 2


@dataclass(frozen=True)
class BlindSpots:
    """How many of the items that people find bad no metric would have pointed at.

    Attributes:
        aspect: What people judged; low is the lowest quarter of the judged items' means.
        low: Judged items of the set that are low.
        missed: Those of them that no metric flags: the blind spots.
        selected_low: Selected items that are low.
        selected_missed: Those of them that no metric flags.
        groups: Shares of the judged items: low and not flagged, low and flagged, not low.
    """

    aspect: str
    low: int
    missed: int
    selected_low: int
    selected_missed: int
    groups: tuple[Share, ...]


def metric_shares(data: EvalSet, rows: Ints) -> tuple[MetricShares, ...]:
    """Return the shares by quarter of every metric that differs between items."""
    found = []
    for name, scores in data.metrics.items():
        means = row_means(scores)
        known = means[~np.isnan(means)]
        if known.size and known.min() < known.max():
            found.append(MetricShares(name, quarter_shares(means, rows, SCORES, digits=4)))
    return tuple(found)


def flag_shares(flags: Ints, rows: Ints) -> tuple[Share, ...]:
    """Return the shares of items that no metric flags and of those that some metric does."""
    return shares(flags, FLAGS, rows)


def flags_of(data: EvalSet, metrics: Iterable[str]) -> Ints:
    """Return 0 for items that none of the metrics flags, 1 for the others, -1 for items without a score.

    A metric flags the items whose mean over the models lies below its median over the items. One that is the
    same everywhere flags none.
    """
    known, flagged = np.zeros(len(data), bool), np.zeros(len(data), bool)
    for name in metrics:
        means = row_means(data.metrics[name])
        there = ~np.isnan(means)
        if there.any():
            known |= there
            flagged |= there & (means < np.median(means[there]))
    return np.where(known, flagged.astype(np.int64), -1)


def blind_spots(data: EvalSet, flags: Ints, rows: Ints) -> tuple[BlindSpots, ...]:
    """Return the blind spots of the metrics by every aspect, over the items that are judged."""
    found = []
    for aspect, scores in data.aspects.items():
        means = row_means(scores)
        there = ~np.isnan(means) & (flags >= 0)
        if there.any():
            low = _is_low(means, there)
            missed = low & (flags == 0)
            codes = np.where(there, np.where(low, flags, len(FLAGS)), -1)
            found.append(
                BlindSpots(
                    aspect=aspect,
                    low=int(low.sum()),
                    missed=int(missed.sum()),
                    selected_low=int(low[rows].sum()),
                    selected_missed=int(missed[rows].sum()),
                    groups=shares(codes, SPOTS, rows),
                )
            )
    return tuple(found)


def _is_low(means: Floats, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which means are in the lowest quarter; the best score is never low, however many items have it."""
    cut, best = np.quantile(means[there], LOW), means[there].max()
    return np.asarray(there & (means <= cut) & (means < best))
