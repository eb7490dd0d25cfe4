"""The waves that a state's rounds were, each with what the earlier ones had taught."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.data.selection import Selection
from sparingly.run.rounds.learned import item_effects, learn
from sparingly.run.rounds.state import State, asked_cells
from sparingly.run.rounds.wave import Wave


def waves_of(state: State, regressor: str | None, *, with_items: bool = False) -> list[Wave]:
    """Return the waves of a state's rounds with what the labels before each had taught.

    The first one is predicted by its own other folds. ``with_items`` adds what other models' labels say of an
    item, for rounds that do not judge all models.
    """
    found: list[Wave] = []
    before: Mask = np.zeros(state.data.shape, bool)
    for number, one in enumerate(state.rounds):
        drawn = asked_cells(state.data, [one])
        known = drawn if number == 0 else before
        learned = learn(state.data, np.where(known, state.labels, np.nan), regressor, state.seed)
        predicted = learned.predicted
        if with_items and number:
            predicted = predicted + item_effects(learned.residual)[:, None]
        found.append(Wave(before, drawn, cell_chances(state, one), predicted))
        before = before | drawn
    return found


def cell_chances(state: State, selection: Selection) -> Floats:
    """Return items × models: the chance of everything that a round asks for, 1 elsewhere."""
    chances = np.ones(state.data.shape)
    if selection.probability is None:
        raise UsageError("A round without chances is no wave: scores cannot be estimated from it.")
    rows = state.data.positions(selection.items)
    if selection.models is None:
        chances[rows] = selection.probability[:, None]
        return chances
    column = {name: place for place, name in enumerate(state.data.models)}
    for row, names, chance in zip(rows, selection.models, selection.probability, strict=True):
        known = [column[name] for name in names or state.data.models if name in column]
        chances[row, known] = chance
    return chances
