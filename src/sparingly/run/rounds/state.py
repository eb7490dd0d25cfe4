"""What a strategy knows when it picks the next round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection


@dataclass(frozen=True)
class Finished:
    """A strategy has nothing more to ask.

    Attributes:
        reason: Why, in one sentence.
        answer: What it found, where the strategy gives an answer by itself (a model, ``tie``,
            ``inconclusive``); None otherwise.
    """

    reason: str
    answer: str | None = None


@dataclass(frozen=True, eq=False)
class State:
    """The rounds so far and the judgements that came back.

    Attributes:
        data: The evaluation set. Its labels are those that were asked for and came in: NaN elsewhere.
        aspect: What people judge: an aspect, or a combination of aspects.
        rounds: The earlier rounds, in order.
        budget: What may be spent over all rounds.
        size: How many items a round asks for; None leaves it to the strategy.
        seed: Settles ties and draws.
        withdrawn: Models that nobody is asked about any more; what was said of them stays.
    """

    data: EvalSet
    aspect: str
    rounds: tuple[Selection, ...]
    budget: Budget
    size: int | None = None
    seed: int = 0
    withdrawn: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """The number of the next round, from 1."""
        return len(self.rounds) + 1

    @cached_property
    def labels(self) -> Floats:
        """The judgements that came in: items × models, NaN where there is none."""
        return self.data.truth(self.aspect)

    @cached_property
    def asked(self) -> Mask:
        """What was asked for (items × models), whether or not it came in."""
        return asked_cells(self.data, self.rounds)

    @property
    def spent(self) -> int:
        """How many outputs (cells) were asked for."""
        return int(self.asked.sum())

    @property
    def limit(self) -> int:
        """How many outputs the budget allows: an item counts once when all models are judged on it."""
        return self.budget.count_of(len(self.data)) * len(self.data.models)

    @property
    def left(self) -> int:
        """How many outputs may still be asked for."""
        return self.limit - self.spent


def asked_cells(data: EvalSet, rounds: Iterable[Selection]) -> Mask:
    """Return items × models: what some selections ask for; a pair asks for both of its models."""
    asked: Mask = np.zeros(data.shape, bool)
    column = {name: place for place, name in enumerate(data.models)}
    for one in rounds:
        rows = data.positions(one.items)
        named = one.models if one.pairs is None else one.pairs
        if named is None:
            asked[rows] = True
            continue
        for row, names in zip(rows, named, strict=True):
            asked[
                row, [column[name] for name in (data.models if names is None else names) if name in column]
            ] = True
    return asked
