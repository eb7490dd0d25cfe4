"""The loop of both fits: items at given abilities, then abilities with the items following."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Generic, Protocol, TypeVar

from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared, SharedObjective, Sums

State = TypeVar("State")


class Items(Protocol[State]):
    """How the items of a fit are represented, and how they move at given abilities."""

    def improve(
        self, responses: Responses, state: State, shared: Shared, steps: int, enough: float
    ) -> tuple[State, Sums]:
        """Move a block of items a few steps, none to a worse place, and sum them up."""


@dataclass(frozen=True)
class Climb(Generic[State]):
    """Where a fit stands.

    Attributes:
        states: The items, block by block.
        shared: The abilities and the noise.
        sums: What was summed over the items at the shared parameters, priors included.
        rounds: How many rounds it took to get there.
    """

    states: list[State]
    shared: Shared
    sums: Sums
    rounds: int


@dataclass(frozen=True)
class Patience:
    """When to stop.

    Attributes:
        rounds: At most so many steps of the shared parameters.
        steps: Steps of the items in a round.
        enough: The items rest until the next round when none moves further, in prior standard deviations.
        gain: Stop when a round gains less than this per item.
    """

    rounds: int
    steps: int
    enough: float
    gain: float


def climb(
    items: Items[State],
    blocks: list[Responses],
    states: list[State],
    shared: Shared,
    objective: SharedObjective,
    patience: Patience,
) -> Climb[State]:
    """Improve items and shared parameters in turn until a round gains next to nothing."""
    states, sums = _sweep(items, blocks, states, shared, objective, patience)
    little = patience.gain * sum(block.shape[1] for block in blocks)
    damping, rounds = 0.0, 0
    while rounds < patience.rounds:
        rounds += 1
        trial = objective.moved(shared, sums, damping)
        tried, found = _sweep(items, blocks, states, trial, objective, patience)
        gain = sums.objective - found.objective
        if gain >= -1e-10 * abs(sums.objective):
            states, shared, sums = tried, trial, found
            # A step that was held back gains little wherever it is taken.
            if gain < little and damping == 0.0:
                break
            damping = 0.0 if damping < 0.05 else 0.3 * damping
        else:
            damping = 10.0 * max(damping, 1e-2)
            if damping > 1e6:
                break
    return Climb(states, shared, sums, rounds)


def _sweep(
    items: Items[State],
    blocks: list[Responses],
    states: list[State],
    shared: Shared,
    objective: SharedObjective,
    patience: Patience,
) -> tuple[list[State], Sums]:
    moved = [
        items.improve(block, state, shared, patience.steps, patience.enough)
        for block, state in zip(blocks, states, strict=True)
    ]
    sums = reduce(add, (sums for _, sums in moved))
    return [state for state, _ in moved], objective.with_priors(sums, shared)
