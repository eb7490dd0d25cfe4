"""``auto``: what is done when no method is named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.auto import Question, has_documents
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Floats, Objects, Rows
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.variates import known_metrics
from sparingly.infer.expect.belief import USUAL
from sparingly.infer.expect.expect import EVERY_LABEL, Expected, expect
from sparingly.infer.expect.learned import learn_from
from sparingly.run.rounds.auto_depth import depths, worth_for
from sparingly.run.rounds.auto_order import spread_order
from sparingly.run.rounds.learned import FEWEST as FEWEST_TO_LEARN
from sparingly.run.rounds.learned import learn, regressor_fields
from sparingly.run.rounds.state import Finished, Mask, State
from sparingly.run.rounds.strategy import Strategy
from sparingly.run.rounds.wave import Wave
from sparingly.run.rounds.wave_draw import frame_fields
from sparingly.run.rounds.wave_estimate import estimate_waves

DEPTHS = (
    "models were judged on different numbers of items, and the labels decided how deep each went: scores can "
    "lean by up to half a standard error. Ask question=scores where scores matter most."
)
CHANCE = f"the chance is that of an item to be asked for by this round. {EVERY_LABEL}"
# A first round of fewer items teaches nothing of the models.
FEWEST = 3


@register("auto")
@dataclass(frozen=True, kw_only=True)
class Auto(Strategy):
    """Judges items in an order that is fixed at random beforehand; labels decide how deep each model goes.

    Before anything is judged, the seed fixes an order of all items whose every beginning is spread over
    metrics and documents, each item with the chance n/N. The first round judges all models. Later ones go on
    along the order, model j to depth d_j ∝ √a_j: a_j is how much its labels can still lower the expected
    error of the p-values that judging everything would give. For scores, all models go equally deep.
    Scores: μ̂_j = N⁻¹ [Σ_all f_ij + (N/d_j) Σ_S (y_ij − f_ij)], f a ridge that left item i out.

    It is the default because it is honest by construction and falls back by itself: no item's chance depends
    on a metric, predictions count by what they explain of held-out labels, and without evidence it is a
    random sample with a plain mean. The ranking (``expected_p_values``) uses every label and the metrics.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Grafström et al. 2012 (order); Särndal et al. 1992, chapter 6 (scores)"
    gives_scores: ClassVar[bool] = True

    question: Question = parameter("ranking", "what is asked: ranking, best or scores")  # noqa: RUF009
    rounds: int = parameter(5, "the number of rounds", minimum=1)
    pilot: float = parameter(0.3, "the share of the budget that the first round spends on all models")
    floor: float = parameter(0.1, "the least depth of a model, as a share of the deepest")
    trust: float = parameter(0.0, "how far metrics are believed to order models before any label, as atanh ρ")
    spread: bool = parameter(True, "whether the order is spread over metrics and documents")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Refuse what cannot be."""
        for name in ("pilot", "floor"):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise UsageError(f"The {name} of auto is a share above 0, such as 0.3, not {value:g}.")
        if budget.kind == "cost":
            raise UsageError("The strategy auto counts items: give a number or a share, not a cost.")
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the order is spread over, what predictions are learned from, what scores are about."""
        spread = frozenset(map(fields.metric, data.metrics))
        return spread | regressor_fields(data, self._regressor(data)) | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Go on along the order, as deep as each model is worth."""
        current = state.asked.sum(axis=0)
        if state.left < 1 or (current >= len(state.data)).all():
            return Finished("the budget is spent." if state.left < 1 else "every item was asked for.")
        deep = self._depths(state, current)
        order = spread_order(self._shown(state.data), state.seed, spread=self.spread)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        drawn: Mask = (place[:, None] < deep) & ~state.asked
        if not drawn.any():
            return Finished("the rest of the budget is less than one more item.")
        rows = order[drawn[order].any(axis=1)]
        return Chosen(
            rows=rows,
            probability=np.full(len(rows), float(deep.max()) / len(state.data)),
            models=_named(state.data, drawn[rows]),
            reason=self._reason(state, deep),
            notes=(CHANCE,),
        )

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the scores of the whole set: every model by the part of the order that it was judged on."""
        found = estimate_waves(state, self.history(state), self, self.reads(state.data), **asked)
        uneven = bool(np.ptp(state.asked.sum(axis=0)) > 0)
        return replace(found, notes=(*found.notes, DEPTHS)) if uneven else found

    def expected(self, state: State) -> Expected:
        """Return what judging everything is expected to say, from every label."""
        return expect(state.data, state.labels, aspect=state.aspect, prior=replace(USUAL, trust=self.trust))

    def history(self, state: State) -> list[Wave]:
        """Return all rounds as one draw: the first d_j items of a random order, for every model."""
        asked = state.asked
        chance = np.where(asked, asked.sum(axis=0) / len(asked), 1.0)
        nothing: Mask = np.zeros(asked.shape, bool)
        return [Wave(nothing, asked, chance, self._predicted(state))]

    def why(self, data: EvalSet) -> str:
        """Say in two sentences what is done on a set, and why."""
        over = [
            *([f"{len(data.metrics)} metric{'s' * (len(data.metrics) > 1)}"] if len(data.metrics) else []),
            *(["documents"] if has_documents(data) else []),
        ]
        nothing = "with nothing to spread it over" if self.spread else "spread over nothing"
        spread = f"spread over {' and '.join(over)}" if over and self.spread else nothing
        depth = (
            "all models equally deep, since scores are asked for"
            if self.question == "scores"
            else "each model as deep as its labels can still change the answer"
        )
        learned = (
            "Metrics count as far as they explain labels that they did not see"
            if known_metrics(data)
            else "Without metrics, labels alone speak"
        )
        return (
            f"auto judges items in an order fixed at random beforehand, {spread}, {depth}. {learned}; "
            "no item's chance depends on a metric, so scores stay honest."
        )

    def _predicted(self, state: State) -> Floats:
        """Return a prediction of every cell, of a labelled one by a ridge that did not see its item.

        With labels on fewer than 30 items, as without metrics, it is the model's mean.
        """
        enough = int((~np.isnan(state.labels)).any(axis=1).sum()) >= FEWEST_TO_LEARN
        if enough and self._regressor(state.data) is not None:
            return learn_from(state.data, state.labels).held_out
        return learn(state.data, state.labels, None, state.seed).predicted

    def _depths(self, state: State, current: Rows) -> Rows:
        items, models = state.data.shape
        if not state.rounds:
            size = max(round(self.pilot * state.limit / models), FEWEST) if self.rounds > 1 else items
            count = min(size if state.size is None else state.size, state.limit // models, items)
            return np.full(models, max(count, 0))
        cells = self._cells(state)
        if self.question == "scores":
            return depths(current, np.ones(models), state.spent + cells, items, 1.0)
        try:
            worth = worth_for(self.question, self.expected(state))
        except DataError:
            # Nothing came in that two models could be compared by.
            worth = np.ones(models)
        return depths(current, worth, state.spent + cells, items, self.floor)

    def _cells(self, state: State) -> int:
        """Return how many outputs this round asks for."""
        if state.size is not None:
            return min(state.size * len(state.data.models), state.left)
        return -(-state.left // max(self.rounds - len(state.rounds), 1))

    def _shown(self, data: EvalSet) -> EvalSet:
        """Return what the order may depend on: the same in every round, so no label."""
        return data.without_labels().only(self.reads(data))

    @staticmethod
    def _regressor(data: EvalSet) -> str | None:
        return "ridge" if known_metrics(data) else None

    def _reason(self, state: State, deep: Rows) -> str:
        if not state.rounds:
            return "the first items of an order fixed at random, for all models"
        if deep.min() == deep.max():
            return f"further along the order, all models to {int(deep.max())} items"
        return f"further along the order, models to between {int(deep.min())} and {int(deep.max())} items"


def _named(data: EvalSet, drawn: Mask) -> Objects | None:
    """Return the models of every row; None where all are judged on all."""
    if drawn.all():
        return None
    named = np.empty(len(drawn), object)
    named[:] = [tuple(name for name, on in zip(data.models, row, strict=True) if on) for row in drawn]
    return named
