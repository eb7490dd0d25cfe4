"""``estimate``: from the judged items to the scores of the whole set, with honest errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.scale import Ends
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import EstimateRequest, Target, assemble
from sparingly.infer.estimate.draw import frame_of, sample_from
from sparingly.infer.estimate.estimators import Estimator, WeightedMean, as_estimator
from sparingly.infer.estimate.intervals import Interval, IntervalOutcome
from sparingly.infer.estimate.predictions import guard_predictions
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate, EstimateSignature
from sparingly.infer.estimate.sample import (
    JudgedSample,
    LinearForm,
    difference_form,
    restrict_to,
    sample_from_arrays,
)
from sparingly.infer.estimate.scale import values_of

# --- selections drawn from more items than the data has, such as a pool ---
# Whoever draws 2,000 of a million sources and lets models answer those has data on 2,000 items, and scores
# that speak of a million. One over the chances of both draws is all that a weighted mean needs of the
# others.


NOTE = (
    "the items were drawn from {size:,}, of which {here:,} are in the data: scores are of all {size:,}, by "
    "the chances of the draw alone."
)


def items_outside(data: EvalSet, selection: Selection | None) -> int:
    """Return how many items the first draw had to choose from that are not in the data.

    Fewer items than there are now is an error: the chances are not of this set. So is a later round on its
    own: what the rounds before it asked for could not be drawn in it.
    """
    if selection is None:
        return 0
    first = selection.signature
    if first.round is not None and first.round > 1:
        raise UsageError(
            f"This is round {first.round} of several, in which items of earlier rounds could not be drawn: "
            "it does not speak for the set on its own. Estimate from the campaign."
        )
    while first.pool is not None:
        first = first.pool
    if first.of < len(data):
        raise DataError(
            f"The selection was drawn from {first.of} items, and this set has {len(data)}: "
            "scores can be estimated only of the set that it was drawn from."
        )
    return first.of - len(data)


def estimator_for(estimator: str | Method | None, outside: int, by: str | None) -> str | Method | None:
    """Return the estimator; where items are missing, the one that needs nothing of them."""
    if not outside:
        return estimator
    if by is not None:
        raise UsageError(
            f"Groups cannot be estimated: {outside:,} of the items that were drawn from are not in the data."
        )
    method: Estimator = as_estimator("weighted_mean" if estimator is None else estimator)
    if not isinstance(method, WeightedMean):
        raise UsageError(
            f"{method.name} needs all items that were drawn from, and {outside:,} of them are not in the "
            "data: use weighted_mean, or add them."
        )
    return method


def with_outside(sample: JudgedSample, outside: int) -> JudgedSample:
    """Return a sample whose scores also speak of the items that are not in the data."""
    if not outside:
        return sample
    if sample.weights is not None:
        raise UsageError(
            f"Items count by their weights, and {outside:,} of those that were drawn from are not in the "
            "data."
        )
    size = sample.size + outside
    return replace(sample, size=size, notes=(*sample.notes, NOTE.format(size=size, here=sample.size)))


# --- selections that skipped items with the same outputs ---
# On a skipped item every model has one and the same score, whatever it is. Less the item's mean over the
# models it is 0 for all of them, and that is known without judging: so scores are taken relative to the
# mean of the models, over all N items, the skipped ones being known for certain (π = 1).


RELATIVE = (
    "{count} items on which all models wrote the same were not judged, so scores of the set cannot be told: "
    "these numbers are how far each model lies above the mean of all models, and only differences count."
)


def relative_to_models(
    data: EvalSet, scores: Floats, selection: Selection, scale: Ends | None
) -> tuple[Floats, Selection]:
    """Return scores less their items' means, and the selection with the skipped items as known ones.

    Args:
        data: The items that the selection speaks about, with the skipped ones.
        scores: items × models.
        selection: What was chosen, with the ids of what was skipped.
        scale: The scale that was asked for: relative scores have none.
    """
    if scale is not None:
        raise UsageError("The selection skipped items with the same outputs: leave out the scale.")
    if selection.models is not None and any(names is not None for names in selection.models):
        raise UsageError(
            "The selection skipped items with the same outputs, and not all models are to be judged on the "
            "others: differences cannot be told."
        )
    chosen, skipped = data.positions(selection.items), data.positions(selection.same_outputs)
    judged = ~np.isnan(scores[chosen])
    if (judged.any(axis=1) & ~judged.all(axis=1)).any():
        raise DataError(
            "The selection skipped items with the same outputs, so on the others all models must be judged, "
            "and on some items only a part of them is."
        )
    relative = scores - scores.mean(axis=1, keepdims=True)
    relative[skipped] = 0.0
    return relative, _with_skipped_items(selection)


def _with_skipped_items(selection: Selection) -> Selection:
    """Return the selection with the skipped items as rows that were sure to be there."""
    skipped, count = np.array(selection.same_outputs, object), len(selection.same_outputs)

    def longer(column: Any, values: Any) -> Any:
        return None if column is None else np.concatenate([column, values])

    certain = np.ones(count)
    own_groups: Objects = skipped
    return replace(
        selection,
        items=np.concatenate([selection.items, skipped]),
        probability=longer(selection.probability, certain),
        pool_probability=longer(selection.pool_probability, certain),
        unit=longer(selection.unit, own_groups),
        stratum=longer(selection.stratum, own_groups),
        models=None,
        utility=None,
        cost=None,
        context=None,
        reasons=None,
        cluster_weight=None,
        unknown_in_rows=None,
    )


# --- estimate ---


IMPORTANCE = "items count by their weights: scores are weighted means over the set."
WITHOUT_NEVER = "the scores are without the items that could never be chosen."
IGNORED = "ignored, because they need inclusion probabilities"


def estimate(
    data: EvalSet,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    estimator: str | Method | None = None,
    target: Target = "set",
    level: float = 0.95,
    interval: Interval = "auto",
    scale: Ends | None = None,
    by: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate the models' scores over the whole set from the items that were judged.

    Args:
        data: The evaluation set with the judgements.
        selection: What was chosen to be judged. Without it the judged items are taken for a uniform sample.
            One without inclusion probabilities gives the scores of the chosen items and no more, and says so.
            One drawn from more items than the data has, such as a pool, gives the scores of all of them.
        aspect: What was judged: an aspect (the only one unless given), or ``sum:of=[fluency,adequacy]``.
        estimator: ``weighted_mean``, ``greg``, ``control_variate:metric=COMET`` … By default ``greg`` where
            there are metrics, else ``stratified_mean`` or ``weighted_mean``.
        target: What the scores speak about: this ``set`` (no error is left when everything is judged), or
            the ``population`` of inputs like these.
        level: How often intervals are to hold the truth.
        interval: ``auto`` (by sample size and skewness), ``t``, ``bootstrap``, ``none``, or, from the scale
            alone, ``betting``, ``hoeffding``, ``bernstein``.
        scale: The lowest and the highest score that there can be; what the data tells of it unless given.
        by: A column of the items: also estimate its groups.
        seed: The seed of folds and bootstrap.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", 120, seed=1)
        >>> found = sparingly.estimate(data, chosen, "overall", estimator="weighted_mean")
        >>> found.n, found.size, found.target
        (120, 240, 'set')
    """
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects, "Name one: aspect=….")
    request = EstimateRequest(target, level, interval, _scale(data, selection, name, scale), seed)
    _check_groups(data, by)
    view = frame_of(data, selection, differences=True)
    scores = view.truth(name)
    if selection is not None and not selection.is_probability_sample:
        return _chosen_only(
            view, scores, selection, name, request, _ignored_options(estimator, interval, scale, by)
        )
    outside, features = items_outside(data, selection), without_truth(view, name)
    sample = with_outside(_judged_sample(view, scores, selection, scale), outside)
    method = _resolve_estimator(estimator_for(estimator, outside, by), features, sample)
    linear = _with_frame_notes(method.linear(sample, features, seed), sample, selection)
    whole_set = assemble(sample, linear, view.models, request, aspect=name, estimator=str(method))
    labels = _used_labels(view, sample.rows, sample.scores)
    return replace(
        whole_set,
        n=whole_set.n - (0 if selection is None else len(selection.same_outputs)),
        groups={} if by is None else _group_estimates(view, by, sample, linear, whole_set, request),
        selection=selection,
        signature=_signature(view, selection, name, method, request, by, labels),
    )


