"""``width_reached``: stop when every interval is narrow enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.run.rounds.stop.base import Progress, Stopped
from sparingly.run.rounds.stop.settled import critical_value
from sparingly.run.rounds.stop.testing import TestingStop


@register("width_reached")
@dataclass(frozen=True, kw_only=True)
class WidthReached(TestingStop):
    """Stops when the interval of every model's score is narrower than a width.

    The interval μ̂_j ± c·se_j has c = c(α, looks), so that it holds the score at all looks at once (for each
    model by itself) with probability 1 − α: stopping at a narrow one does not make it false.

    Use it when scores are to be reported to a precision, whatever the ranking.
    """

    reference: ClassVar[str] = "Jennison and Turnbull 1989; Waudby-Smith et al. 2024"

    w: float = parameter(help="the full width that every interval must have at most, in units of the scores")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.w > 0.0:
            raise UsageError(
                f"The width w is a number above zero, in the unit of the scores, not {self.w:g}."
            )

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the widest interval is narrow enough."""
        looks = [look for look in progress.looks(self.target) if look.tells]
        if not looks or (self.valid == "fixed" and not progress.final):
            return None
        critical = critical_value(looks, self.alpha, self.valid, self.spending)
        errors = np.where(looks[-1].exact, 0.0, np.sqrt(np.diag(looks[-1].covariance)))
        # An error of 0 that is not exact only says that what was judged was all alike.
        doubtful = (errors == 0.0) & ~looks[-1].exact
        if doubtful.any() or not float(2.0 * critical * errors.max()) <= self.w:
            return None
        return Stopped(f"every interval of level {1 - self.alpha:g} is at most {self.w:g} wide.")
