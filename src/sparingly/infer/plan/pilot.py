"""What is known before the budget is spent: from the ratings of a pilot, or from the metrics alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.format import counted
from sparingly.data import fields
from sparingly.data.combine import truth_fields, truth_scale
from sparingly.data.describe.correlations import Correlation, correlation
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import Selection
from sparingly.infer.estimate.drawn import ASSUMED, frame_of, sample_from
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.scale import Values, values_of
from sparingly.infer.estimate.small_sample import FEWEST, calibrated
from sparingly.infer.estimate.variance import set_errors
from sparingly.infer.plan.learn import learned_from
from sparingly.infer.plan.plausible import plausible_scores
from sparingly.infer.plan.spread import Documents, documents_of, pair_total, spread_of
from sparingly.infer.plan.unequal import Unequal, unequal_chances
from sparingly.signals.predict.columns import has_features

LEAST = 10
# A metric that stands in for people is looked at on so many items, and chosen on so many.
_MOST_ITEMS, _TO_CHOOSE_ON = 4000, 1000
_MOST_TRIED = 5
# In so many parts of a pilot it is tried what 30 items would have taught.
_PARTS_LEARNED = 4
DOCUMENTS_UNKNOWN = (
    "how alike the items of a document are is unknown (too few judged together): differences on inputs like "
    "these may need more items."
)
TOO_SMALL = f"with fewer than {FEWEST} judged items, what the metrics would save is unknown."


@dataclass(frozen=True)
class Saving:
    """The share of the variance that predictions from the metrics explain, cross-fitted.

    Attributes:
        scores: Of the models' scores: so much fewer items give the same interval.
        differences: Of differences between models, which is what a ranking depends on.
        correlation: Of predictions and scores over all outputs, model means taken out.
        within: The mean over items of their correlation across models.
    """

    scores: float
    differences: float
    correlation: float
    within: float


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known of the scores and of their spread.

    Attributes:
        data: The items that the plan speaks about.
        truth: What is planned for: an aspect, or the metric that stands in for people.
        stands_in: Whether a metric stands in.
        sample: What was judged.
        scores: draws × models: what the true scores may be.
        plain: models × models: the spread of the scores over the items.
        left: The spread of what predictions leave; as ``plain`` where there are none.
        predicted: items × models: what was learned from the metrics; None where nothing was.
        lost: Of the variance that predictions explain, the share that they lose when learned from 30 items.
        correlations: Of every metric with what was judged, the best by differences first.
        saving: What predictions save; None where it cannot be told.
        unequal: What unequal probabilities would do; None where it cannot be told.
        documents: What drawing whole documents would do; None where it cannot be told.
        beyond: models × models: what scores of inputs like these vary beyond those of this set, S/N with the
            design effect of documents.
        notes: What to mind.
    """

    data: EvalSet
    truth: str
    stands_in: bool
    sample: Sample
    scores: Floats
    plain: Floats
    left: Floats
    predicted: Floats | None
    lost: float
    correlations: tuple[Correlation, ...]
    saving: Saving | None
    unequal: Unequal | None
    documents: Documents | None
    beyond: Floats
    notes: tuple[str, ...]

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
    def values(self) -> Values:
        """What is known of the values that scores can take, as ``estimate`` will see them."""
        judged = self.sample.scores[self.sample.judged]
        return values_of(judged, truth_scale(self.data, self.truth))


def pilot_of(
    data: EvalSet, selection: Selection | None, aspect: str | None, *, for_differences: bool, seed: int
) -> Pilot:
    """Return what is known: by the ratings of an aspect, or by a metric where no aspect is there."""
    if not len(data.models):
        raise MissingDataError("A plan needs models and their scores, and the evaluation set has none.")
    if aspect is None and not len(data.aspects):
        return _from_metric(data, _most_typical(data), seed)
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects, "Name one: aspect=….")
    read = truth_fields(data, name)
    if all(field in map(fields.metric, data.metrics) for field in read):
        return _from_metric(data, next(m for m in data.metrics if fields.metric(m) in read), seed)
    if selection is not None and not selection.is_probability_sample:
        raise UsageError(
            "The top of a list is no pilot: it does not tell how the other items vary. Draw one with uniform."
        )
    view, notes = _judged_models(frame_of(data, selection), name)
    sample = sample_from(view, view.truth(name), selection)
    if len(sample.rows) < LEAST:
        raise DataError(
            f"A pilot of {counted(len(sample.rows), 'judged item')} tells too little; judge at least {LEAST}."
        )
    found = _known(view, name, sample, for_differences, seed)
    return replace(found, notes=(*found.notes, *notes))


