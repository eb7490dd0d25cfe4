"""``auto``: the design that is taken when no method is named, by what the data has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import parameter
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, Selector
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

AUTO = "auto"
# What one selection may be for.
SelectionQuestion = Literal["ranking", "best", "scores", "judge"]
_EQUAL = "Every item has the same probability, so scores stay unbiased even if a metric is poor."
_UNBIASED = "Every probability is known, so scores are unbiased."


class Automatic(NamedTuple):
    """What was chosen in place of a method, and why, in two sentences."""

    method: Selector
    why: str


def check_question(question: str) -> None:
    """Raise UnknownNameError unless it is a question that designs are chosen by."""
    if question not in get_args(SelectionQuestion):
        raise UnknownNameError("question", question, get_args(SelectionQuestion))


def automatic(
    data: EvalSet, budget: Budget, question: SelectionQuestion = "ranking", **design: Any
) -> Automatic:
    """Choose a design by what a set has, and say in two sentences what was chosen and why.

    Items are drawn with equal probabilities: spread over all metrics and documents (``local_pivotal``); along
    the documents where these are all there is (``systematic:order=document``; under a cost, or for whole
    documents, ``uniform``); else ``uniform``. Only where scores are asked for and a part was judged
    before, on 40 items or more, may probabilities follow how far metrics are expected to err, as far as
    that pilot supports it; to audit a judge, they follow its verdicts. With ``balance``, every
    group is drawn from at random. ``design`` are parameters that the user gives.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> print(sparingly.select(data, budget=60).why)  # doctest: +ELLIPSIS
        auto draws items with equal probabilities, spread over 3 metrics and documents (local_pivotal): ...
    """
    from sparingly.choose.design.probability import FEWEST
    from sparingly.choose.design.probability_design import LocalPivotal, Systematic, Uniform
    from sparingly.choose.design.random import Random
    from sparingly.choose.design.stratified import Verdicts
    from sparingly.choose.design.variables import has_documents
    from sparingly.choose.utility.residual_size import ResidualSize

    check_question(question)
    if question == "judge":
        return Automatic(
            Verdicts(),
            "auto draws by the judge's verdicts (verdicts): enough of what it passed and of what it failed "
            f"to know how often each is wrong. {_UNBIASED}",
        )
    if design.get("balance") is not None or design.get("quota") is not None:
        why = "auto draws at random in every group (random), since groups are to be balanced."
        return Automatic(
            Random(), f"{why} {'Groups share the cost.' if budget.kind == 'cost' else _UNBIASED}"
        )
    metrics = tuple(name for name in data.metrics if not np.isnan(data.metrics[name]).all())
    if metrics:
        # Spread over metrics and documents; where scores are asked for, a pilot may make chances unequal.
        metric_names = () if len(metrics) == len(data.metrics) else metrics
        count_text = "1 metric" if len(metrics) == 1 else f"{len(metrics)} metrics"
        items = design.get("unit") in (None, "item")
        over = f"spread over {count_text}{' and documents' if items and has_documents(data) else ''}"
        # How many items a pilot has judged. A set that is judged throughout is replayed: its labels are the
        # truth, not a pilot.
        aspects = list(data.aspects)
        judged = int(data.judged(aspects[0]).any(axis=1).sum()) if len(aspects) == 1 else 0
        has_pilot = FEWEST <= judged < len(data)
        if question == "scores" and has_pilot and not {"utility", "tau"} & set(design):
            utility = ResidualSize(metrics=metric_names)
            return Automatic(
                LocalPivotal(utility=utility, tau="pilot", metrics=metric_names),
                f"auto draws items {over} (local_pivotal), more often where metrics are likely to be wrong, "
                f"as far as the {judged} judged items support it, for precise scores. {_UNBIASED}",
            )
        return Automatic(
            LocalPivotal(metrics=metric_names),
            f"auto draws items with equal probabilities, {over} (local_pivotal): near-duplicates (by metric "
            f"scores) are rarely both picked. {_EQUAL}",
        )
    plain = budget.kind != "cost" and design.get("unit") in (None, "item")
    if plain and has_documents(data):
        return Automatic(
            Systematic(order=fields.DOCUMENT),
            "auto draws items with equal probabilities, in equal steps along the documents (systematic): "
            f"documents are all there is to spread them over. {_UNBIASED}",
        )
    reason = "no draw exceeds the budget" if has_documents(data) else "nothing is known about the items"
    return Automatic(Uniform(), f"auto draws items with equal probabilities (uniform): {reason}. {_UNBIASED}")


@dataclass(frozen=True)
class AutoSelector(Selector):
    """Stands for the design that ``automatic`` chooses, until the data is there to choose by."""

    name: ClassVar[str] = AUTO

    question: SelectionQuestion = parameter(  # noqa: RUF009
        "ranking", "what you want to know: ranking, best, scores or judge"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Any:
        """Return the design that is chosen in its place."""
        return automatic(data, budget, self.question).method.resolve(data, budget)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Raise UsageError: the fields are known only when the design is."""
        raise UsageError("The method auto is a design only after it has seen the data: resolve it.")

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Raise UsageError: the design that was chosen draws."""
        raise UsageError("The method auto is a design only after it has seen the data: resolve it.")
