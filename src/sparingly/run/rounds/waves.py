"""``waves``: a uniform pilot, then draws with chances that are learned from the waves before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.cache import ResultCache
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal, draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import metric_points, principal
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimators import check_metrics, known_metrics, metric_fields
from sparingly.infer.estimate.intervals import FEWEST_UNITS
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.strategy import Finished, State, Strategy, asked_cells
from sparingly.run.rounds.wave_estimate import Wave, combine, estimate_waves

# --- what earlier waves teach: predictions, the size of their errors, and whether to act on it ---

AUTO = "auto"
Goal = Literal["ranking", "scores"]
# With fewer labelled items nothing is learned but the models' means.
FEWEST_TO_LEARN = 30
TAUS = (0.25, 0.5, 0.75)
# No item's residual is taken for smaller than this share of the mean one.
_SIZE_FLOOR = 0.1
# How sure the labelled items must be that unequal chances are better, and by how much they must be.
_SURE, _WORTH = 1.64, 0.97


@dataclass(frozen=True, eq=False)
class LabelPredictions:
    """Predictions of all cells from some labels."""

    # items × models: a prediction of every cell; that of a labelled item comes from the others.
    predicted: Floats
    residual: Floats  # items × models: the label less its prediction, NaN without a label
    is_fitted: bool  # whether a regressor was fitted; without one, predictions are the models' means


def resolve_regressor(data: EvalSet, regressor: str | None) -> str | None:
    """Return the regressor; ``auto`` is ridge with metrics, none without."""
    if regressor == AUTO:
        return "ridge" if len(data.metrics) else None
    if regressor is not None:
        from sparingly.signals.predict.regressors import parse_regressor

        parse_regressor(regressor)
        check_metrics(data, ())
    return regressor


def regressor_fields(data: EvalSet, regressor: str | None) -> frozenset[str]:
    """Return the fields that predictions are learned from."""
    return frozenset() if regressor is None else metric_fields(data, known_metrics(data))


def learn(data: EvalSet, labels: Floats, regressor: str | None, seed: int) -> LabelPredictions:
    """Learn the scores of all cells from some labels (items × models, NaN without one), cross-fitted.

    With fewer than 30 labelled items, or without a regressor, every cell is predicted by its model's mean.
    """
    judged = ~np.isnan(labels)
    if regressor is not None and int(judged.any(axis=1).sum()) >= FEWEST_TO_LEARN:
        predicted = _cross_fitted(data, labels, regressor, seed)
        return LabelPredictions(predicted, labels - predicted, True)
    # The mean of all for a model without labels, 0 without any label.
    counts, totals = judged.sum(axis=0), np.where(judged, labels, 0.0)
    overall = float(totals.sum()) / max(int(counts.sum()), 1)
    means = np.where(counts > 0, totals.sum(axis=0) / np.maximum(counts, 1), overall)
    return LabelPredictions(np.broadcast_to(means, labels.shape), labels - means, False)


# Every look derives the same predictions again, and they are expensive.
_predictions: ResultCache[Floats] = ResultCache(size=64)


def _cross_fitted(data: EvalSet, labels: Floats, regressor: str, seed: int) -> Floats:
    from sparingly.signals.predict import predict_scores

    def predict() -> Floats:
        predictions = predict_scores(data, labels, regressor=regressor, seed=seed).held_out
        predictions.flags.writeable = False
        return predictions

    inputs = data.digest(regressor_fields(data, regressor))
    key = (inputs, hashlib.sha256(labels.tobytes()).hexdigest(), regressor, seed)
    return _predictions.get((), key, predict)


def residual_squares(residual: Floats, goal: Goal) -> Floats:
    """Return v_i: Σ_j e_ij² for scores, Σ_j (e_ij − ē_i)² for a ranking; NaN without labels."""
    return np.asarray((_relevant_sizes(residual, goal) ** 2).sum(axis=1))


def _relevant_sizes(residual: Floats, goal: Goal) -> Floats:
    """Return |residual|, for a ranking less the item's mean residual."""
    if goal == "scores":
        return np.asarray(np.abs(residual))
    judged = ~np.isnan(residual)
    mean = np.where(judged, residual, 0.0).sum(axis=1) / np.maximum(judged.sum(axis=1), 1)
    return np.asarray(np.abs(residual - mean[:, None]))


@dataclass(frozen=True, eq=False)
class ExpectedSizes:
    """The expected size of every item's residual, and the share of the chances that goes by it."""

    of_item: Floats  # û_i; that of a labelled item is learned from the others
    tau: float  # the share τ, 0 where labelled items do not say that it helps

    def chances(self, rows: Ints, count: int) -> Floats:
        """Return the inclusion probabilities of some items, of which ``count`` are taken."""
        if self.tau == 0.0:
            return np.full(len(rows), count / len(rows))
        return inclusion_probabilities(self.of_item[rows], float(count), tau=self.tau)


