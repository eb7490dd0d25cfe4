"""When a comparison of two models stops: the paper's heuristic, and two tests whose error rates hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.run.rounds.stop.spending import anytime, group_sequential

Test = Literal["group", "anytime"]

# At least so many labels, at most so many, and as many between the looks of the group-sequential test.
LEAST, MOST, STEP = 5, 200, 20
RISKS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)


@dataclass(frozen=True, eq=False)
class Voters:
    """Which items have a vote after every step: they come, and may leave again.

    Attributes:
        step: When an item comes or leaves.
        item: The item.
        sign: 1 where it comes, −1 where it leaves.
        steps: The number of steps.
    """

    step: Ints
    item: Ints
    sign: Floats
    steps: int

    @classmethod
    def of(cls, changes: Iterable[tuple[int | None, tuple[int, ...]]]) -> Voters:
        """Return the votes of steps that drop an item, or none, and ask for others."""
        rows = [
            (step, item, sign)
            for step, (dropped, asked) in enumerate(changes)
            for item, sign in [
                *((one, 1.0) for one in asked),
                *([] if dropped is None else [(dropped, -1.0)]),
            ]
        ]
        step, item, sign = (np.array(part) for part in zip(*rows, strict=True))
        return cls(step.astype(np.int64), item.astype(np.int64), sign, int(step[-1]) + 1)

    def running(self, values: Floats | NDArray[np.bool_]) -> Floats:
        """Return the sum of a value per item over those who have a vote, after every step."""
        return np.cumsum(np.bincount(self.step, self.sign * values[self.item], self.steps))

    @property
    def spent(self) -> Floats:
        """How many labels were asked for up to every step, those that left included."""
        return np.cumsum(np.bincount(self.step, self.sign > 0.0, self.steps))


def by_lead(size: int, spent: Floats, judged: Floats, wins: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Return labels and answer of the hypergeometric stop at every risk (App. A.3); 0 is no answer."""
    leading = np.round(np.maximum(wins, losses)).astype(np.int64)
    chance = np.where(wins == losses, 1.0, _leads(size)[np.round(judged).astype(np.int64), leading])
    labels, sign = np.empty(len(RISKS)), np.zeros(len(RISKS))
    for place, risk in enumerate(RISKS):
        where = np.flatnonzero(chance <= risk)
        at = int(where[0]) if len(where) else len(chance) - 1
        labels[place] = spent[at]
        if len(where):
            sign[place] = np.sign(wins[at] - losses[at])
    return labels, sign


def by_test(size: int, ahead: Floats, kind: Test) -> tuple[Floats, Floats]:
    """Return labels and answer of a valid test of the mean preference, at every error rate."""
    most = len(ahead)
    counts = _counts(most, kind)
    total = np.cumsum(ahead)[counts - 1]
    # A vote for each side on top, so that a run of equal answers is not taken for certainty.
    square = (np.cumsum(ahead**2)[counts - 1] + 2.0) / (counts + 2.0)
    variance = (square - (total / (counts + 2.0)) ** 2) / counts * np.maximum(1.0 - counts / size, 1e-9)
    statistic = total / counts / np.sqrt(variance)
    labels, sign = np.full(len(RISKS), float(most)), np.zeros(len(RISKS))
    for place, risk in enumerate(RISKS):
        crossed = np.flatnonzero(np.abs(statistic) >= _criticals(size, most, kind, risk))
        if len(crossed):
            labels[place], sign[place] = counts[crossed[0]], np.sign(statistic[crossed[0]])
    return labels, sign


def _counts(most: int, kind: Test) -> Ints:
    if kind == "group":
        return np.unique(np.append(np.arange(STEP, most + 1, STEP), most))
    return np.arange(min(LEAST, most), most + 1)


@lru_cache(maxsize=4)
def _leads(size: int) -> Floats:
    count, votes = np.meshgrid(np.arange(MOST + 2), np.arange(MOST + 2), indexing="ij")
    return chance_of_lead(size, np.minimum(count, size), votes)


@lru_cache(maxsize=256)
def _criticals(size: int, most: int, kind: Test, risk: float) -> Floats:
    counts = _counts(most, kind)
    known = [1.0 / (1.0 / count - 1.0 / (size + 1)) for count in counts.tolist()]
    if kind == "anytime":
        return np.array([anytime(one / known[-1], risk) for one in known])
    clock = tuple(count / most for count in counts.tolist())
    return np.array(
        [group_sequential(clock[: at + 1], tuple(known[: at + 1]), risk) for at in range(len(clock))]
    )
