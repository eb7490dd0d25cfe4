"""``auto``, the default strategy: a fixed random order of items, judged to different depths by model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.cache import ResultCache
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.auto import StudyQuestion
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import has_documents, metric_points, principal, with_documents
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimators import known_metrics
from sparingly.infer.estimate.intervals import FEWEST_UNITS
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import group_sums
from sparingly.infer.expect.expect import EVERY_LABEL, USUAL_PRIOR, Expected, expect, fit_metrics
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


# --- how deep every model goes along the order ---

# Labels go where they can still change the answer. A depth that follows a model's own labels biases its
# score: a model that happens to start low is left early, and its low start is never made up for. So the order
# is dealt into folds, and the depth in a fold follows the labels of the other folds alone. Given these, what
# is judged in the fold is a plain random sample, its mean is unbiased, and so is the mean over the folds
# (each counts by its number of items, whatever its depth).

_STEPS = 60
# λ in units of the largest a_j.
_PRICES: Floats = np.append(0.0, np.geomspace(0.01, 100.0, 21))[:, None]


def depths(
    current: Ints,
    worth: Floats,
    cells: int,
    items: int,
    floor: float,
    inflation: float = np.inf,
    *,
    thrifty: bool = False,
) -> Ints:
    """Return for every model how many items it is judged on, so that at most ``cells`` outputs are judged.

    d_j ∝ √(a_j + λ) minimises Σ (a_j + λ)/d_j under Σ d_j = cells (a_j: ``worth_for``): the error of the
    ranking, with a price λ on the variance of every score. λ is the least of a grid at which that variance
    (1/d_j − 1/N, the mean over models) is at most 1 + ``inflation`` times what as many labels give at equal
    depths (λ → ∞). None gets less than ``floor`` of the largest share, none more than all items, and what
    was judged so far (``current``) stays judged. What is left when the deepest has all items goes to the
    others, unless it is to be kept (``thrifty``).
    """
    useful = np.maximum(worth, 0.0)
    size = np.sqrt(useful + float(useful.max()) * _PRICES)
    largest = size.max(axis=1, keepdims=True)
    share = np.maximum(ratio(size, largest, 1.0), floor)
    share = np.vstack([share, np.ones(len(worth))])
    low, high = np.zeros((len(share), 1)), items / share.min(axis=1, keepdims=True) + 1.0
    if thrifty:
        high = np.minimum(high, float(items))
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        total = np.floor(np.clip(share * middle, current, items) + 1e-9).sum(axis=1, keepdims=True)
        low, high = np.where(total <= cells, middle, low), np.where(total <= cells, high, middle)
    candidates = np.floor(np.clip(share * low, current, items) + 1e-9).astype(np.int64)
    allowed = np.append(_inflations(candidates[:-1], items) <= inflation, True)
    return np.asarray(candidates[int(np.argmax(allowed))])


def _inflations(model_depths: Ints, items: int) -> Floats:
    """Return by what share each row of depths raises the mean variance over that of equal depths."""
    # A model without labels counts as with half a label: its variance is not known, and large.
    counts = np.maximum(model_depths, 0.5)
    equal = 1.0 / counts.mean(axis=1) - 1.0 / items
    variance = (1.0 / counts - 1.0 / items).mean(axis=1)
    return np.asarray(ratio(variance, equal, 1.0) - 1.0)


def worth_for(question: StudyQuestion, expected: Expected) -> Floats:
    """Return the worth of labels of each model: over all of its pairs, or over the leader's pairs alone."""
    models = len(expected.models)
    if question == "scores":
        return np.ones(models)
    first, second = pair_indices(models)
    counts = np.ones(len(first))
    if question == "best":
        leader = int(np.argmax(expected.scores))
        counts = ((first == leader) | (second == leader)).astype(np.float64)
    pair_worth = expected.worth * counts[:, None]
    return np.asarray(
        np.bincount(first, pair_worth[:, 0], models) + np.bincount(second, pair_worth[:, 1], models)
    )