def learn_sizes(
    data: EvalSet,
    predictions: LabelPredictions,
    stands_for: Floats,
    *,
    regressor: str | None,
    goal: Goal,
    tau: float | None,
    models: Mask,
    seed: int,
) -> ExpectedSizes:
    """Learn the expected size of residuals by item, and whether unequal probabilities pay.

    |e_ij| is learned from the metrics as scores are; û_i² = Σ_j â_ij² over the ``models`` that go on. Unless
    it is given, τ minimises Σ_L a_i v_i/((1 − τ) + τ û_i/mean û) over the labelled items, each by what it
    stands for (a_i), and is 0 unless that is less than with equal probabilities by more than chance explains.
    """
    residual = predictions.residual[:, models]
    if regressor is None or not predictions.is_fitted or tau == 0.0:
        return ExpectedSizes(np.ones(len(residual)), 0.0)
    sizes = np.full(data.shape, np.nan)
    sizes[:, models] = _relevant_sizes(residual, goal)
    predicted = _cross_fitted(data, sizes, regressor, seed)[:, models]
    floor = _SIZE_FLOOR * float(np.nanmean(sizes))
    expected = np.sqrt((np.maximum(predicted, floor) ** 2).sum(axis=1))
    labelled = ~np.isnan(residual).any(axis=1)
    squares = np.where(labelled, residual_squares(residual, goal), 0.0) * stands_for
    share = supported_tau(squares[labelled], (expected / expected.mean())[labelled]) if tau is None else tau
    return ExpectedSizes(expected, share)


def supported_tau(squares: Floats, even: Floats) -> float:
    """Return the share τ that the labelled items speak for, 0 where they do not."""
    total = float(squares.sum())
    if total <= 0.0 or not len(squares):
        return 0.0
    best, lowest = 0.0, 1.0
    for tau in TAUS:
        ratio = 1.0 / (1.0 - tau + tau * even)
        mean = float((squares * ratio).sum()) / total
        error = float(np.sqrt((squares**2 * (ratio - mean) ** 2).sum())) / total
        if mean < lowest and mean <= _WORTH and mean + _SURE * error < 1.0:
            best, lowest = tau, mean
    return best


# --- how a wave is drawn ---

CONDITIONAL = "probabilities are those of this wave, among what no earlier wave drew."
_DIMENSIONS = 5


def frame_fields(data: EvalSet) -> frozenset[str]:
    """Return the columns that estimates need: weights and documents."""
    return frozenset(fields.column(name) for name in (fields.DOCUMENT, fields.WEIGHT) if name in data.columns)