def _scale(data: EvalSet, selection: Selection | None, aspect: str, scale: Ends | None) -> Ends | None:
    """Return the scale that was given, or that of the data; scores relative to each other have none."""
    if scale is not None or (selection is not None and selection.same_outputs):
        return scale
    return data.truth_scale(aspect)


def _check_groups(data: EvalSet, by: str | None) -> None:
    """Complain about a column of groups that is not there."""
    if by is not None and by not in data.columns:
        raise UnknownNameError("column", by, data.columns, "It is the column whose groups are estimated.")


def _judged_sample(
    view: EvalSet, scores: Floats, selection: Selection | None, scale: Ends | None
) -> JudgedSample:
    """Return the sample; where items with the same outputs were skipped, of scores relative to each other."""
    if selection is not None and selection.same_outputs:
        return sample_from(view, *relative_to_models(view, scores, selection, scale))
    return sample_from(view, scores, selection)


def _with_frame_notes(linear: LinearForm, sample: JudgedSample, selection: Selection | None) -> LinearForm:
    """Return the linear form with what is said of the frame in front of its own notes."""
    return replace(linear, notes=(*_frame_notes(sample, selection), *linear.notes))


def without_truth(data: EvalSet, aspect: str) -> EvalSet:
    """Return the set without the metric that is the truth: it must not predict itself."""
    truth_metrics = set(data.truth_fields(aspect)) & {fields.metric(name) for name in data.metrics}
    return data.only(name for name in data.fields if name not in truth_metrics) if truth_metrics else data


