"""What every strategy is: it picks the next round from what is judged so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, parse_method
from sparingly.choose.design.base import Chosen, Selector
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.choose.utility.base import Utility
from sparingly.data.combine import truth_fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected
from sparingly.run.rounds.merge import merged
from sparingly.run.rounds.state import Finished, State


@dataclass(frozen=True)
class Strategy(Method, ABC):
    """Picks the next round of an evaluation from the judgements that came in so far.

    A strategy keeps no memory of its own: everything that it knows is in the ``State``, so that any past
    round can be derived again, and a campaign can stop and go on at any time.
    """

    kind: ClassVar[str] = "strategy"
    # Whether the estimate of the rounds speaks for the whole set.
    gives_scores: ClassVar[bool] = False
    # Whether these scores have standard errors that hold.
    gives_errors: ClassVar[bool] = True

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Return the strategy with every choice that depends on the data made, or say what is missing.

        What it is shown is without labels: the choices must be the same in every round.
        """
        return self

    @abstractmethod
    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the strategy reads beside the labels; it is shown no others."""

    @abstractmethod
    def next_round(self, state: State) -> Chosen | Finished:
        """Pick the next round; ``Finished`` where there is nothing more to ask.

        No cell is asked for twice, and no more cells than ``state.left``.
        """

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the models' scores from all rounds; parameters are those of ``sparingly.estimate``.

        Unless a strategy keeps the chance of every cell, these are the scores of the chosen items, and
        the estimate says so.
        """
        return estimate(state.data, merged(state.rounds), state.aspect, **asked)

    def expected(self, state: State) -> Expected | None:
        """Return what judging everything is expected to say, where the strategy goes by that."""
        return None

    def expected_p_values(self, state: State) -> Floats | None:
        """Return the p-values of all pairs that judging everything is expected to give, where it predicts."""
        found = self.expected(state)
        return None if found is None else found.p_values

    def why(self, data: EvalSet) -> str:
        """Say in two sentences what is done on a set, and why, where the strategy decides that itself."""
        return ""

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Return the labels that the strategy is shown: what the aspect is made of."""
        return frozenset(truth_fields(data, aspect))


def as_strategy(method: str | Method) -> Strategy:
    """Return a strategy; a selector or a utility is one that ignores the labels."""
    made = parse_method(method) if isinstance(method, str) and _names_strategy(method) else method
    if isinstance(made, Strategy):
        return made
    if isinstance(made, str | Utility | Selector):
        from sparingly.run.rounds.one_shot import OneShot

        return OneShot(selector=as_selector(made))
    raise UsageError(f"The {made.kind} {made.name} does not choose items. See: sparingly methods.")


def _names_strategy(text: str) -> bool:
    from sparingly.base.registry import method_class
    from sparingly.base.text import parse_call

    return method_class(parse_call(text).name).kind == Strategy.kind