def _judged_models(view: EvalSet, name: str) -> tuple[EvalSet, tuple[str, ...]]:
    """Return the view with the models that were judged at all, and a note on the others."""
    there = np.asarray(~np.isnan(view.truth(name)).all(axis=0))
    if there.all() or not there.any():
        return view, ()
    kept = [model for model, judged in zip(view.models, there, strict=True) if judged]
    left_out = len(view.models) - len(kept)
    return view.take(models=kept), (
        f"{left_out} of {len(view.models)} models {'was' if left_out == 1 else 'were'} not judged: left out.",
    )


def pilot_without(pilot: Pilot, metric: str, for_differences: bool, seed: int) -> Pilot:
    """Return what would be known if a metric were not there."""
    view = pilot.data.only(name for name in pilot.data.fields if name != fields.metric(metric))
    return _known(view, pilot.truth, pilot.sample, for_differences, seed)


def _known(view: EvalSet, name: str, sample: Sample, for_differences: bool, seed: int) -> Pilot:
    """Return what a pilot's ratings tell."""
    raw = difference_form(sample)
    plain = spread_of(sample, raw.residual)
    if not plain.any():
        raise DataError(_all_equal(sample))
    # An estimate learns from texts only where there are metrics, too.
    features = len(view.metrics) > 0 and has_features(view)
    can = features and sample.fewest_units >= FEWEST
    metrics = _correlations(view, sample, name)
    learned, saving, unequal = raw, None, None
    if can:
        learned, saving = _learned(view, sample, plain, seed)
        unequal = unequal_chances(
            view,
            sample,
            learned.residual,
            metrics=[one.metric for one in metrics[:_MOST_TRIED]],
            within=saving.within,
            for_differences=for_differences,
            seed=seed,
        )
    left = spread_of(sample, learned.residual, learned.parameters) if can else plain
    errors = set_errors(sample, learned).covariance
    documents = documents_of(sample, learned.residual, left)
    notes = (
        *sample.notes,
        *((TOO_SMALL,) if features and not can else ()),
        *((DOCUMENTS_UNKNOWN,) if sample.document is not None and documents is None else ()),
    )
    return Pilot(
        data=view,
        truth=name,
        stands_in=False,
        sample=sample,
        scores=plausible_scores(learned.scores(sample), errors, seed=seed),
        plain=plain,
        left=left,
        predicted=learned.predicted,
        lost=0.0 if saving is None else _lost(view, sample, saving.scores, seed),
        correlations=metrics,
        saving=saving,
        unequal=unequal,
        documents=documents,
        beyond=_beyond(sample, raw.residual, plain),
        notes=notes,
    )


def _all_equal(sample: Sample) -> str:
    """Say that the spread of scores is unknown, and what to do: another question for each kind of score."""
    scores = sample.scores[sample.judged]
    equal = "Every model has the same score on all its judged items, so how far scores vary is unknown."
    if np.isin(scores, (0.0, 1.0)).all():
        rate = f"{np.clip(scores.mean(), 0.01, 0.99):.0%}"
        return f"{equal} Plan a pass rate without these labels: --pass-rate {rate} --width 1%."
    if sample.models > 1:
        return f"{equal} Judge more items, or plan without data: --detect 0.3sd --models {sample.models}."
    return f"{equal} Judge more items."


def _beyond(sample: Sample, residual: Floats, plain: Floats) -> Floats:
    """Return the variance of the whole set's scores as those of one sample of inputs like these."""
    documents = documents_of(sample, residual, plain)
    return (plain if documents is None else documents.raised(plain)) / sample.size


