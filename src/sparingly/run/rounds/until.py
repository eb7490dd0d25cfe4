"""Play an evaluation back until a stop ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparingly.base.registry import Method
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.replay import Look, replay
from sparingly.run.rounds.stop.base import Progress, Stopped, as_stop, first_stop


@dataclass(frozen=True, eq=False)
class Ended:
    """How a replay ended.

    Attributes:
        look: Where it stood: the state, for estimates, and the strategy.
        stopped: What the stop said; None where the strategy ended before any stop did.
    """

    look: Look
    stopped: Stopped | None

    @property
    def spent(self) -> int:
        """How many outputs were judged."""
        return self.look.state.spent


def replay_until(
    data: EvalSet,
    strategy: str | Method,
    budget: int | float | str | Budget,
    stops: str | Method | Sequence[str | Method],
    *,
    truth: str,
    size: int | None = None,
    seed: int = 0,
) -> Ended:
    """Play an evaluation back on judged data until one of some stops ends it, or the strategy does.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> ended = sparingly.replay_until(
        ...     data, "uniform", "100%", "best_settled:target=set", truth="overall", size=24
        ... )
        >>> ended.stopped.answer, ended.spent
        ('Rowan', 1344)
    """
    wanted = [as_stop(one) for one in ([stops] if isinstance(stops, str | Method) else stops)]
    progress: Progress | None = None
    for look in replay(data, strategy, budget, truth=truth, size=size, seed=seed):
        final = look.finished is not None
        if progress is None:
            progress = Progress(look.state, look.strategy, final)
        else:
            progress = progress.then(look.state, final=final)
        found = first_stop(wanted, progress)
        if found is not None:
            return Ended(look, found)
    return Ended(look, None)
