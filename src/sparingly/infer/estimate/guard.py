"""Which interval may be printed at this number of units and this skewness, and which may not.

The limits come from simulation (``benchmarks/coverage_grid.py``). With 100 units or more and |skewness| ≤ 2,
t intervals of level 95 % hold the truth 93 to 96 % of the time. With 10 to 30 units and a long tail they hold
it 71 to 89 % of the time, those of the studentised bootstrap 55 to 97 %. What either holds is printed,
widened where units are few or few of them make up the tail: that holds the truth 93 % of the time or more.
Below 10 units, nothing that is learned from the sample alone can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.infer.estimate.sample import Floats

MANY, LEAST = 100, 10
# With many units a longer tail does no harm: the error of t intervals is about 0.22·skewness²/n.
MOST_SKEW, UNITS_PER_SQUARED_SKEW = 2.0, 50.0
# Units below which the bootstrap is widened, and by how much.
WIDENED = ((15, 1.3), (30, 1.15))
# With fewer units than this per squared skewness, a few units make up the tail: it is widened further.
UNITS_PER_TAIL, TAIL = 10.0, 1.15
T, BOOTSTRAP, BETTING, NONE = "t", "bootstrap", "betting", "none"


@dataclass(frozen=True)
class Outcome:
    """How many intervals were printed as they are, and what became of the others.

    Attributes:
        printed: Intervals printed as they were computed.
        widened: Intervals printed wider than they were computed.
        replaced: Intervals that gave way to one that assumes only the range of the scores.
        withheld: Scores without an interval.
        fallen_back: Scores that fell back to the weighted mean.
    """

    printed: int = 0
    widened: int = 0
    replaced: int = 0
    withheld: int = 0
    fallen_back: int = 0

    @property
    def total(self) -> int:
        """The number of scores."""
        return self.printed + self.widened + self.replaced + self.withheld

    def shares(self) -> dict[str, float]:
        """Return every number as a share of the scores."""
        return {name: value / max(self.total, 1) for name, value in vars(self).items()}

    def __str__(self) -> str:
        """Return the outcome in one line."""
        parts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in vars(self).items() if value)
        return f"intervals: {parts or 'none'}"


def supports_t(units: float, skew: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Say where a t interval may be printed: with many units, and no long tail."""
    return np.asarray(
        (units >= MANY) & (np.abs(skew) <= max(MOST_SKEW, np.sqrt(units / UNITS_PER_SQUARED_SKEW)))
    )


def widening(units: float, skew: Floats) -> Floats:
    """Return the factors by which bootstrap intervals are widened; NaN where they are withheld."""
    if units < LEAST:
        return np.full(len(skew), np.nan)
    few = next((factor for most, factor in WIDENED if units < most), 1.0)
    return np.where(UNITS_PER_TAIL * skew**2 > units, few * TAIL, few) + 0.0 * skew


def why_withheld(units: float, drawn: str, spread: bool) -> str:
    """Say why scores have no interval; ``drawn`` says what the units are."""
    if not spread:
        return "all judged items gave the same, and further ones may not"
    if units < LEAST:
        return f"{units:g} {drawn} are too few to learn an error from"
    return f"too few of the {units:g} {drawn} differ from the rest"
