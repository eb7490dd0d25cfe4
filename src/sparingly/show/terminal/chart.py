"""Curves drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats


@dataclass(frozen=True)
class Series:
    """One curve: its name (none: not in the legend), the sign it is drawn with, and its values."""

    name: str
    sign: str
    values: Sequence[float]


def chart(labels: Sequence[str], series: Sequence[Series], *, height: int = 12, column: int = 6) -> str:
    """Draw curves over common places on the x axis; the later series covers the earlier where they meet."""
    everything = np.concatenate([np.asarray(one.values, np.float64) for one in series])
    low, high = _limits(everything[np.isfinite(everything)])
    grid = [[" "] * (column * len(labels)) for _ in range(height)]
    for one in series:
        for place, value in enumerate(one.values):
            if np.isfinite(value):
                row = round((high - value) / (high - low) * (height - 1))
                grid[row][place * column + column // 2] = one.sign
    lines = []
    for row, cells in enumerate(grid):
        value = high - (high - low) * row / (height - 1)
        label = f"{value:8.3f}" if row % 3 == 0 or row == height - 1 else " " * 8
        lines.append(f"{label} ┤{''.join(cells).rstrip()}")
    axis = "".join(f"{label:^{column}}" for label in labels)
    legend = "   ".join(f"{one.sign} {one.name}" for one in series if one.name)
    return "\n".join(
        [*lines, " " * 9 + "└" + "─" * (column * len(labels)), " " * 10 + axis.rstrip(), f"  {legend}"]
    )


def _limits(values: Floats) -> tuple[float, float]:
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) if high > low else 0.5
    return low - margin, high + margin
