"""Inclusion probabilities on their way to 0 or 1: what every draw does with them.

A draw moves probabilities by steps whose expectation is zero until every one is 0 or 1. So each unit is taken
with the probability it began with, whichever steps were made.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError

_ROUNDING = 1e-12
# What the sum of a million probabilities may be off by.
_WHOLE = 1e-6


def settled(chances: Floats) -> Floats:
    """Return a copy of probabilities, with those that are 0 or 1 up to rounding set to it."""
    values = np.array(chances, np.float64)
    if values.ndim != 1:
        raise UsageError(f"There is one inclusion probability per unit; these have the shape {values.shape}.")
    if not ((values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)).all():
        raise UsageError("Inclusion probabilities lie between 0 and 1.")
    return snapped(values)


def snapped(values: Floats) -> Floats:
    """Return values with what is 0 or 1 up to rounding set to it."""
    values = np.where(values < _ROUNDING, 0.0, values)
    return np.where(values > 1.0 - _ROUNDING, 1.0, values)


def undecided(values: Floats) -> Ints:
    """Return the units that are neither taken nor left."""
    return np.flatnonzero((values > 0.0) & (values < 1.0))


def is_whole(total: float) -> bool:
    """Whether probabilities add up to a whole number, up to rounding."""
    return abs(total - round(total)) < _WHOLE


def last_one(mass: float, draw: float) -> bool:
    """Settle the last unit: taken with what is left, which is 0 or 1 when the probabilities add up."""
    return mass > 0.5 if is_whole(mass) else draw < mass


def step(values: Floats, groups: Ints, directions: Floats, draws: Floats) -> None:
    """Move groups of units along directions, up or down, until one unit of each group is decided.

    With λ₁ and λ₂ the longest steps up and down, up is taken with probability λ₂/(λ₁ + λ₂): the expected step
    is 0. Groups (one per row) share no unit; a direction of 0 for a unit leaves it as it is.
    """
    now = values[groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.where(
            directions > 0, (1.0 - now) / directions, np.where(directions < 0, -now / directions, np.inf)
        )
        fall = np.where(
            directions > 0, now / directions, np.where(directions < 0, (now - 1.0) / directions, np.inf)
        )
    up, down = rise.min(axis=1), fall.min(axis=1)
    rises = draws * (up + down) < down
    length = np.where(rises, up, -down)
    moved = snapped(now + length[:, None] * directions)
    # The unit that ended the step is decided, whatever rounding says.
    ends = np.where(rises, rise.argmin(axis=1), fall.argmin(axis=1))
    rows = np.arange(len(groups))
    moved[rows, ends] = np.where(length * directions[rows, ends] > 0, 1.0, 0.0)
    values[groups] = moved
