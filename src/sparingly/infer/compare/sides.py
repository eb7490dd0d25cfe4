"""Whether people prefer what is shown first (on the left), whoever wrote it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparingly.base.stats.proportion import effective_proportion_interval
from sparingly.infer.compare.votes import VoteTable
from sparingly.infer.compare.wins import item_ratio, level_reaching

# Fewer decided comparisons tell nothing of a bias.
_FEWEST = 10


@dataclass(frozen=True)
class PositionBias:
    """How often the output shown first won, among what was decided, both orders of a pair counting alike.

    Where orders were drawn, a share beyond one half is the pull of the place and not that of a model. The
    orders also balance it out of win rates; a strong pull still costs precision: ask for both orders, or
    explain the task better.
    """

    rate: float
    low: float
    high: float
    p_value: float
    votes: int
    alpha: float

    def __str__(self) -> str:
        ends = f"[{math.floor(100 * self.low + 1e-9)}, {math.ceil(100 * self.high - 1e-9)}]"
        said = "no position bias shown"
        if self.p_value <= self.alpha:
            said = f"people prefer what is shown {'first' if self.rate > 0.5 else 'second'}"
        return f"The output shown first won {100 * self.rate:.0f} % of decided comparisons {ends}: {said}."


def position_bias(votes: VoteTable, alpha: float) -> PositionBias | None:
    """Return how often the output shown first won; None where that was not saved, or too little was decided."""
    known = votes.at((votes.shown != 0) & (votes.value != 0))
    if len(known) < _FEWEST:
        return None
    first_won = (known.value * known.shown > 0).astype(np.float64)
    pairs = np.unique(np.stack([known.first, known.second]), axis=1, return_inverse=True)[1].ravel()
    forward = np.bincount(pairs, known.shown > 0)[pairs]
    of_order = np.where(known.shown > 0, forward, np.bincount(pairs)[pairs] - forward)
    total = np.bincount(pairs)[pairs].astype(np.float64)
    # Both orders of a pair count alike; a pair that was shown in one order tells nothing.
    weight = np.where(of_order < total, total / (2.0 * of_order), 0.0)
    if (weight > 0).sum() < _FEWEST:
        return None
    code = np.unique(known.item, return_inverse=True)[1]
    ratio = item_ratio(np.bincount(code, weight * first_won), np.bincount(code, weight), math.inf)

    def ends_at(level: float) -> tuple[float, float]:
        low, high = effective_proportion_interval(
            ratio.value, ratio.error, float((weight > 0).sum()), level=level, freedom=ratio.freedom
        )
        return float(low), float(high)

    low, high = ends_at(1.0 - alpha)
    return PositionBias(ratio.value, low, high, 1.0 - level_reaching(ends_at, 0.5), len(known), alpha)
