"""What a pilot teaches: spread, predictions, and whether unequal probabilities would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, ratio
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.format import counted
from sparingly.base.syntax import arguments, either
from sparingly.choose.design.probability import MIN_CORRELATION, remaining_variance, sizes_of
from sparingly.choose.utility.metric import MetricAvg, MetricCons, MetricVar
from sparingly.data import fields
from sparingly.data.describe.metrics import Correlation, correlation
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.roles import likeliest_metrics
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimators import (
    FEWEST,
    calibrate_predictions,
    fold_groups,
    labels_and_weights,
)
from sparingly.infer.estimate.sample import ASSUMED, JudgedSample, difference_form, frame_of, sample_from
from sparingly.infer.estimate.scale import ScoreValues, values_of
from sparingly.infer.estimate.variance import set_errors
from sparingly.infer.plan.power import DocumentEffects, document_effects, item_covariance, pair_total
from sparingly.signals.predict.features import has_features
from sparingly.signals.predict.predict import centre_on_items, expected_squares

if TYPE_CHECKING:
    from sparingly.signals.predict import Predictions


def learn_values(data: EvalSet, sample: JudgedSample, values: Floats, seed: int) -> Predictions:
    """Learn values of the judged outputs (judged items × models) from the metrics, cross-fitted, by 1/π."""
    from sparingly.signals.predict import predict_scores

    labels, weights = labels_and_weights(sample, values)
    return predict_scores(data, labels, weights=weights, groups=fold_groups(sample), seed=seed)


# --- true scores that a pilot leaves plausible ---

DRAWS = 4000
# Distances of models from their mean are thought to have a standard deviation of up to so many times theirs.
_WIDEST, _STEPS = 3.0, 100


def plausible_scores(scores: Floats, covariance: Floats, *, seed: int = 0, draws: int = DRAWS) -> Floats:
    """Return draws × models: true scores of models whose estimates have errors.

    A pilot spreads the models further apart than they are. Distances of true scores from their mean are taken
    for normal with a standard deviation τ, all τ as likely as each other before the pilot; drawn are τ given
    the estimates, then the distances given τ: N(τ²(τ²I + C)⁻¹x, τ²C(τ²I + C)⁻¹), with x the estimated
    distances and C their covariance (the normal hierarchical model; Gelman et al. 2013, section 5.4). What
    all models share, such as hard items, is no error here, and models with like outputs are not torn apart.
    """
    count = len(scores)
    if count < 2 or not covariance.any():
        return np.broadcast_to(scores, (draws, count))
    # An orthonormal basis (models × models − 1) of what is at right angles to the mean.
    basis = np.linalg.qr(np.eye(count)[:, :-1] - 1.0 / count)[0]
    errors, rotation = np.linalg.eigh(basis.T @ covariance @ basis)
    errors, directions = np.maximum(errors, 0.0), basis @ rotation
    distances = directions.T @ scores
    generator = rng.generator(seed, "plausible")
    steps = np.linspace(0.0, _WIDEST * np.sqrt((distances**2).mean() + errors.mean()), _STEPS)
    # How likely each τ is. Where neither error nor spread is left, no distance can be explained.
    floor = 1e-12 * max(float(errors.max()), float((distances**2).max()), 1e-300)
    total = np.maximum(steps[:, None] ** 2 + errors, floor)
    logarithm = -0.5 * (np.log(total) + distances**2 / total).sum(axis=1)
    likelihood = np.exp(logarithm - logarithm.max())
    squared = generator.choice(steps, draws, p=likelihood / likelihood.sum()) ** 2
    total = squared[:, None] + errors
    weight = ratio(squared[:, None], total, 1.0)
    noise = generator.standard_normal(total.shape) * np.sqrt(weight * errors)
    # As a change of the scores, so that what is certain stays exactly as it is.
    return np.asarray(scores + (noise - (1.0 - weight) * distances) @ directions.T)


# --- unequal probabilities ---
# A pilot's absolute residuals are learned from the metrics as scores are (cross-fitted, shrunk towards a
# constant where nothing can be learned). That gives every item an expected size û of its residual. Of the
# utilities that can be named in a design, the one that suits û best is tried on the residuals themselves.

TAUS = (0.25, 0.5, 0.75)
_WORTH, _SURE = 0.95, 1.64


@dataclass(frozen=True)
class Trial:
    """A utility, tried on the residuals of a pilot; ``tau`` is the share of the probabilities by it.

    ``expected`` is the share of the variance that is left by it, by the learned sizes of residuals, ``found``
    the same by the pilot's own residuals, with its standard error.
    """

    utility: str
    tau: float
    expected: float
    found: float
    error: float


@dataclass(frozen=True, eq=False)
class Unequal:
    """What unequal probabilities would do to the variance."""

    scores: float  # the share of the variance of scores left by the best probabilities, (mean û)²/mean(û²)
    differences: float  # the same for differences between models
    within: float  # the cross-fitted correlation of prediction and score across the models of an item
    earned: bool  # whether the pilot says that probabilities by the trial are better than equal ones
    trial: Trial | None  # the best utility that can be named, tried on the pilot; None where there is none


def method_text(trial: Trial) -> str:
    """Return the method that draws by a utility, as text."""
    return f"local_pivotal:utility=({trial.utility}),tau={trial.tau:g}"


# --- the pilot ---

FEWEST_JUDGED = 10
# A metric that stands in for people is looked at on so many items, and chosen on so many.
_MOST_ITEMS, _TO_CHOOSE_ON = 4000, 1000
_MOST_TRIED = 5
# In so many parts of a pilot it is tried what 30 items would have taught.
_PARTS_LEARNED = 4
DOCUMENTS_UNKNOWN = (
    "how similar the items of a document are is unknown (too few judged together): differences on inputs "
    "like these may need more items."
)
TOO_SMALL = f"with fewer than {FEWEST} judged items, what the metrics would save is unknown."


@dataclass(frozen=True)
class Saving:
    """The share of the variance that predictions from the metrics explain, cross-fitted."""

    scores: float  # of the models' scores: so much fewer items give the same interval
    differences: float  # of differences between models, which is what a ranking depends on
    correlation: float  # of predictions and scores over all outputs, model means taken out
    within: float  # the mean over items of their correlation across models


@dataclass(frozen=True, eq=False)
class Pilot:
    """What a pilot tells of the scores and their spread."""

    data: EvalSet  # the items that the plan describes
    truth: str  # what is planned for: an aspect, or the metric that stands in for people
    sample: JudgedSample  # what was judged
    scores: Floats  # draws × models: plausible true scores
    spread: Floats  # models × models: the spread of the scores over the items
    residual_spread: Floats  # the spread of what predictions leave; as ``spread`` where there are none
    # Of every metric with what was judged, the best by differences first.
    correlations: tuple[Correlation, ...]
    documents: DocumentEffects | None  # what drawing whole documents would do; None where it cannot be told
    # models × models: how much scores of inputs like these vary beyond those of this set, S/N with the design
    # effect of documents.
    population_covariance: Floats
    notes: tuple[str, ...]  # what to mind
    stands_in: bool = False  # whether a metric stands in
    # items × models: what was learned from the metrics; None where nothing was.
    predicted: Floats | None = None
    # Of the variance that predictions explain, the share that they lose when learned from 30 items.
    learning_loss: float = 0.0
    saving: Saving | None = None  # what predictions save; None where it cannot be told
    unequal: Unequal | None = None  # what unequal probabilities would do; None where it cannot be told

    @property
    def n(self) -> int:
        """The number of judged items."""
        return len(self.sample.rows)

    @property
    def models(self) -> int:
        """The number of models."""
        return self.sample.models

    @property
    def size(self) -> int:
        """The number of items."""
        return self.sample.size

    @property
    def values(self) -> ScoreValues:
        """What is known of the values that scores can take, as ``estimate`` will see them."""
        judged = self.sample.scores[self.sample.judged]
        return values_of(judged, self.data.truth_scale(self.truth))


def pilot_of(
    data: EvalSet, selection: Selection | None, aspect: str | None, *, for_differences: bool, seed: int
) -> Pilot:
    """Return the pilot: the ratings of an aspect, or a metric where there is no aspect."""
    if not len(data.models):
        raise MissingDataError(
            "A plan needs models and their scores, and the evaluation set has none. Plan without data: "
            f"{_plan_without_data({'pass_rate': '90%', 'width': '4%'})}."
        )
    if aspect is None and not len(data.aspects):
        # The judge (or metric) whose differences between models agree most with those of the others.
        names = sorted(likeliest_metrics(data.metrics, data.roles))
        if not names and len(data.preferences):
            raise MissingDataError(
                "The data hold comparisons, and no scores to plan from. To plan comparisons: "
                f"{_plan_without_data({'win_rate': '60%'})}."
            )
        if not names:
            raise MissingDataError(
                "A plan needs a pilot's ratings or metrics, and the set has neither. Judge 40 random items: "
                f"{either('sparingly serve DATA --budget 40', 'sparingly.select(data, budget=40)')}. "
                f"Or plan without data: {_plan_without_data({'pass_rate': '90%', 'width': '4%'})}."
            )
        rows = np.argsort(data.keys, kind="stable")[:_TO_CHOOSE_ON]
        scores = [data.metrics[name][rows] for name in names]
        agreement = np.zeros(len(names))
        for first in range(len(names)):
            for second in range(first):
                shared = correlation(scores[first], scores[second]).differences or 0.0
                agreement[[first, second]] += shared
        return _from_metric(data, names[int(np.argmax(agreement))], seed)
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects)
    read = data.truth_fields(name)
    if all(field in map(fields.metric, data.metrics) for field in read):
        return _from_metric(data, next(m for m in data.metrics if fields.metric(m) in read), seed)
    if selection is not None and not selection.is_probability_sample:
        raise UsageError(
            "The top of a list is not a pilot: it does not show how the others vary. Draw one with uniform."
        )
    view, notes = frame_of(data, selection), tuple[str, ...]()
    judged = np.asarray(view.judged(name).any(axis=0))
    if judged.any() and not judged.all():
        count, left_out = len(view.models), int((~judged).sum())
        notes = (f"{left_out} of {count} models {'was' if left_out == 1 else 'were'} not judged: left out.",)
        view = view.take(models=list(compress(view.models, judged)))
    sample = sample_from(view, view.truth(name), selection)
    if len(sample.rows) < FEWEST_JUDGED:
        raise DataError(
            f"A pilot of {counted(len(sample.rows), 'judged item')} is too small; judge at least "
            f"{FEWEST_JUDGED}."
        )
    pilot = _pilot_from_ratings(view, name, sample, for_differences, seed)
    return replace(pilot, notes=(*pilot.notes, *notes))


def pilot_without(pilot: Pilot, metrics: Sequence[str], for_differences: bool, seed: int) -> Pilot:
    """Return the pilot without some metrics."""
    hidden = set(map(fields.metric, metrics))
    view = pilot.data.only(name for name in pilot.data.fields if name not in hidden)
    return _pilot_from_ratings(view, pilot.truth, pilot.sample, for_differences, seed)


def _pilot_from_ratings(
    view: EvalSet, name: str, sample: JudgedSample, for_differences: bool, seed: int
) -> Pilot:
    raw = difference_form(sample)
    plain = item_covariance(sample, raw.residual)
    if not plain.any():
        raise DataError(_all_equal(sample))
    # An estimate learns from texts only where there are metrics, too.
    features = len(view.metrics) > 0 and has_features(view)
    uses_predictions = features and sample.fewest_units >= FEWEST
    metrics = _correlations(view, sample, name)
    linear, residual_spread, saving, unequal = raw, plain, None, None
    if uses_predictions:
        # The linear form of ``greg``, and what it saves.
        predictions = learn_values(view, sample, sample.scores, seed)
        linear = calibrate_predictions(sample, predictions.held_out, 2.0)
        residual_spread = item_covariance(sample, linear.residual, linear.parameters)
        saving = Saving(
            scores=_explained_share(float(np.trace(residual_spread)), float(np.trace(plain))),
            differences=_explained_share(pair_total(residual_spread), pair_total(plain)),
            correlation=predictions.correlation,
            within=predictions.within,
        )
        # What unequal probabilities would gain, from the residuals of a pilot (judged items × models).
        # Utilities of the given metrics are tried, for differences between models or for scores.
        # Every item's expected squared residual, learned from those of the pilot.
        by_target = []
        for part in (linear.residual, centre_on_items(linear.residual)):
            labels, weights = labels_and_weights(sample, part)
            by_target.append(
                expected_squares(view, labels, weights=weights, groups=fold_groups(sample), seed=seed)
            )
        scores, differences = (
            float(np.sqrt(squares).mean() ** 2) / total if (total := float(squares.mean())) > 0 else 1.0
            for squares in by_target
        )
        squares = by_target[int(for_differences)]
        residual_squares = (
            (np.nan_to_num(centre_on_items(linear.residual)) if for_differences else linear.residual) ** 2
        ).sum(axis=1) / sample.draw
        trials = []
        # Of a single model there are no differences, and residuals without any size have no larger ones.
        for metric in (
            [row.metric for row in metrics[:_MOST_TRIED]] if squares.any() and residual_squares.any() else ()
        ):
            for utility in (MetricAvg(metric=metric), MetricVar(metric=metric), MetricCons(metric=metric)):
                sizes = sizes_of(utility.values(view))
                if float(np.ptp(sizes)) > 0:
                    # Choose τ by the learned squares, and look at the pilot's own.
                    even = sizes / sizes.mean()
                    expected = {
                        tau: float((squares / (1 - tau + tau * even)).sum() / squares.sum()) for tau in TAUS
                    }
                    tau = min(expected, key=expected.__getitem__)
                    found, error = remaining_variance(residual_squares, even[sample.rows], tau)
                    trials.append(Trial(str(utility), tau, expected[tau], found, error))
        best = min(trials, key=lambda trial: trial.expected, default=None)
        earned = (
            best is not None
            and saving.within >= MIN_CORRELATION
            and max(best.expected, best.found) <= _WORTH
            and best.found + _SURE * best.error < 1.0
        )
        unequal = Unequal(scores, differences, saving.within, earned, best)

    errors = set_errors(sample, linear).covariance
    documents = document_effects(sample, linear.residual, residual_spread)
    notes = (
        *sample.notes,
        *((TOO_SMALL,) if features and not uses_predictions else ()),
        *((DOCUMENTS_UNKNOWN,) if sample.document is not None and documents is None else ()),
    )
    return Pilot(
        data=view,
        truth=name,
        sample=sample,
        scores=plausible_scores(linear.scores(sample), errors, seed=seed),
        spread=plain,
        residual_spread=residual_spread,
        predicted=linear.predicted,
        learning_loss=0.0 if saving is None else _learning_loss(view, sample, saving.scores, seed),
        correlations=metrics,
        saving=saving,
        unequal=unequal,
        documents=documents,
        population_covariance=_population_covariance(sample, raw.residual, plain),
        notes=notes,
    )


def _all_equal(sample: JudgedSample) -> str:
    """Say that the spread of scores is unknown, and what to do: another question for each kind of score."""
    scores = sample.scores[sample.judged]
    equal = "Every model has the same score on all its judged items, so how far scores vary is unknown."
    if np.isin(scores, (0.0, 1.0)).all():
        rate = f"{np.clip(scores.mean(), 0.01, 0.99):.0%}"
        command = _plan_without_data({"pass_rate": rate, "width": "1%"})
        return f"{equal} Plan a pass rate without these labels: {command}."
    if sample.models > 1:
        command = _plan_without_data({"detect": "0.3sd", "models": str(sample.models)})
        return f"{equal} Judge more items, or plan without data: {command}."
    return f"{equal} Judge more items."


def _population_covariance(sample: JudgedSample, residual: Floats, plain: Floats) -> Floats:
    """Return the variance of the whole set's scores as those of one sample of inputs like these."""
    documents = document_effects(sample, residual, plain)
    return (plain if documents is None else documents.raised(plain)) / sample.size


