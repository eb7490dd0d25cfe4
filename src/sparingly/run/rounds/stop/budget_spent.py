"""``budget_spent``: stop when nothing more can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparingly.base.registry import register
from sparingly.run.rounds.stop.base import Progress, Stop, Stopped


@register("budget_spent")
@dataclass(frozen=True)
class BudgetSpent(Stop):
    """Stops when the budget is spent, or the strategy has nothing more to ask.

    outputs asked for = items of the budget × models.

    The plain fixed budget: choose it by ``plan``, and test once, at the end.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 4"

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when nothing is left."""
        if progress.final or progress.state.left <= 0:
            state = progress.state
            return Stopped(f"the budget is spent: {state.spent} of {state.limit} outputs were asked for.")
        return None
