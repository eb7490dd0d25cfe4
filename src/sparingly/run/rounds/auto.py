"""``auto``, the default strategy: all models, along a random order of the items that is fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints, Mask
from sparingly.base.cache import ResultCache
from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import has_documents, metric_points, principal, with_documents
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimators import known_metrics
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import EVERY_LABEL, Expected, expect, fit_metrics
from sparingly.run.rounds.strategy import Finished, State, Strategy, models_by_row
from sparingly.run.rounds.wave_estimate import Wave, estimate_waves
from sparingly.run.rounds.waves import FEWEST_TO_LEARN, frame_fields, learn, regressor_fields

# --- the order of all items, fixed before anything is judged and well spread wherever one stops ---

_DIMENSIONS = 5
_orders: ResultCache[Ints] = ResultCache(size=8)


def spread_order(data: EvalSet, seed: int, *, spread: bool = True) -> Ints:
    """Return the items in a random order in which every beginning is spread over metrics and documents.

    The set is halved again and again by the local pivotal method with chances of one half: of two neighbours
    one stays. What was dropped last comes first, at random within a halving. So the first n items are a
    draw in which every item has the chance n/N, exactly, and of near items seldom both.
    Without ``spread``, or with nothing to spread over, the order is plainly random.
    """
    # By content: every round has a set of its own, in which only labels are new.
    return _orders.get((), (data.digest(), seed, spread), lambda: _halve_repeatedly(data, seed, spread))


def _halve_repeatedly(data: EvalSet, seed: int, spread: bool) -> Ints:
    generator = rng.generator(seed, "auto", "order")
    # By id, so that the order of the file does not matter.
    remaining = np.argsort(rng.stream(data.keys, seed, "auto order"), kind="stable").astype(np.int64)
    points = None
    if spread and len(data.metrics):
        points = principal(metric_points(data, tuple(data.metrics)), _DIMENSIONS)
    if spread and has_documents(data):
        middle = np.zeros((len(data), 1)) if points is None else points
        points = with_documents(middle, data.columns[fields.DOCUMENT])
    dropped: list[Ints] = []
    while len(remaining) > 1 and points is not None:
        half = np.zeros(len(remaining), bool)
        # Of an odd number a random item sits out, so that the size of a half does not depend on who is in it.
        is_odd = len(remaining) % 2 == 1
        partners = generator.permutation(len(remaining))[1:] if is_odd else np.arange(len(remaining))
        chances = np.full(len(partners), 0.5)
        half[partners] = draw_local_pivotal(chances, points[remaining[partners]], generator)
        dropped.append(generator.permutation(remaining[~half]))
        remaining = remaining[half]
    return np.concatenate([remaining, *dropped[::-1]])


# --- the strategy ---

CHANCE = f"probabilities are those of being drawn by this round. {EVERY_LABEL}"
BIASED_BY_LABELS = (
    "how often a model was judged followed its own labels in rounds of an earlier version: scores may be "
    "biased by up to a third of a standard error."
)
# A round of fewer items teaches nothing of the models.
FEWEST = 3


@register("auto")
@dataclass(frozen=True, kw_only=True)
class Auto(Strategy):
    """Judges all models on the next items of a random order that is fixed beforehand.

    Before anything is judged, the seed fixes an order of all items whose every beginning is spread over
    metrics and documents, each item with probability n/N. Every round goes on along it; a stop ends it.
    Scores: μ̂_j = N⁻¹ [Σ_all f_ij + (N/n) Σ_S (y_ij − f_ij)], f a ridge that left item i out.

    It is the default because scores are unbiased by design: no item's probability depends on a metric or a
    label, predictions count by what they explain of held-out labels, and without evidence it is a random
    sample with a plain mean. The ranking (``expected``) uses all labels and metrics.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Grafström et al. 2012 (order); Särndal et al. 1992, chapter 6 (scores)"
    gives_scores: ClassVar[bool] = True
    retired: ClassVar[frozenset[str]] = frozenset(
        {"question", "pilot", "floor", "inflation", "trust", "folds"}
    )

    rounds: int = parameter(5, "the number of rounds", minimum=1)
    spread: bool = parameter(True, "whether the order is spread over metrics and documents")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Raise UsageError for a budget in costs."""
        if budget.kind == "cost":
            raise UsageError(f"The strategy {self.name} counts items: give a number or a share, not a cost.")
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read metrics, the inputs of predictions, weights and documents."""
        spread = frozenset(map(fields.metric, data.metrics))
        return spread | regressor_fields(data, self._regressor(data)) | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Go on along the order, with all models."""
        items, models = state.data.shape
        if state.asked.all():
            return Finished("every item was judged or assigned.")
        size = state.size
        if size is None:
            size = max(-(-state.left // (models * max(self.rounds - len(state.rounds), 1))), FEWEST)
        order = spread_order(self._visible(state.data), state.seed, spread=self.spread)
        open_cells = ~state.asked[order]
        # Rounds of earlier versions left out models on some items: these go on with what is open.
        cells = np.cumsum(open_cells.sum(axis=1))
        depth = int(np.searchsorted(cells, min(size * models, state.left), side="right"))
        if depth == 0 or cells[depth - 1] == 0:
            return Finished(
                "the budget is spent."
                if state.left < 1
                else "the rest of the budget is less than one more item."
            )
        places = np.flatnonzero(open_cells[:depth].any(axis=1))
        where = "further along the order" if state.rounds else "the first items of an order fixed at random"
        return Chosen(
            rows=order[places],
            probability=np.full(len(places), depth / items),
            models=models_by_row(state.data.models, open_cells[places]),
            reason=f"{where}, for all models",
            notes=(CHANCE,),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set, by the part of the order that was judged."""
        result = estimate_waves(state, self.history(state), self, self.reads(state.data), **options)
        follows_labels = bool(np.ptp(state.asked.sum(axis=0)) > 0)
        return replace(result, notes=(*result.notes, BIASED_BY_LABELS)) if follows_labels else result

    def expected(self, state: State) -> Expected:
        """Return what judging everything is expected to say, from every label."""
        return expect(state.data, state.labels, aspect=state.aspect)

    def history(self, state: State) -> list[Wave]:
        """Return all rounds as one draw: the first items of a random order.

        A labelled cell is predicted by a ridge that did not see its item; with labels on fewer than 30 items,
        as without metrics, by the model's mean.
        """
        requested = state.asked
        chance = np.where(requested, requested.mean(axis=0), 1.0)
        enough = int((~np.isnan(state.labels)).any(axis=1).sum()) >= FEWEST_TO_LEARN
        if enough and self._regressor(state.data) is not None:
            predicted = fit_metrics(state.data, state.labels).held_out
        else:
            predicted = learn(state.data, state.labels, None, state.seed).predicted
        no_cells: Mask = np.zeros(requested.shape, bool)
        return [Wave(no_cells, requested, chance, predicted)]

    def why(self, data: EvalSet) -> str:
        """Say in two sentences what is done on a set, and why."""
        metrics = [counted(len(data.metrics), "metric")] if len(data.metrics) else []
        spread_over = [*metrics, "documents"] if has_documents(data) else metrics
        spread = f"spread over {' and '.join(spread_over)}"
        if not self.spread:
            spread = "spread over nothing"
        elif not spread_over:
            spread = "with nothing to spread it over"
        metrics_text = "There are no metrics, so labels alone count"
        if known_metrics(data):
            metrics_text = "Metrics count as far as they predict held-out labels"
        return (
            f"{self.name} judges all models on the same items, in an order fixed at random beforehand, "
            f"{spread}. {metrics_text}; no item's probability depends on a metric, so scores stay unbiased."
        )

    def _visible(self, data: EvalSet) -> EvalSet:
        """Return what the order may depend on: no label, so that it is the same in every round."""
        return data.without_labels().only(self.reads(data))

    @staticmethod
    def _regressor(data: EvalSet) -> str | None:
        return "ridge" if known_metrics(data) else None
