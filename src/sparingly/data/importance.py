"""How much every item matters: the column ``weight`` of a set."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet


def importance(data: EvalSet) -> Floats | None:
    """Return how much every item matters, with mean 1; None where all matter the same."""
    return checked_weights(data.columns[fields.WEIGHT], len(data)) if fields.WEIGHT in data.columns else None


def checked_weights(weights: Any, size: int) -> Floats | None:
    """Return weights of so many items, scaled to mean 1; None where all weigh the same."""
    given = np.asarray(weights, np.float64)
    if given.shape != (size,):
        raise UsageError(f"There are {size} items, but the weights have the shape {given.shape}.")
    if np.isnan(given).any():
        lost = int(np.isnan(given).sum())
        raise DataError(f"{lost} of {size} items have no weight. Give every item one, or none.")
    if (given < 0).any() or not given.sum() > 0:
        raise DataError("Weights of items are 0 or more, and not all of them are 0.")
    return None if np.ptp(given) == 0 else given / given.mean()
