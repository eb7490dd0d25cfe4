"""How precise scores became with the judged items, and how precise more of them would make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate

_POINTS = 60


class PrecisionPoint(NamedTuple):
    """So many judged items, and the mean half-width of the models' intervals."""

    n: int
    half_width: float


@dataclass(frozen=True)
class Growth:
    """Precision against labels.

    Attributes:
        seen: What was found with so many judged items, in order.
        ahead: What more (or fewer) items drawn alike would give.
        level: The level of the intervals.
        unit: What is counted.
    """

    seen: tuple[PrecisionPoint, ...]
    ahead: tuple[PrecisionPoint, ...]
    level: float
    unit: str = "items"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        points = {name: [point._asdict() for point in getattr(self, name)] for name in ("seen", "ahead")}
        return {**asdict(self), **points}


def growth(estimates: Sequence[Estimate]) -> Growth | None:
    """Return how precise a series of estimates became, and how the last one's errors would go on.

    The error of n judged items is taken for √(1/n − 1/N) of the set's N items, or √(1/n) for inputs like
    these, of what it is now: right where more is drawn as before. None where no interval can be told. It
    helps to decide whether another round is worth its price; ``plan`` says more, from a pilot.
    """
    widths = [(estimate, width) for estimate in estimates if (width := _half_width(estimate)) is not None]
    if not widths:
        return None
    last, width = widths[-1]
    points = tuple(dict.fromkeys(PrecisionPoint(estimate.n, half) for estimate, half in widths))
    return Growth(points, _extrapolate(last, width), last.level)


def _half_width(estimate: Estimate) -> float | None:
    if estimate.target == CHOSEN_ITEMS:
        return None
    widths = (estimate.high - estimate.low) / 2
    widths = widths[np.isfinite(widths)]
    return float(widths.mean()) if len(widths) and widths.max() > 0 else None


def _extrapolate(last: Estimate, width: float) -> tuple[PrecisionPoint, ...]:
    def spread(n: float) -> float:
        return 1.0 / n - (1.0 / last.size if last.target == "set" else 0.0)

    smallest, largest = max(10, last.n // 4), max(last.size, last.n)
    if smallest >= largest or spread(last.n) <= 0:
        return ()
    numbers = np.unique(np.geomspace(smallest, largest, _POINTS).round().astype(int))
    return tuple(
        PrecisionPoint(int(n), width * float(np.sqrt(max(spread(n), 0.0) / spread(last.n)))) for n in numbers
    )
