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
    """Precision against labels: what was found with so many judged items, in order, and what lies ahead.

    ``ahead`` is what more (or fewer) items drawn alike would give.
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
    seen = []
    for estimate in estimates:
        widths = (estimate.high - estimate.low) / 2
        widths = widths[np.isfinite(widths)]
        if estimate.target != CHOSEN_ITEMS and len(widths) and widths.max() > 0:
            seen.append(PrecisionPoint(estimate.n, float(widths.mean())))
            last = estimate
    if not seen:
        return None

    def spread(n: float) -> float:
        return 1.0 / n - (1.0 / last.size if last.target == "set" else 0.0)

    smallest, largest = max(10, last.n // 4), max(last.size, last.n)
    ahead: tuple[PrecisionPoint, ...] = ()
    if smallest < largest and spread(last.n) > 0:
        width = seen[-1].half_width
        numbers = np.unique(np.geomspace(smallest, largest, _POINTS).round().astype(int))
        ahead = tuple(
            PrecisionPoint(int(n), width * float(np.sqrt(max(spread(n), 0.0) / spread(last.n))))
            for n in numbers
        )
    return Growth(tuple(dict.fromkeys(seen)), ahead, last.level)
