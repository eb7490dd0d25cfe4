"""The range of every metric and aspect, and what a metric cannot do: vary, or tell models apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import Fields


@dataclass(frozen=True)
class Scores:
    """The values of a metric or an aspect; None where nothing is there.

    Attributes:
        name: The metric or aspect.
        minimum: The lowest score.
        mean: The mean of all scores.
        maximum: The highest score.
        constant: Whether all scores are equal: it says nothing.
        same_for_models: Whether the models of every item have one score: it cannot tell models apart.
    """

    name: str
    minimum: float | None
    mean: float | None
    maximum: float | None
    constant: bool
    same_for_models: bool


def scores_of(named: Fields) -> tuple[Scores, ...]:
    """Return the range of every metric or aspect."""
    return tuple(_range(name, values) for name, values in named.items())


def _range(name: str, values: Floats) -> Scores:
    there = values[~np.isnan(values)]
    if not there.size:
        return Scores(name, None, None, None, constant=False, same_for_models=False)
    low, high = float(there.min()), float(there.max())
    return Scores(
        name,
        minimum=low,
        mean=float(there.mean()),
        maximum=high,
        constant=low == high and there.size > 1,
        same_for_models=values.shape[1] > 1 and _same_in_rows(values, (high - low) * 1e-9),
    )


def _same_in_rows(values: Floats, tolerance: float) -> bool:
    """Say whether no item's scores differ, and at least one item has two of them."""
    missing = np.isnan(values)
    spread = np.where(missing, -np.inf, values).max(axis=1) - np.where(missing, np.inf, values).min(axis=1)
    several = values.shape[1] - missing.sum(axis=1) > 1
    return bool(several.any() and (spread[several] <= tolerance).all())
