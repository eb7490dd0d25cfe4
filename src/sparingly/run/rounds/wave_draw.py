"""How large a wave is, by which chances it is drawn, and the draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draw.local_pivotal import draw_local_pivotal
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.space import metric_points, principal
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance as importance_of
from sparingly.infer.estimate.intervals import LEAST
from sparingly.run.rounds.learned import Goal, Sizes, learn, learn_sizes
from sparingly.run.rounds.state import State
from sparingly.run.rounds.wave import Wave, combine

CONDITIONAL = "chances are those of this wave, among what no earlier wave asked for."
_DIMENSIONS = 5


class InWaves(Protocol):
    """A strategy that draws in waves."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def waves(self) -> int:
        """The number of waves."""

    @property
    def pilot(self) -> float:
        """The share of the budget that is drawn uniformly first."""

    @property
    def tau(self) -> float | None:
        """The share of chances that goes by size; None to find it."""

    @property
    def regressor(self) -> str | None:
        """What learns; None for nothing."""


def check_waves(method: InWaves, budget: Budget) -> None:
    """Complain about shares that are none, and about a budget that does not count items."""
    if not 0.0 < method.pilot <= 1.0:
        raise UsageError(f"The pilot is a share of the budget above 0, such as 0.3, not {method.pilot:g}.")
    if method.tau is not None and not 0.0 <= method.tau < 1.0:
        raise UsageError(f"tau is a share from 0 (equal chances) to below 1, not {method.tau:g}.")
    if budget.kind == "cost":
        raise UsageError(f"The strategy {method.name} counts items: give a number or a share, not a cost.")


def frame_fields(data: EvalSet) -> frozenset[str]:
    """Return the columns that say what scores are about: weights and documents."""
    return frozenset(fields.column(name) for name in (fields.DOCUMENT, fields.WEIGHT) if name in data.columns)


def pilot_size(method: InWaves, state: State) -> int:
    """Return the number of items of the pilot: ten at least, where the budget has them, for an interval."""
    items = state.limit // len(state.data.models)
    return max(1, round(method.pilot * state.limit / len(state.data.models)), min(LEAST, items))


def in_pilot(method: InWaves, state: State) -> bool:
    """Say whether the pilot is not yet complete."""
    return bool(state.asked.any(axis=1).sum() < pilot_size(method, state)) or method.waves == 1


def wave_size(method: InWaves, state: State) -> int:
    """Return how many items the next wave takes: the pilot, or an equal part of the rest."""
    if state.size is not None:
        return state.size
    total = state.limit // len(state.data.models)
    if method.waves == 1:
        return total
    if not state.rounds:
        return pilot_size(method, state)
    left = total - int(state.asked.any(axis=1).sum())
    return max(1, -(-left // max(method.waves - len(state.rounds), 1)))


def draw_wave(how: str, state: State, rows: Ints, chances: Floats, part: int | None = None) -> Mask:
    """Draw some of the rows, each with its chance, as many as the chances add up to."""
    keys = (str(state.number), *(() if part is None else (str(part),)))
    generator = rng.generator(state.seed, "wave", *keys)
    if how == "pivotal":
        return draw_pivotal(chances, generator)
    points = principal(metric_points(state.data, tuple(state.data.metrics)), _DIMENSIONS)
    return draw_local_pivotal(chances, points[rows], generator)


def sizes_of(method: InWaves, state: State, history: Sequence[Wave], models: Mask, goal: Goal) -> Sizes:
    """Return what all labels so far say of the sizes of residuals."""
    learned = learn(state.data, state.labels, method.regressor, state.seed)
    stands = combine(history, state.labels, importance_of(state.data)).stands_for
    of_item = np.where(models[None, :], stands, 0.0).sum(axis=1) / max(int(models.sum()), 1)
    return learn_sizes(
        state.data,
        learned,
        of_item,
        regressor=method.regressor,
        goal=goal,
        tau=method.tau,
        models=models,
        seed=state.seed,
    )