def _learned(view: EvalSet, sample: Sample, plain: Floats, seed: int) -> tuple[Linear, Saving]:
    """Return the linear form of ``greg``, and what it saves."""
    told = learned_from(view, sample, sample.scores, seed)
    kept = calibrated(sample, told.held_out)
    linear = difference_form(sample, kept.predicted, parameters=2.0)
    left = spread_of(sample, linear.residual, linear.parameters)
    return linear, Saving(
        scores=_saved(float(np.trace(left)), float(np.trace(plain))),
        differences=_saved(pair_total(left), pair_total(plain)),
        correlation=told.correlation,
        within=told.within,
    )


def _lost(view: EvalSet, sample: Sample, saving: float, seed: int) -> float:
    """Return the share of what predictions explain that is lost when they are learned from 30 items only.

    Tried on a few parts of the pilot; none where it is hardly larger than a part.
    """
    count = len(sample.rows)
    if count < 1.5 * FEWEST or saving <= 0:
        return 0.0
    near = view.at(sample.rows)
    whole = replace(sample, rows=np.arange(count), size=count, weights=None, document=None, stratum_of=None)
    order = np.argsort(rng.stream(near.keys, seed, "parts"), kind="stable")
    parts = [order[start : start + FEWEST] for start in range(0, count - FEWEST + 1, FEWEST)][:_PARTS_LEARNED]
    left = before = 0.0
    for places in parts:
        part = whole.at(np.sort(places))
        told = calibrated(part, learned_from(near, part, part.scores, seed).held_out)
        missed = difference_form(part, told.predicted, parameters=2.0)
        left += float(np.trace(spread_of(part, missed.residual, missed.parameters)))
        before += float(np.trace(spread_of(part, difference_form(part).residual)))
    return float(np.clip(1.0 - _saved(left, before) / saving, 0.0, 1.0))


def _saved(left: float, plain: float) -> float:
    return max(0.0, 1.0 - left / plain) if plain > 0 else 0.0


def _correlations(view: EvalSet, sample: Sample, truth: str) -> tuple[Correlation, ...]:
    """Return the correlations of every metric with the judged scores, the best by differences first."""
    found = [
        correlation(scores[sample.rows], sample.scores, metric, truth)
        for metric, scores in view.metrics.items()
    ]
    return tuple(sorted(found, key=lambda one: (-(one.differences or 0.0), -(one.pooled or 0.0), one.metric)))


def _from_metric(data: EvalSet, metric: str, seed: int) -> Pilot:
    """Return what a metric tells that stands in for people; nothing is learned from the other metrics."""
    scores = data.metrics[metric]
    keys = rng.stream(data.keys, seed, "stand-in")
    judged = np.zeros(len(data), bool)
    judged[np.argsort(keys, kind="stable")[:_MOST_ITEMS]] = True
    sample = sample_from(data, np.where(judged[:, None], scores, np.nan), None)
    sample = replace(sample, notes=tuple(note for note in sample.notes if note != ASSUMED))
    raw = difference_form(sample)
    plain = spread_of(sample, raw.residual)
    others = [one for one in _correlations(data, sample, metric) if one.metric != metric]
    return Pilot(
        data=data,
        truth=metric,
        stands_in=True,
        sample=sample,
        scores=plausible_scores(raw.scores(sample), np.zeros_like(plain)),
        plain=plain,
        left=plain,
        predicted=None,
        lost=0.0,
        correlations=tuple(others),
        saving=None,
        unequal=None,
        documents=documents_of(sample, raw.residual, plain),
        beyond=_beyond(sample, raw.residual, plain),
        notes=sample.notes,
    )


def _most_typical(data: EvalSet) -> str:
    """Return the metric whose differences between models agree most with those of the other metrics."""
    names = sorted(data.metrics)
    if not names:
        raise MissingDataError(
            "A plan needs a pilot's ratings or metrics, and the set has neither. Judge a few items first, or "
            "plan without data: --pass-rate 90% --width 4%."
        )
    rows = np.argsort(data.keys, kind="stable")[:_TO_CHOOSE_ON]
    scores = [data.metrics[name][rows] for name in names]
    agreement = np.zeros(len(names))
    for first in range(len(names)):
        for second in range(first):
            shared = correlation(scores[first], scores[second]).differences or 0.0
            agreement[[first, second]] += shared
    return names[int(np.argmax(agreement))]
