"""Play an evaluation back on data whose judgements are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparingly.base.registry import Method
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.stop.base import Progress, Stopped, as_stop, first_stop
from sparingly.run.rounds.strategy import Finished, State, Strategy


@dataclass(frozen=True, eq=False)
class ReplayRound:
    """Where a replay stands after a round."""

    state: State  # the set with every judgement that was asked for so far, for ``strategy.estimate``
    strategy: Strategy  # the strategy with its choices made
    finished: Finished | None = None  # why it asked no more; None while it goes on


def replay(
    data: EvalSet,
    strategy: str | Method,
    budget: int | float | str | Budget,
    *,
    truth: str,
    size: int | None = None,
    seed: int = 0,
) -> Iterator[ReplayRound]:
    """Yield where an evaluation stands after each of its rounds; every asked cell is answered by the truth.

    The truth is an aspect, a combination of aspects, or a metric, which then no method may see. The last
    look says why the strategy stopped; a caller that has seen enough just stops asking.
    """
    judged, aspect = with_truth(data, truth)
    rounds: list[Selection] = []
    while True:
        picked = next_round(judged, strategy, budget, aspect=aspect, rounds=rounds, size=size, seed=seed)
        finished = picked if isinstance(picked, Finished) else None
        if not isinstance(picked, Finished):
            rounds.append(picked)
        state, method = state_of(
            judged, strategy, budget, aspect=aspect, rounds=rounds, size=size, seed=seed, all_fields=True
        )
        yield ReplayRound(state, method, finished)
        if finished is not None:
            return


def with_truth(data: EvalSet, truth: str) -> tuple[EvalSet, str]:
    """Return the set with the truth as an aspect, and the aspect; a metric leaves the metrics."""
    if truth in data.metrics and truth not in data.aspects:
        other_fields = data.only(name for name in data.fields if name != fields.metric(truth))
        return other_fields.with_aspect(truth, data.metrics[truth]), truth
    return data, truth


@dataclass(frozen=True, eq=False)
class ReplayEnd:
    """How a replay ended."""

    look: ReplayRound  # where it stood: the state, for estimates, and the strategy
    stopped: Stopped | None  # what the stop said; None where the strategy ended before any stop did

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
) -> ReplayEnd:
    """Play an evaluation back on judged data until one of some stops ends it, or the strategy does.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> ended = sparingly.replay_until(
        ...     data, "uniform", "100%", "best_settled:target=set", truth="mqm", size=24
        ... )
        >>> ended.stopped.answer, ended.spent
        ('TMT_run1', 1152)
    """
    rules = [as_stop(stop) for stop in ([stops] if isinstance(stops, str | Method) else stops)]
    progress: Progress | None = None
    for look in replay(data, strategy, budget, truth=truth, size=size, seed=seed):
        final = look.finished is not None
        if progress is None:
            progress = Progress(look.state, look.strategy, final)
        else:
            progress = progress.then(look.state, final=final)
        reason = first_stop(rules, progress)
        if reason is not None:
            return ReplayEnd(look, reason)
    return ReplayEnd(look, None)
