"""Where curves of agreement reach their targets, and how they go on where they were not measured.

A curve is straight between its budgets and ends at the full set, where the agreement is 1. Below its first
budget, C₁ with the error e₁ = 1 − agreement, it is continued by C₁ (e₁/e)^(1/a): the law that the error of
random selection follows between its first two budgets. Real curves bend away from it to the left (without
labels the error is finite), so the true size is smaller rather than larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.infer.rank.curve import Rule

_EQUAL = 1e-12
# The error of a mean falls by the square root of its size, where two budgets do not tell.
_ROOT_LAW = 0.5
_EXPONENTS = (0.2, 1.0)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the points of a curve lie, and how it goes on to the left.

    Attributes:
        sizes: The budgets in labels or seconds, ascending; the full set is the last.
        smallest: The least that can be judged: one item.
        exponent: The a in error ∝ size^(−a).
    """

    sizes: Floats
    smallest: float
    exponent: float


def reached(places: Places, values: Floats, targets: Floats, rule: Rule) -> tuple[Floats, Ints]:
    """Return where curves reach targets, and the point before or at which they do.

    Args:
        places: Where the points lie; the last one is the full set.
        values: Curves × points, without the full set.
        targets: Curves × targets.
        rule: ``stays`` or ``first_crossing``.

    Returns:
        Sizes and places, both curves × targets. Place 0: before the first point; the last place: between
        the last budget and the full set.
    """
    points = np.concatenate([values, np.ones((len(values), 1))], axis=1)
    is_there = points[:, None, :] >= np.minimum(targets, 1.0)[:, :, None] - _EQUAL
    if rule == "stays":
        is_there = np.logical_and.accumulate(is_there[:, :, ::-1], axis=2)[:, :, ::-1]
    place = np.argmax(is_there, axis=2)
    before = np.maximum(place - 1, 0)
    low, high = np.take_along_axis(points, before, 1), np.take_along_axis(points, place, 1)
    rise = np.where(high > low, high - low, 1.0)
    part = np.clip((targets - low) / rise, 0.0, 1.0)
    between = places.sizes[before] + part * (places.sizes[place] - places.sizes[before])
    return np.where(place == 0, _to_the_left(places, points[:, :1], targets), between), place


def _to_the_left(places: Places, first: Floats, targets: Floats) -> Floats:
    errors = np.maximum(1.0 - targets, _EQUAL)
    shrunk = np.minimum(np.maximum(1.0 - first, 0.0) / errors, 1.0) ** (1.0 / places.exponent)
    return np.asarray(np.maximum(places.sizes[0] * shrunk, min(places.smallest, places.sizes[0])))


def error_exponent(sizes: Floats, values: Floats) -> float:
    """Return the a in error ∝ size^(−a) between the first two budgets."""
    errors = 1.0 - values[:2]
    if len(errors) < 2 or errors[1] <= _EQUAL or sizes[1] <= sizes[0]:
        return _ROOT_LAW
    return float(np.clip(np.log(errors[0] / errors[1]) / np.log(sizes[1] / sizes[0]), *_EXPONENTS))