def _ignored_options(
    estimator: str | Method | None, interval: Interval, scale: Ends | None, by: str | None
) -> tuple[str, ...]:
    """Say what was asked for that scores of the chosen items cannot have."""
    estimators = () if estimator is None else (f"estimator={as_estimator(estimator)}",)
    parts = (
        *(name for name in estimators if name != "estimator=mean"),
        *((f"interval={interval}",) if interval not in ("auto", "none") else ()),
        *(("scale",) if scale is not None else ()),
        *((f"by={by}",) if by is not None else ()),
    )
    return (f"{IGNORED}: {', '.join(parts)}.",) if parts else ()


def _resolve_estimator(estimator: str | Method | None, data: EvalSet, sample: JudgedSample) -> Estimator:
    """Return the estimator, or the one for what there is."""
    if estimator is not None:
        return as_estimator(estimator).resolve(data)
    from sparingly.signals.predict.features import has_features

    if len(data.metrics) and has_features(data):
        return as_estimator("greg").resolve(data)
    return as_estimator("weighted_mean" if sample.stratum_of is None else "stratified_mean")


def _frame_notes(sample: JudgedSample, selection: Selection | None) -> tuple[str, ...]:
    """Say where the scores are not plain means over the whole set."""
    never = selection is not None and bool(selection.never)
    skipped = 0 if selection is None else len(selection.same_outputs)
    return (
        *((RELATIVE.format(count=skipped),) if skipped else ()),
        *((IMPORTANCE,) if sample.weights is not None else ()),
        *((WITHOUT_NEVER,) if never else ()),
    )


def _group_estimates(
    data: EvalSet,
    by: str,
    sample: JudgedSample,
    linear: LinearForm,
    estimate: Estimate,
    request: EstimateRequest,
) -> Mapping[str, Estimate]:
    """Return the estimates of the groups of a column; a group without a judged item has none."""
    labels = np.array(["(none)" if value is None else f"{value}" for value in data.columns[by]])
    estimates: dict[str, Estimate] = {}
    for label in sorted(set(labels.tolist())):
        inside = labels == label
        if not inside[sample.rows].any():
            continue
        part, form = restrict_to(sample, linear, inside)
        estimates[label] = assemble(
            part, form, estimate.models, request, aspect=estimate.aspect, estimator=estimate.estimator
        )
    return estimates


def _chosen_only(
    data: EvalSet,
    scores: Floats,
    selection: Selection,
    aspect: str,
    request: EstimateRequest,
    ignored: tuple[str, ...],
) -> Estimate:
    """Return the scores of the chosen items, which are no scores of the set."""
    rows = data.positions(selection.items)
    chosen = scores[rows]
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight
    judged = ~np.isnan(chosen)
    if not judged.any():
        raise DataError("No chosen item is judged, so there is nothing to estimate from.")
    total = (judged * weights[:, None]).sum(axis=0)
    means = np.divide(
        (np.where(judged, chosen, 0.0) * weights[:, None]).sum(axis=0),
        total,
        out=np.full(len(total), np.nan),
        where=total > 0,
    )
    missing = np.full(len(means), np.nan)
    return Estimate(
        models=data.models,
        scores=means + 0.0,
        standard_errors=missing,
        low=missing,
        high=missing,
        intervals=("none",) * len(means),
        covariance=np.full((len(means), len(means)), np.nan),
        freedom=0.0,
        target=CHOSEN_ITEMS,
        level=request.level,
        aspect=aspect,
        estimator="mean",
        n=int(judged.any(axis=1).sum()),
        size=len(data),
        outcome=IntervalOutcome(withheld=len(means)),
        is_rate=values_of(chosen[judged], request.scale).is_rate,
        notes=(RANKING_ONLY, *ignored),
        selection=selection,
        signature=replace(
            _signature(
                data, selection, aspect, as_estimator("mean"), request, None, _used_labels(data, rows, chosen)
            ),
            target=CHOSEN_ITEMS,
            interval="none",
            scale=None,
        ),
    )