def fold_depths(
    current: Ints,
    worth: Sequence[Floats],
    cells: int,
    sizes: Ints,
    floor: float,
    *,
    inflation: float = np.inf,
    start: int = 0,
    minimum: int = 0,
    thrifty: bool = False,
) -> Ints:
    """Return folds × models: how many items of each fold every model is judged on after this round.

    Every fold gets its share of all cells so far, so that no fold's depths follow its own labels and one that
    had too few for another item catches up; what a fold cannot use goes to the next one, from the fold
    ``start`` on. Within a fold, ``depths`` decides.

    Args:
        current: folds × models: the depths so far.
        worth: a_j of each model for each fold, from the labels of the other folds (``worth_for``).
        cells: How many outputs this round may ask for.
        sizes: The number of items of each fold.
        floor: As in ``depths``.
        inflation: As in ``depths``.
        start: The fold that is served first.
        minimum: How many items of each fold every model is judged on at least, where the cells allow it.
        thrifty: As in ``depths``.
    """
    depth = current.copy()
    folds = len(sizes)
    remaining = cells
    shares = -(-(int(depth.sum()) + cells) * sizes // int(sizes.sum()))
    # In a second pass every fold may take all that is left.
    for turn in range(2 * folds):
        fold = (start + turn) % folds
        earlier = int(depth[fold].sum())
        total = earlier + remaining
        if np.isinf(inflation):
            # Campaigns from before the limit shared out the new cells; they go on, and verify, as they began.
            total = earlier + -(-remaining // max(folds - turn, 1))
        elif turn < folds:
            total = min(max(int(shares[fold]), earlier), total)
        lowest = np.maximum(depth[fold], min(minimum, int(sizes[fold])))
        lowest = lowest if int(lowest.sum()) <= total else depth[fold]
        depth[fold] = depths(lowest, worth[fold], total, int(sizes[fold]), floor, inflation, thrifty=thrifty)
        remaining -= int(depth[fold].sum()) - earlier
        if remaining < 1:
            break
    return depth


def fold_chances(judged: Mask, fold: Ints, folds: int) -> Floats:
    """Return items × models: the probability of every answered cell, 1 elsewhere.

    In a fold of N_f items of which d_fj were answered for model j it is d_fj/N_f, so that
    μ̂_j = Σ_f (N_f/N)·ȳ_fj. Where a fold has no answer for a model, the others stand for it.
    """
    sizes = np.bincount(fold, minlength=folds).astype(np.float64)
    counts = group_sums(judged.astype(np.float64), fold)
    covered = (sizes[:, None] * (counts > 0)).sum(axis=0) / len(fold)
    return np.where(judged, (counts / sizes[:, None])[fold] * covered, 1.0)


# --- the strategy ---

CHANCE = f"probabilities are those of being drawn by this round. {EVERY_LABEL}"
BIASED_BY_LABELS = (
    "how often a model was judged followed its own labels: scores may be biased by up to a third of a "
    "standard error; folds above 1 have none of it."
)
# A first round of fewer items teaches nothing of the models.
FEWEST = 3


@register("auto")
@dataclass(frozen=True, kw_only=True)
class Auto(Strategy):
    """Judges items in a random order fixed beforehand; labels decide how far each model goes.

    Before anything is judged, the seed fixes an order of all items whose every beginning is spread over
    metrics and documents, each item with probability n/N. The first round judges all models. Later ones go on
    along the order, model j to depth d_j ∝ √(a_j + λ): a_j is how much its labels can still lower the
    expected error of the p-values that judging everything would give, and λ is the least price on the
    variance of scores that keeps its mean within 1 + ``inflation`` of that at equal depths (for the best
    model alone, λ = 0). The order is split into ``folds``; the labels of the others decide how deep a model
    goes in each, so that no score is biased by its own depth. For scores, all models go equally deep.
    Scores: μ̂_j = N⁻¹ Σ_f [Σ_all f_ij + (N_f/d_fj) Σ_S (y_ij − f_ij)], f a ridge that left item i out.

    It is the default because scores are unbiased by design: no item's probability
    depends on a metric, predictions count by what they explain of held-out labels, and without evidence it
    is a random sample with a plain mean. The ranking (``expected``) uses all labels and metrics.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Grafström et al. 2012 (order); Särndal et al. 1992, chapter 6 (scores)"
    gives_scores: ClassVar[bool] = True
    # Whether a part of the budget is kept that can tell nothing more of what is asked.
    _thrifty: ClassVar[bool] = False

    question: StudyQuestion = parameter("ranking", "what you want to know: ranking, best or scores")  # noqa: RUF009
    rounds: int = parameter(5, "the number of rounds", minimum=1)
    pilot: float = parameter(0.3, "the share of the budget that the first round spends on all models")
    floor: float = parameter(0.3, "the least depth of a model, as a share of the deepest")
    inflation: float = parameter(
        0.05,
        "for the ranking: by what share unequal depths may raise the mean variance of scores",
        minimum=0.0,
        before_added=np.inf,
    )
    trust: float = parameter(0.0, "how far metrics are believed to order models before any label, as atanh ρ")
    spread: bool = parameter(True, "whether the order is spread over metrics and documents")
    folds: int = parameter(4, "the number of folds; a fold's depths follow the others' labels", minimum=1)

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Raise UsageError for a share outside (0, 1] and for a budget in costs."""
        for name in ("pilot", "floor"):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise UsageError(f"The {name} of {self.name} is a share above 0, such as 0.3, not {value:g}.")
        if budget.kind == "cost":
            raise UsageError(f"The strategy {self.name} counts items: give a number or a share, not a cost.")
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read metrics, the inputs of predictions, weights and documents."""
        spread = frozenset(map(fields.metric, data.metrics))
        return spread | regressor_fields(data, self._regressor(data)) | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Go on along the order, as deep as each model is worth."""
        current = state.asked.sum(axis=0)
        if state.left < 1 or (current >= len(state.data)).all():
            return Finished(
                "the budget is spent." if state.left < 1 else "every item was judged or assigned."
            )
        order = spread_order(self._visible(state.data), state.seed, spread=self.spread)
        fold, folds = self._folds(state, order)
        depth = self._depths(state, fold, folds)
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order)) // folds
        cells: Mask = (position[:, None] < depth[fold]) & ~state.asked
        if not cells.any():
            short = state.left < len(state.data.models)
            why = "the rest of the budget is less than one more item."
            return Finished(
                why if short else "every item of the models that are still undecided was judged or assigned."
            )
        rows = order[cells[order].any(axis=1)]
        sizes = np.bincount(fold, minlength=folds)
        totals = depth.sum(axis=0)
        least, most = int(totals.min()), int(totals.max())
        if not state.rounds:
            reason = "the first items of an order fixed at random, for all models"
        elif least == most:
            reason = f"further along the order, all models to {most} items"
        else:
            reason = f"further along the order, models to between {least} and {most} items"
        return Chosen(
            rows=rows,
            probability=(depth.max(axis=1) / sizes)[fold[rows]],
            models=models_by_row(state.data.models, cells[rows]),
            reason=reason,
            notes=(CHANCE,),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set: every model by the part of the order that it was judged on."""
        result = estimate_waves(state, self.history(state), self, self.reads(state.data), **options)
        follows_labels = self.folds == 1 and bool(np.ptp(state.asked.sum(axis=0)) > 0)
        return replace(result, notes=(*result.notes, BIASED_BY_LABELS)) if follows_labels else result

    def expected(self, state: State) -> Expected:
        """Return what judging everything is expected to say, from every label."""
        return self._expect(state, state.labels)

    def _expect(self, state: State, labels: Floats) -> Expected:
        return expect(state.data, labels, aspect=state.aspect, prior=replace(USUAL_PRIOR, trust=self.trust))

    def history(self, state: State) -> list[Wave]:
        """Return all rounds as one draw: of every fold of a random order the first items, for every model.

        A labelled cell is predicted by a ridge that did not see its item; with labels on fewer than 30 items,
        as without metrics, by the model's mean.
        """
        requested = state.asked
        judged = requested & ~np.isnan(state.labels)
        order = spread_order(self._visible(state.data), state.seed, spread=self.spread)
        chance = fold_chances(judged, *self._folds(state, order))
        # A wave multiplies its chances by the share that was answered; these include it already.
        answered = judged.sum(axis=0) / np.maximum(requested.sum(axis=0), 1)
        chance = np.where(judged, chance / np.where(answered > 0, answered, 1.0), 1.0)
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
        depth = "each model as deep as its labels can still change the answer"
        if self.question == "scores":
            depth = "all models on the same items, for scores"
        metrics_text = "There are no metrics, so labels alone count"
        if known_metrics(data):
            metrics_text = "Metrics count as far as they predict held-out labels"
        return (
            f"{self.name} judges items in an order fixed at random beforehand, {spread}, {depth}. "
            f"{metrics_text}; no item's probability depends on a metric, so scores stay unbiased."
        )

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
        worth = [self._worth(state, fold == number if folds > 1 else None) for number in range(folds)]
        if state.size is not None:
            cells = min(state.size * models, state.left)
        else:
            cells = -(-state.left // max(self.rounds - len(state.rounds), 1))
        # With fewer labels a score has no interval: the last round sees to it that every model has so many.
        minimum = -(-FEWEST_UNITS // folds) if cells >= state.left else 0
        start = len(state.rounds) % folds
        limits: dict[str, Any] = {"inflation": inflation, "minimum": minimum, "thrifty": self._thrifty}
        depth = fold_depths(current, worth, cells, sizes, floor, start=start, **limits)
        if cells < state.left and not self._thrifty and (depth == current).all():
            # A share of the rest is less than an item of any fold: all of the rest is more.
            depth = fold_depths(current, worth, state.left, sizes, floor, start=start, **limits)
        return depth

    def _worth(self, state: State, hidden: Mask | None) -> Floats:
        """Return the worth of labels of each model, from the labels outside the hidden items."""
        labels = state.labels if hidden is None else np.where(hidden[:, None], np.nan, state.labels)
        equal = np.ones(len(state.data.models))
        if self.question == "scores":
            return equal
        try:
            return worth_for(self.question, self._expect(state, labels))
        except DataError:
            # Nothing came in that two models could be compared by.
            return equal

    def _visible(self, data: EvalSet) -> EvalSet:
        """Return what the order may depend on: no label, so that it is the same in every round."""
        return data.without_labels().only(self.reads(data))

    @staticmethod
    def _regressor(data: EvalSet) -> str | None:
        return "ridge" if known_metrics(data) else None