def _learning_loss(view: EvalSet, sample: JudgedSample, saving: float, seed: int) -> float:
    """Return the share of what predictions explain that is lost when they are learned from 30 items only.

    Tried on a few parts of the pilot; none where it is hardly larger than a part.
    """
    count = len(sample.rows)
    if count < 1.5 * FEWEST or saving <= 0:
        return 0.0
    near = view.at(sample.rows)
    pilot_only = replace(
        sample, rows=np.arange(count), size=count, weights=None, document=None, stratum_of=None
    )
    order = np.argsort(rng.stream(near.keys, seed, "parts"), kind="stable")
    parts = [order[start : start + FEWEST] for start in range(0, count - FEWEST + 1, FEWEST)][:_PARTS_LEARNED]
    remaining = total = 0.0
    for places in parts:
        part = pilot_only.at(np.sort(places))
        linear = calibrate_predictions(part, learn_values(near, part, part.scores, seed).held_out, 2.0)
        remaining += float(np.trace(item_covariance(part, linear.residual, linear.parameters)))
        total += float(np.trace(item_covariance(part, difference_form(part).residual)))
    return float(np.clip(1.0 - _explained_share(remaining, total) / saving, 0.0, 1.0))


def _explained_share(remaining: float, total: float) -> float:
    return max(0.0, 1.0 - remaining / total) if total > 0 else 0.0


