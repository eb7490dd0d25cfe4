"""``auto``: what is done when no method is named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.auto import Question, has_documents
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.intervals import LEAST
from sparingly.infer.estimate.predictions import known_metrics
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import group_sums
from sparingly.infer.expect.belief import USUAL
from sparingly.infer.expect.expect import EVERY_LABEL, Expected, expect, learn_from
from sparingly.run.rounds.auto_depth import fold_chances, fold_depths, worth_for
from sparingly.run.rounds.auto_order import spread_order
from sparingly.run.rounds.learned import FEWEST as FEWEST_TO_LEARN
from sparingly.run.rounds.learned import learn, regressor_fields
from sparingly.run.rounds.state import Finished, State
from sparingly.run.rounds.strategy import Strategy
from sparingly.run.rounds.wave import Wave
from sparingly.run.rounds.wave_draw import frame_fields
from sparingly.run.rounds.wave_estimate import estimate_waves

CHANCE = f"the chance is that of an item to be asked for by this round. {EVERY_LABEL}"
# A first round of fewer items teaches nothing of the models.
FEWEST = 3


@register("auto")
@dataclass(frozen=True, kw_only=True)
class Auto(Strategy):
    """Judges items in an order that is fixed at random beforehand; labels decide how deep each model goes.

    Before anything is judged, the seed fixes an order of all items whose every beginning is spread over
    metrics and documents, each item with the chance n/N. The first round judges all models. Later ones go on
    along the order, model j to depth d_j ∝ √(a_j + λ): a_j is how much its labels can still lower the
    expected error of the p-values that judging everything would give, and λ is the least price on the
    variance of scores that keeps its mean within 1 + ``inflation`` of that at equal depths (for the best
    model alone, λ = 0). The order is dealt into ``folds``; the labels of the others decide how deep a model
    goes in each, so that no score is biased by its own depth. For scores, all models go equally deep.
    Scores: μ̂_j = N⁻¹ Σ_f [Σ_all f_ij + (N_f/d_fj) Σ_S (y_ij − f_ij)], f a ridge that left item i out.

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
    floor: float = parameter(0.3, "the least depth of a model, as a share of the deepest")
    inflation: float = parameter(
        0.05,
        "for the ranking: by what share unequal depths may raise the mean variance of scores",
        minimum=0.0,
        before=np.inf,
    )
    trust: float = parameter(0.0, "how far metrics are believed to order models before any label, as atanh ρ")
    spread: bool = parameter(True, "whether the order is spread over metrics and documents")
    folds: int = parameter(
        4, "into how many folds the order is dealt; a fold's depths follow the others' labels", minimum=1
    )

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
        order = spread_order(self._shown(state.data), state.seed, spread=self.spread)
        fold, folds = self._folds(state, order)
        deep = self._depths(state, fold, folds)
        within = np.empty(len(order), np.int64)
        within[order] = np.arange(len(order)) // folds
        drawn: Mask = (within[:, None] < deep[fold]) & ~state.asked
        if not drawn.any():
            return Finished("the rest of the budget is less than one more item.")
        rows = order[drawn[order].any(axis=1)]
        sizes = np.bincount(fold, minlength=folds)
        return Chosen(
            rows=rows,
            probability=(deep.max(axis=1) / sizes)[fold[rows]],
            models=_named(state.data, drawn[rows]),
            reason=self._reason(state, deep.sum(axis=0)),
            notes=(CHANCE,),
        )

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the scores of the whole set: every model by the part of the order that it was judged on."""
        return estimate_waves(state, self.history(state), self, self.reads(state.data), **asked)

    def expected(self, state: State) -> Expected:
        """Return what judging everything is expected to say, from every label."""
        return self._expect(state, state.labels)

    def _expect(self, state: State, labels: Floats) -> Expected:
        return expect(state.data, labels, aspect=state.aspect, prior=replace(USUAL, trust=self.trust))

    def history(self, state: State) -> list[Wave]:
        """Return all rounds as one draw: of every fold of a random order the first items, for every model."""
        asked = state.asked
        answered = asked & ~np.isnan(state.labels)
        order = spread_order(self._shown(state.data), state.seed, spread=self.spread)
        chance = fold_chances(answered, *self._folds(state, order))
        # A wave multiplies its chances by the share that came, and these hold it already.
        came = answered.sum(axis=0) / np.maximum(asked.sum(axis=0), 1)
        chance = np.where(answered, chance / np.where(came > 0, came, 1.0), 1.0)
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

    def _folds(self, state: State, order: Ints) -> tuple[Ints, int]:
        """Return the fold of every item, and how many folds there are: 1 where no label decides a depth."""
        folds = 1
        if self.question != "scores" and self.rounds > 1 and state.rounds:
            folds = min(self.folds, len(state.rounds[0]))
        fold = np.empty(len(order), np.int64)
        fold[order] = np.arange(len(order)) % folds
        return fold, folds

    def _depths(self, state: State, fold: Ints, folds: int) -> Ints:
        """Return folds × models: how deep every model is to go in every fold."""
        items, models = state.data.shape
        if not state.rounds:
            size = max(round(self.pilot * state.limit / models), FEWEST) if self.rounds > 1 else items
            count = min(size if state.size is None else state.size, state.limit // models, items)
            return np.full((1, models), max(count, 0))
        sizes = np.bincount(fold, minlength=folds)
        current = group_sums(state.asked.astype(np.int64), fold).astype(np.int64)
        floor = 1.0 if self.question == "scores" else self.floor
        inflation = self.inflation if self.question == "ranking" else np.inf
        worth = [self._worth(state, fold == own if folds > 1 else None) for own in range(folds)]
        cells = self._cells(state)
        # With fewer labels a score has no interval: the last round sees to it that every model has so many.
        least = -(-LEAST // folds) if cells >= state.left else 0
        start = len(state.rounds) % folds
        return fold_depths(current, worth, cells, sizes, floor, inflation=inflation, start=start, least=least)

    def _worth(self, state: State, hidden: Mask | None) -> Floats:
        """Return what labels of each model are worth, from those outside the hidden items."""
        labels = state.labels if hidden is None else np.where(hidden[:, None], np.nan, state.labels)
        nothing = np.ones(len(state.data.models))
        if self.question == "scores":
            return nothing
        try:
            return worth_for(self.question, self._expect(state, labels))
        except DataError:
            # Nothing came in that two models could be compared by.
            return nothing

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

    def _reason(self, state: State, deep: Ints) -> str:
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
