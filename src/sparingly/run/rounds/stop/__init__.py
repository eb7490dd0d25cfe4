"""When to stop: a stop looks at the rounds so far and says whether the question is answered.

Importing this package registers its stops; a new one is a file of its own and a line here.
"""

from sparingly.run.rounds.stop.all_settled import AllSettled
from sparingly.run.rounds.stop.base import Progress, Stop, Stopped, as_stop, first_stop
from sparingly.run.rounds.stop.best_settled import BestSettled
from sparingly.run.rounds.stop.budget_spent import BudgetSpent
from sparingly.run.rounds.stop.futility import Futility
from sparingly.run.rounds.stop.hypergeometric import Hypergeometric
from sparingly.run.rounds.stop.margin_settled import MarginSettled
from sparingly.run.rounds.stop.width_reached import WidthReached

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
