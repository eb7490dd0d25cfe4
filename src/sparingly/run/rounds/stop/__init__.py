"""When to stop: a stop looks at the rounds so far and says whether the question is answered."""

from sparingly.run.rounds.stop.base import Progress as Progress
from sparingly.run.rounds.stop.base import Stop as Stop
from sparingly.run.rounds.stop.base import Stopped as Stopped
from sparingly.run.rounds.stop.base import as_stop as as_stop
from sparingly.run.rounds.stop.base import first_stop as first_stop
from sparingly.run.rounds.stop.rules import AllSettled as AllSettled
from sparingly.run.rounds.stop.rules import BestSettled as BestSettled
from sparingly.run.rounds.stop.rules import BudgetSpent as BudgetSpent
from sparingly.run.rounds.stop.rules import Futility as Futility
from sparingly.run.rounds.stop.rules import Hypergeometric as Hypergeometric
from sparingly.run.rounds.stop.rules import MarginSettled as MarginSettled
from sparingly.run.rounds.stop.rules import WidthReached as WidthReached
