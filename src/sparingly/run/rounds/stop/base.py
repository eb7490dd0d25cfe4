"""Stops: they look at the rounds so far and say whether the question is answered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.checks import check_alpha
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, method_class, method_from_call, parameter
from sparingly.base.text import parse_call
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.run.rounds.stop.sequential import (
    Look,
    SettledPairs,
    Spending,
    StopQuestion,
    Valid,
    settle_pairs,
)
from sparingly.run.rounds.strategy import State, Strategy, asked_cells, compared_rows


@dataclass(frozen=True)
class Stopped:
    """An evaluation can stop."""

    reason: str  # why, in one sentence
    answer: str | None = None  # what is settled, where the stop gives an answer: a model, or what was shown
    open: tuple[tuple[str, str], ...] = ()  # the pairs of models that are left undecided


@dataclass(frozen=True, eq=False)
class Progress:
    """Where an evaluation stands."""

    state: State  # the rounds so far and their labels
    strategy: Strategy  # what chose them, with its choices made
    final: bool = False  # whether nothing more will be asked for, whatever a stop says
    # Estimates of earlier looks; a look after the same rounds is not computed twice.
    cache: dict[tuple[str, int], Estimate] = field(default_factory=dict, repr=False)

    def then(self, state: State, *, final: bool = False) -> Progress:
        """Return the progress after further rounds; the labels of earlier ones must not have changed."""
        return replace(self, state=state, final=final)

    def estimates(self, target: Target) -> tuple[Estimate, ...]:
        """Return the estimate after every round since the first answer came in."""
        return tuple(self._estimate(target, count) for count in self._counts())

    def looks(self, target: Target) -> tuple[Look, ...]:
        """Return the look after every round since the first answer came in.

        A round is one look, so ask a stop when a round is in, not after every answer.
        """
        looks = []
        for count in self._counts():
            result, state = self._estimate(target, count), after_rounds(self.state, count)
            final = self.final and count == len(self.state.rounds)
            looks.append(
                look_from(result.scores, result.covariance, result.freedom, result.target, state, final=final)
            )
        return tuple(looks)

    def _counts(self) -> list[int]:
        """Return the numbers of rounds after which there are judgements."""
        judged = ~np.isnan(self.state.labels)
        rounds = self.state.rounds
        return [
            count
            for count in range(1, len(rounds) + 1)
            if (judged & asked_cells(self.state.data, rounds[:count])).any()
        ]

    def _estimate(self, target: Target, count: int) -> Estimate:
        if (target, count) not in self.cache:
            earlier_state = after_rounds(self.state, count)
            result = self.strategy.estimate(
                earlier_state, target=target, interval="none", seed=self.state.seed
            )
            if result.target == CHOSEN_ITEMS:
                raise UsageError(
                    f"The rounds of {self.strategy.name} have no known probabilities, so nothing can be "
                    "tested on them: stop by budget_spent, or choose by auto, waves or uniform."
                )
            if not self.strategy.gives_errors:
                raise UsageError(
                    f"The rounds of {self.strategy.name} give scores without errors, so nothing can be "
                    "tested on them: stop by budget_spent, or choose by auto, waves or uniform."
                )
            self.cache[target, count] = result
        return self.cache[target, count]


def look_from(
    scores: Floats, covariance: Floats, freedom: float, target: str, state: State, *, final: bool = False
) -> Look:
    """Return the look at scores after the rounds of a state.

    The clock is the share of the budget, or of the items where that is more. Information goes by the number
    n of items: n for inputs like these, 1/(1/n − 1/N) for this very set.
    """
    size = len(state.data)
    judged = (~np.isnan(state.labels) & state.asked).sum(axis=0)
    deepest = int(state.asked.sum(axis=0).max())
    exact = (judged == size) if target == "set" else np.zeros(len(judged), bool)
    return Look(
        scores=scores,
        covariance=covariance,
        freedom=freedom,
        clock=1.0 if final else min(1.0, max(state.spent / state.limit, deepest / size)),
        information=information(deepest, size, target),
        planned=state.limit / len(state.data.models),
        exact=np.asarray(exact),
        step=two_valued_step(state.labels),
        judged=judged.astype(np.float64),
    )


def two_valued_step(labels: Floats) -> float:
    """Return how far the two values of two-valued scores are apart; 0 for other scores."""
    values = np.unique(labels[~np.isnan(labels)])
    return float(values[1] - values[0]) if len(values) == 2 else 0.0


def information(count: int, size: int, target: str) -> float:
    """Return the information of n of N items, up to a factor: n, or 1/(1/n − 1/N) for this very set."""
    if target == "population":
        return float(count)
    return float("inf") if count >= size else count * size / (size - count)


def after_rounds(state: State, count: int) -> State:
    """Return the state as it was after some of its rounds."""
    if count == len(state.rounds):
        return state
    rounds = state.rounds[:count]
    visible = state.data.reveal(asked_cells(state.data, rounds), compared_rows(state.data, rounds))
    return replace(state, data=visible, rounds=rounds)


@dataclass(frozen=True)
class Stop(Method, ABC):
    """Says whether an evaluation can stop."""

    kind: ClassVar[str] = "stop"
    # Whether its error rate is only known from simulations.
    heuristic: ClassVar[bool] = False

    @abstractmethod
    def check(self, progress: Progress) -> Stopped | None:
        """Return why to stop, or None to go on."""


def as_stop(method: str | Method) -> Stop:
    """Return a stop from its text."""
    if isinstance(method, str):
        call = parse_call(method)
        stop: Method = method_from_call(call, (method_class(call.name).kind,))
    else:
        stop = method
    if isinstance(stop, Stop):
        return stop
    raise UsageError(f"The {stop.kind} {stop.name} is not a rule to stop. See: sparingly methods.")


def first_stop(stops: Iterable[str | Method], progress: Progress) -> Stopped | None:
    """Return the answer of the first of several stops that wants to stop; None to go on."""
    for stop in stops:
        reason = as_stop(stop).check(progress)
        if reason is not None:
            return reason
    return None


@dataclass(frozen=True, kw_only=True)
class TestingStop(Stop):
    """A stop that tests, with an error rate that holds over all its looks."""

    __test__ = False

    alpha: float = parameter(0.05, "the error rate over all looks and comparisons")
    valid: Valid = parameter(  # noqa: RUF009 - a field
        "group_sequential", "how repeated looks are accounted for: spending, a sequence, or one look"
    )
    spending: Spending = parameter(  # noqa: RUF009 - a field
        "obrien_fleming", "of group_sequential: most of the error at the end, or evenly"
    )
    target: Literal["population", "set"] = parameter(
        "population", "what is decided: inputs like these, or what judging all of this set would say"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha(self.alpha)

    def settle(self, progress: Progress, question: StopQuestion) -> SettledPairs | None:
        """Return which pairs are settled; None before the first round."""
        looks = progress.looks(self.target)
        if not looks:
            return None
        return settle_pairs(
            looks,
            self.alpha,
            self.valid,
            question=question,
            spending=self.spending,
            final=progress.final,
        )


def pair_question(question: Literal["all", "best"], target: str) -> StopQuestion:
    """Return the question for all pairs: over this very set only their order, as no two are equal there."""
    return "order" if question == "all" and target == "set" else question


def pair_names(models: tuple[str, ...], pairs: Mask) -> tuple[tuple[str, str], ...]:
    """Return pairs of models by name, each once."""
    return tuple(
        (models[first], models[second]) for first, second in zip(*np.nonzero(np.triu(pairs)), strict=True)
    )