def round_size(state: State, rounds: int, pilot: int) -> int:
    """Return how many items the next of some rounds takes: the pilot, or an equal part of the rest."""
    if state.size is not None:
        return state.size
    total = state.limit // len(state.data.models)
    if rounds == 1:
        return total
    if not state.rounds:
        return pilot
    remaining = total - int(state.asked.any(axis=1).sum())
    return max(1, -(-remaining // max(rounds - len(state.rounds), 1)))


# --- the strategy ---


@register("waves")
@dataclass(frozen=True, kw_only=True)
class Waves(Strategy):
    """A uniform pilot, then waves that prefer items where predictions are likely to be far off.

    Wave k draws S_k from what is not yet labelled, U_k, with π_i = (1 − τ)·n_k/|U_k| + τ·κ·û_i: û is the
    expected size of item i's residual, learned (cross-fitted, shrunk) from earlier waves, and τ is found on
    what is labelled, 0 without evidence. μ̂⁽ᵏ⁾ = N⁻¹ [Σ_L y + Σ_U f + Σ_S (y − f)/π], with predictions f
    of earlier waves, and μ̂ = Σ_k w_k μ̂⁽ᵏ⁾ with w_k ∝ n_k/(|U_k|(|U_k| − n_k)), fixed by the sizes.

    Use it when people judge in batches and scores of the whole set are wanted at any time: it is unbiased
    whatever was learned, equals simple random sampling when nothing was, and gives the independent increments
    that stopping rules need.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Zrnic and Candès 2024; Särndal, Swensson and Wretman 1992, chapter 6"
    gives_scores: ClassVar[bool] = True

    waves: int = parameter(4, "the number of waves, the pilot included", minimum=1)
    pilot: float = parameter(0.3, "the share of the budget that is drawn uniformly first")
    regressor: str | None = parameter(
        AUTO, "what learns: ridge, boosting, knn …; none; auto takes what there is"
    )
    goal: Goal = parameter("ranking", "what residuals are about: differences between models, or scores")  # noqa: RUF009
    tau: float | None = parameter(
        None, "how much probabilities depend on size; default: found from the labels"
    )
    draw: Literal["pivotal", "local_pivotal"] = parameter(
        "pivotal", "how items are drawn; local_pivotal spreads them over the metrics"
    )

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Choose the regressor; raise UsageError for parameters that do not fit."""
        if not 0.0 < self.pilot <= 1.0:
            raise UsageError(f"The pilot is a share of the budget above 0, such as 0.3, not {self.pilot:g}.")
        if self.tau is not None and not 0.0 <= self.tau < 1.0:
            raise UsageError(f"tau is a share from 0 (equal probabilities) to below 1, not {self.tau:g}.")
        if budget.kind == "cost":
            raise UsageError(f"The strategy {self.name} counts items: give a number or a share, not a cost.")
        if self.draw == "local_pivotal" and not len(data.metrics):
            raise UsageError("local_pivotal spreads draws over metrics, and there are none: draw=pivotal.")
        return replace(self, regressor=resolve_regressor(data, self.regressor))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the inputs of predictions, metrics to spread over, and weights and documents."""
        spread = set(map(fields.metric, data.metrics)) if self.draw == "local_pivotal" else set()
        return regressor_fields(data, self.regressor) | spread | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next wave from the items without labels."""
        models = len(state.data.models)
        open_rows = np.flatnonzero(~state.asked.any(axis=1))
        # The pilot has ten items where the budget has them, for an interval.
        items, pilot = state.limit // models, round(self.pilot * state.limit / models)
        pilot = max(1, pilot, min(FEWEST_UNITS, items))
        size = round_size(state, self.waves, pilot)
        count = min(size, state.left // models, len(open_rows))
        if count < 1:
            return Finished(
                "the budget is spent." if len(open_rows) else "every item was judged or assigned."
            )
        sizes = ExpectedSizes(np.ones(len(state.data)), 0.0)
        if state.asked.any(axis=1).sum() >= pilot and self.waves > 1:
            stands = combine(self.history(state), state.labels, state.data.importance).stands_for
            sizes = learn_sizes(
                state.data,
                learn(state.data, state.labels, self.regressor, state.seed),
                stands.sum(axis=1) / models,
                regressor=self.regressor,
                goal=self.goal,
                tau=self.tau,
                models=np.ones(models, bool),
                seed=state.seed,
            )
        chances = sizes.chances(open_rows, count)
        generator = rng.generator(state.seed, "wave", str(state.number))
        if self.draw == "pivotal":
            drawn_rows = draw_pivotal(chances, generator)
        else:
            points = principal(metric_points(state.data, tuple(state.data.metrics)), _DIMENSIONS)
            drawn_rows = draw_local_pivotal(chances, points[open_rows], generator)
        reason = f"drawn in wave {state.number}, by the expected size of the residual (tau {sizes.tau:g})"
        if not state.rounds:
            reason = "drawn uniformly for the pilot"
        elif sizes.tau == 0.0:
            reason = f"drawn uniformly in wave {state.number}: no evidence for unequal probabilities"
        return Chosen(
            rows=open_rows[drawn_rows],
            probability=chances[drawn_rows],
            utility=None if sizes.tau == 0.0 else sizes.of_item[open_rows][drawn_rows],
            reason=reason,
            notes=(CONDITIONAL,) if state.rounds else (),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set from all waves."""
        return estimate_waves(state, self.history(state), self, self.reads(state.data), **options)

    def history(self, state: State) -> list[Wave]:
        """Return the waves so far, each with predictions from the labels before it.

        The first wave is predicted from its own other folds.
        """
        waves: list[Wave] = []
        earlier: Mask = np.zeros(state.data.shape, bool)
        for number, selection in enumerate(state.rounds):
            if selection.probability is None:
                raise UsageError(
                    "A round without known probabilities is no wave: scores cannot be estimated from it."
                )
            cells, chances = asked_cells(state.data, [selection]), np.ones(state.data.shape)
            rows, mask = state.data.positions(selection.items), selection.model_mask(state.data.models)
            for row, models, chance in zip(rows, mask, selection.probability, strict=True):
                chances[row, models] = chance
            visible = np.where(cells if number == 0 else earlier, state.labels, np.nan)
            predictions = learn(state.data, visible, self.regressor, state.seed)
            waves.append(Wave(earlier, cells, chances, predictions.predicted))
            earlier = earlier | cells
        return waves
