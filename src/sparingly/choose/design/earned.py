"""Whether unequal probabilities are earned: τ by what a pilot's own residuals say.

The variance of a mean goes with Σ e²/π. On a pilot it is estimated for any design by Σ_pilot e²/(π_pilot·π),
so designs can be compared before they are used (Neyman 1934 for the best π). A pilot is small and its
residuals are noisy: τ above 0 is taken only where it is clearly better than equal probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats

TAUS = tuple(step / 10 for step in range(9))
# Judged items that a pilot needs, and the correlation across the models of an item that predictions need.
FEWEST, WITHIN = 40, 0.3
# What must be saved at least, and how sure of saving anything one must be.
_WORTH, _SURE = 0.95, 1.64


def variance_left(own: Floats, size: Floats, tau: float) -> tuple[float, float]:
    """Return the share of the variance that a τ leaves on a pilot, and its standard error.

    Σ e²/(π_pilot·π(τ)) over that with equal probabilities, π(τ) ∝ 1 − τ + τ·s.

    Args:
        own: The squared residuals of the judged items over the pilot's probabilities.
        size: Their sizes, as shares of the mean size of all items.
        tau: The share that goes by size.
    """
    ratio = 1.0 / (1.0 - tau + tau * size)
    total = float(own.sum())
    left = float((own * ratio).sum()) / total
    return left, float(np.sqrt((own**2 * (ratio - left) ** 2).sum())) / total


@dataclass(frozen=True, eq=False)
class Earned:
    """What a pilot says of unequal probabilities.

    Attributes:
        tau: The share that they have earned; 0 where none is.
        judged: The number of judged items.
        within: The cross-fitted correlation of prediction and score across the models of an item.
        best: The τ that leaves least of the variance on the pilot, earned or not.
        own: The squared residuals of the judged items over the pilot's probabilities.
        size: Their sizes, as shares of the mean size of all items.
    """

    tau: float
    judged: int
    within: float
    best: float
    own: Floats
    size: Floats

    def note(self, tau: float, pilot: str) -> str:
        """Say why a draw has its τ; ``pilot`` says how the judged items were drawn."""
        if self.judged < FEWEST:
            few = f"{self.judged} judged items, not {FEWEST}"
            return f"the pilot is too small to earn unequal probabilities: {few}."
        if tau == self.tau == 0.0:
            return f"the pilot of {self.judged} judged items earns no unequal probabilities: {self._why()}."
        how = "is what the pilot earned" if tau == self.tau else "was given"
        return (
            f"tau {tau:g} {how}: on {self.judged} judged items, {pilot}, it leaves {self._left(tau)} of the "
            "variance."
        )

    def _why(self) -> str:
        if self.within < WITHIN:
            return f"within items, predictions and scores correlate by {self.within:.2f} only, not {WITHIN}"
        if self.best == 0.0:
            return "by this utility, none leaves less of the variance"
        return f"at best (tau {self.best:g}) they leave {self._left(self.best)} of the variance"

    def _left(self, tau: float) -> str:
        if not self.own.any():
            return "all"
        left, error = variance_left(self.own, self.size, tau)
        return f"{left:.0%} ± {error:.0%}"


def earned_tau(own: Floats, size: Floats, within: float) -> Earned:
    """Return the τ that leaves least of the variance on a pilot, 0 where it is not clearly better.

    See ``variance_left`` for the arguments; ``within`` is the correlation within items.
    """
    shares = {tau: variance_left(own, size, tau) for tau in TAUS} if own.any() else {0.0: (1.0, 0.0)}
    best = min(shares, key=lambda tau: shares[tau][0])
    left, error = shares[best]
    earned = len(own) >= FEWEST and within >= WITHIN and left <= _WORTH and left + _SURE * error < 1.0
    return Earned(best if earned else 0.0, len(own), within, best, own, size)
