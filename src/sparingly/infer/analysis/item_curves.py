"""Item response curves: what a model of some ability is expected to reach on an item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.infer.analysis.base import Analysis
from sparingly.infer.analysis.responses import FittedResponses, fitted_responses

COUNT = 6
_PLACES = 81
_MARGIN = 1.0


@dataclass(frozen=True)
class ItemCurve:
    """The curve of one item, and what was observed on it.

    Attributes:
        item: The item.
        discrimination: How steep the curve is (a).
        difficulty: The ability at which it is half way up (b).
        feasibility: How high it goes (c).
        utility: The utility by which the items were spread.
        expected: The response that is expected at every ability of the grid.
        observed: The response of every model; NaN where it has none.
    """

    item: str
    discrimination: float
    difficulty: float
    feasibility: float
    utility: float
    expected: tuple[float, ...]
    observed: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class ItemCurves(Analysis):
    """Curves of some items over abilities, with the models where they lie.

    Attributes:
        method: The method that was fitted.
        response: What a response is.
        items: The number of items of the set.
        grid: The abilities at which the curves are given.
        models: The models that have scores.
        abilities: Their abilities.
        curves: The curves, from the item with the highest utility to that with the lowest, unless named.
    """

    method: str
    response: str
    items: int
    grid: tuple[float, ...]
    models: tuple[str, ...]
    abilities: tuple[float, ...]
    curves: tuple[ItemCurve, ...]

    def __str__(self) -> str:
        """Return what there is in one line."""
        return f"{len(self.curves)} of {self.items} items by {self.method}, {len(self.models)} models"

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every item and ability of the grid."""
        rows = [
            (one.item, ability, value)
            for one in self.curves
            for ability, value in zip(self.grid, one.expected, strict=True)
        ]
        columns = zip(*rows, strict=True)
        return dict(zip(("item", "ability", "expected"), map(list, columns), strict=True))


def item_curves(
    data: EvalSet,
    method: str | Method = "irt",
    *,
    items: Sequence[str] | None = None,
    count: int = COUNT,
    seed: int = 0,
) -> ItemCurves:
    """Fit item response theory and return the curves r̂ = c σ(a (θ − b)) of some items.

    Curves are steep where items tell models apart (discrimination a), shifted to the right where they are
    hard (difficulty b), and end low where no model does well (feasibility c; Zouhar et al. 2025, eq. 8 and
    Fig. 2).
    Where the observed responses do not follow the curves, a choice by ``irt`` means little.

    Args:
        data: The evaluation set.
        method: The method ``irt`` with its parameters, such as ``irt:metric=COMET,response=binary``.
        items: The items to show; by default some that are spread evenly over the method's utility.
        count: How many those are.
        seed: Settles ties between equal utilities.

    Examples:
        >>> import sparingly
        >>> found = item_curves(sparingly.load_demo(), "irt:metric=learned", count=3)
        >>> [round(curve.difficulty, 1) for curve in found.curves]
        [1.4, -0.1, -1.1]
    """
    fitted = fitted_responses(data, method)
    utility = fitted.method.of_fit(fitted.fit)
    rows = _spread(utility, data, count, seed) if items is None else _named(data, fitted, items)
    known = np.flatnonzero(~np.isnan(fitted.fit.ability))
    abilities = fitted.fit.ability[known]
    grid = np.linspace(abilities.min() - _MARGIN, abilities.max() + _MARGIN, _PLACES)
    return ItemCurves(
        notes=(),
        method=str(fitted.method),
        response=fitted.response,
        items=len(data),
        grid=tuple(grid.tolist()),
        models=tuple(data.models[place] for place in known),
        abilities=tuple(abilities.tolist()),
        curves=_curves(data, fitted, utility, rows, known, grid),
    )


def _spread(utility: Floats, data: EvalSet, count: int, seed: int) -> Ints:
    if count < 1:
        raise UsageError(f"A picture of item curves needs at least one item, not {count}.")
    scored = int((~np.isnan(utility)).sum())
    places = np.unique(np.linspace(0, scored - 1, min(count, scored)).round().astype(np.int64))
    return rng.order(utility, data.keys, seed)[places]


def _named(data: EvalSet, fitted: FittedResponses, items: Sequence[str]) -> Ints:
    if isinstance(items, str) or not items:
        raise UsageError("Name at least one item, in a list of ids.")
    rows = data.positions(items)
    for row in rows[np.isnan(fitted.fit.difficulty[rows])]:
        raise UsageError(f"The item {data.items[row]} has no score by {fitted.method.metric}.")
    return rows


def _curves(
    data: EvalSet, fitted: FittedResponses, utility: Floats, rows: Ints, known: Ints, grid: Floats
) -> tuple[ItemCurve, ...]:
    fit = fitted.fit
    expected = fit.feasibility[rows, None] / (
        1.0 + np.exp(-fit.discrimination[rows, None] * (grid - fit.difficulty[rows, None]))
    )
    return tuple(
        ItemCurve(
            item=str(data.items[row]),
            discrimination=float(fit.discrimination[row]),
            difficulty=float(fit.difficulty[row]),
            feasibility=float(fit.feasibility[row]),
            utility=float(utility[row]),
            expected=tuple(curve.tolist()),
            observed=tuple(fitted.observed[row, known].tolist()),
        )
        for row, curve in zip(rows, expected, strict=True)
    )