def _correlations(view: EvalSet, sample: JudgedSample, truth: str) -> tuple[Correlation, ...]:
    """Return the correlations of every metric with the judged scores, the best by differences first."""
    correlations = [
        correlation(scores[sample.rows], sample.scores, metric, truth)
        for metric, scores in view.metrics.items()
    ]
    return tuple(
        sorted(correlations, key=lambda row: (-(row.differences or 0.0), -(row.pooled or 0.0), row.metric))
    )


def _from_metric(data: EvalSet, metric: str, seed: int) -> Pilot:
    """Return a pilot in which a metric stands in for people; the other metrics are not used."""
    scores = data.metrics[metric]
    keys = rng.stream(data.keys, seed, "stand-in")
    judged = np.zeros(len(data), bool)
    judged[np.argsort(keys, kind="stable")[:_MOST_ITEMS]] = True
    sample = sample_from(data, np.where(judged[:, None], scores, np.nan), None)
    sample = replace(sample, notes=tuple(note for note in sample.notes if note != ASSUMED))
    raw = difference_form(sample)
    plain = item_covariance(sample, raw.residual)
    correlations = [row for row in _correlations(data, sample, metric) if row.metric != metric]
    return Pilot(
        data=data,
        truth=metric,
        stands_in=True,
        sample=sample,
        scores=plausible_scores(raw.scores(sample), np.zeros_like(plain)),
        spread=plain,
        residual_spread=plain,
        correlations=tuple(correlations),
        documents=document_effects(sample, raw.residual, plain),
        population_covariance=_population_covariance(sample, raw.residual, plain),
        notes=sample.notes,
    )


def _plan_without_data(values: Mapping[str, str]) -> str:
    """Return what plans without data."""
    return either(f"sparingly plan {arguments(values)}", f"sparingly.sample_size({arguments(values)})")
