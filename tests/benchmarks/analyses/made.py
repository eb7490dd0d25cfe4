"""Sets whose outputs lie on a circle, so that every norm is known: 2 sin(angle / 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparingly.data.evalset import EvalSet

ON_CIRCLE = "column:place"


def on_circle(
    angles: Sequence[Sequence[float | None]], models: Sequence[str] = "ab", **parts: Any
) -> EvalSet:
    """A set with an angle per item and model; None where there is no output."""
    cells = np.empty((len(angles), len(models)), object)
    for item, row in enumerate(angles):
        for model, angle in enumerate(row):
            cells[item, model] = None if angle is None else [float(np.cos(angle)), float(np.sin(angle))]
    items = [f"i{place:03d}" for place in range(len(angles))]
    return EvalSet.from_arrays(items, list(models), cells={"place": cells}, **parts)


def chord(angle: float) -> float:
    """The distance of two points on the circle."""
    return float(2.0 * np.sin(abs(angle) / 2.0))
