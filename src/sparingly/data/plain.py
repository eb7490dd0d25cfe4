"""Values of further columns as plain ones: what JSON can hold, and one text for equal values."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

EXACT = float(2**53)


def plain(value: Any, most: float = EXACT) -> Any:
    """Return a value as JSON can hold it: NaN as None, whole floats (up to ``most``) as integers."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() and abs(value) <= most else value
    if isinstance(value, dict):
        return {name: plain(held, most) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held, most) for held in value]
    return value


def is_number(value: Any) -> bool:
    """Say whether a value is a number that a float can hold exactly (true and false are none)."""
    if type(value) is int:
        try:
            return int(float(value)) == value
        except OverflowError:
            return False
    return type(value) is float


def canonical(value: Any) -> str | None:
    """Return one text for equal values (1 and 1.0 are equal, NaN and None are), None for a missing one."""
    value = plain(value, math.inf)
    return None if value is None else json.dumps(value, sort_keys=True, default=str)