@dataclass(frozen=True)
class _UsedLabels:
    """The judgements that were used: of how many items, and their digest."""

    n: int
    digest: str


def _used_labels(data: EvalSet, rows: Ints, scores: Floats) -> _UsedLabels:
    order = np.argsort(rows, kind="stable")
    return _UsedLabels(len(rows), digest_scores(data.items[rows[order]], data.models, scores[order]))


def _signature(
    data: EvalSet,
    selection: Selection | None,
    aspect: str,
    method: Estimator,
    request: EstimateRequest,
    by: str | None,
    labels: _UsedLabels,
) -> EstimateSignature:
    columns = {name for name in (fields.DOCUMENT, fields.WEIGHT, by) if name in data.columns}
    fields_read = method.reads(without_truth(data, aspect)) | {
        fields.column(name) for name in columns if name
    }
    return EstimateSignature(
        estimator=method.full_text,
        aspect=aspect,
        target=request.target,
        level=request.level,
        interval=request.interval,
        scale=request.scale,
        by=by,
        seed=request.seed,
        n=labels.n,
        of=len(data),
        inputs=data.digest(fields_read),
        labels=labels.digest,
        version=__version__,
        selection=None if selection is None else str(selection.signature),
    )


# --- the same from plain arrays ---


def estimate_scores(
    scores: Any,
    probability: Any = None,
    size: int | None = None,
    *,
    predictions: Any = None,
    guard: bool = True,
    models: Sequence[str] | None = None,
    target: Target = "set",
    level: float = 0.95,
    interval: Interval = "auto",
    scale: Ends | None = None,
    seed: int = 0,
    **drawn: Any,
) -> Estimate:
    """Estimate scores of a whole set from plain arrays: the weighted mean, or corrected predictions.

    Args:
        scores: items × models, NaN where not judged: the judged items (then give ``size``), or all items.
        probability: The chance to be judged: one number, one per row, or rows × models. Uniform unless given.
        size: The number of items in the set; the number of rows unless given.
        predictions: Predictions of the scores of *all* items × models, learned from other data or
            cross-fitted; the rows of ``scores`` must then be all items.
        guard: Whether predictions are shrunk, or not used, where few items are judged.
        models: The names of the models.
        target: This ``set``, or the ``population`` of inputs like these.
        level: The level of the intervals.
        interval: Their kind (see ``estimate``).
        scale: The lowest and the highest score that there can be.
        seed: The seed of the bootstrap.
        drawn: How rows were drawn: ``strata``, ``units`` (such as documents), ``coordinates`` (rows ×
            dimensions, of a spread draw), ``balance`` (rows × variables); and of all items ``weights``
            (importance) and ``documents`` (for the target ``population``).

    Examples:
        >>> import numpy, sparingly
        >>> scores = numpy.arange(200.0).reshape(100, 2)
        >>> found = sparingly.estimate_scores(scores, size=400)
        >>> found.scores, found.standard_errors.round(3)
        (array([ 99., 100.]), array([5.025, 5.025]))
    """
    request = EstimateRequest(target, level, interval, scale, seed)
    sample = sample_from_arrays(scores, probability, size, **drawn)
    names = [f"model {place}" for place in range(sample.models)] if models is None else list(models)
    if len(names) != sample.models:
        raise UsageError(f"There are {sample.models} models but {len(names)} names.")
    if predictions is None:
        return assemble(
            sample, difference_form(sample), names, request, aspect="score", estimator="weighted mean"
        )
    linear = _with_predictions(sample, np.asarray(predictions, np.float64), guard, np.shape(scores)[0])
    return assemble(sample, linear, names, request, aspect="score", estimator="difference from predictions")


def _with_predictions(sample: JudgedSample, predictions: Floats, guard: bool, rows: int) -> LinearForm:
    predicted = predictions[:, None] if predictions.ndim == 1 else predictions
    if predicted.shape != (sample.size, sample.models) or rows != sample.size:
        raise UsageError(
            f"Predictions are of all {sample.size} items × {sample.models} models, and so must the scores be "
            "(NaN where not judged)."
        )
    if np.isnan(predicted).any():
        raise UsageError("Predictions are needed for every item and model; some are missing.")
    if not guard:
        return difference_form(sample, predicted)
    guarded = guard_predictions(sample, predicted)
    linear = difference_form(sample, guarded.predicted, parameters=2.0)
    return replace(linear, fallen_back=guarded.fallen_back, notes=guarded.notes())
