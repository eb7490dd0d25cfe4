"""When an interval may be printed, and what became of those that were asked for.

The limits come from simulation (``benchmarks/default_coverage.py``): from 10 units on, intervals with
corrected tails (``tails``) hold the truth in 94 % of draws or more, where three models or more tell what rare
judgements are like. With fewer models a side on which a few units lie far out is not printed below 30 units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# How to say which scores there can be.
SCALE_HINT = "the scale of the scores (--scale LOW,HIGH)"
# Fewer units teach no error; from ENOUGH on both sides are printed, however few models there are.
LEAST, ENOUGH = 10, 30
FEW_MODELS, MOST_SKEW = 2, 0.4
T, BOOTSTRAP, BETTING, NONE = "t", "bootstrap", "betting", "none"
EXACT, BOUND, PROPORTION = "exact", "bound", "proportion"


@dataclass(frozen=True)
class Outcome:
    """How many intervals were printed, and what became of the others.

    Attributes:
        printed: Intervals with both ends.
        bounds: Intervals with one end, because the data do not support the other.
        withheld: Scores without an interval.
        fallen_back: Scores that fell back to the weighted mean.
    """

    printed: int = 0
    bounds: int = 0
    withheld: int = 0
    fallen_back: int = 0

    @property
    def total(self) -> int:
        """The number of scores."""
        return self.printed + self.bounds + self.withheld

    def shares(self) -> dict[str, float]:
        """Return every number as a share of the scores."""
        return {name: value / max(self.total, 1) for name, value in vars(self).items()}

    def __str__(self) -> str:
        """Return the outcome in one line."""
        parts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in vars(self).items() if value)
        return f"intervals: {parts or 'none'}"


def why_withheld(units: float, drawn: str) -> str:
    """Say why scores have no interval; ``drawn`` says what the units are."""
    if units < LEAST:
        whole = math.floor(units)
        what = f"1 {drawn.removesuffix('s')} is" if whole == 1 else f"{whole} {drawn} are"
        return f"{what} too few to learn an error from, {LEAST} are needed"
    return f"all judgements are the same, and further ones may not be; {SCALE_HINT} would give one"
