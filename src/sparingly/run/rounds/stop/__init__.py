"""When to stop: a stop looks at the rounds so far and says whether the question is answered."""

from sparingly.run.rounds.stop.base import Progress, Stop, Stopped, as_stop, first_stop
from sparingly.run.rounds.stop.rules import (
    AllSettled,
    BestSettled,
    BudgetSpent,
    Futility,
    Hypergeometric,
    MarginSettled,
    WidthReached,
)

__all__ = [
    "AllSettled",
    "BestSettled",
    "BudgetSpent",
    "Futility",
    "Hypergeometric",
    "MarginSettled",
    "Progress",
    "Stop",
    "Stopped",
    "WidthReached",
    "as_stop",
    "first_stop",
]
