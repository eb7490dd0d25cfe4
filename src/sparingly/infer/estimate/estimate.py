"""``estimate``: from the judged items to the scores of the whole set, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, ratio
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import EstimateRequest, Target, assemble
from sparingly.infer.estimate.bank import earlier_models
from sparingly.infer.estimate.estimators import Estimator, WeightedMean, as_estimator, guard_predictions
from sparingly.infer.estimate.intervals import Interval, IntervalOutcome
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate, EstimateSignature
from sparingly.infer.estimate.sample import (
    JudgedSample,
    difference_form,
    frame_of,
    nothing_judged,
    restrict_to,
    sample_from,
    sample_from_arrays,
    without_truth,
)
from sparingly.infer.estimate.scale import values_of
from sparingly.infer.estimate.widen import with_epoch_noise

IMPORTANCE = "items count by their weights: scores are weighted means over the set."
WITHOUT_NEVER = "the scores are without the items that could never be chosen."
IGNORED = "ignored, because they need inclusion probabilities"
OUTSIDE = (
    "the items were drawn from {size:,}, of which {here:,} are in the data: scores are of all {size:,}, by "
    "the probabilities of the draw alone."
)
RELATIVE = (
    "{count} items on which all models wrote the same were not judged, so scores of the set are unknown: "
    "these numbers are how far each model lies above the mean of all models, and only differences count."
)


def estimate(
    data: DataLike,
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
        data: The evaluation set (or its file, or a frame) with the judgements.
        selection: What was chosen to be judged. Without it the judged items are taken to be a uniform sample.
            One without inclusion probabilities gives the scores of the chosen items and no more, and says so.
            One drawn from more items than the data has, such as a pool, gives the scores of all of them.
        aspect: What was judged: an aspect (default: the only one), or ``sum:of=[fluency,adequacy]``.
        estimator: ``weighted_mean``, ``greg``, ``control_variate:metric=COMET`` … By default ``bank`` where a
            model was judged on far fewer items than others, else ``greg`` where there are metrics, else
            ``stratified_mean`` or ``weighted_mean``.
        target: What the scores are about: this ``set`` (without error when everything is judged once), or
            the ``population`` of inputs like these. Where outputs are repeated, scores are means over the
            epochs that could be run, and errors hold the noise between those that were (see ``epochs``).
        level: The level of the intervals.
        interval: ``auto`` (by sample size and skewness), ``t``, ``bootstrap``, ``none``, or, from the scale
            alone, ``betting``, ``hoeffding``, ``bernstein``.
        scale: The lowest and the highest possible score; default: that of the data.
        by: A column of the items: also estimate its groups.
        seed: The seed of folds and bootstrap.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", 120, seed=1)
        >>> found = sparingly.estimate(data, chosen, "mqm", estimator="weighted_mean")
        >>> found.n, found.size, found.target
        (120, 196, 'set')
    """
    data = as_evalset(data)
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects)
    skipped = 0 if selection is None else len(selection.same_outputs)
    # Scores relative to each other have no scale.
    ends = scale if scale is not None or skipped else data.truth_scale(name)
    request = EstimateRequest(target, level, interval, ends, seed)
    if by is not None and by not in data.columns:
        raise UnknownNameError("column", by, data.columns, "It is the column whose groups are estimated.")
    view = frame_of(data, selection, differences=True)
    scores = view.truth(name)
    if selection is not None and not selection.is_probability_sample:
        named = "mean" if estimator is None else str(as_estimator(estimator))
        ignored = (
            *((f"estimator={named}",) if named != "mean" else ()),
            *((f"interval={interval}",) if interval not in ("auto", "none") else ()),
            *(("scale",) if scale is not None else ()),
            *((f"by={by}",) if by is not None else ()),
        )
        notes = (f"{IGNORED}: {', '.join(ignored)}.",) if ignored else ()
        return _chosen_only(view, scores, selection, name, request, notes)
    outside, features = _items_outside(data, selection), without_truth(view, name)
    if selection is not None and skipped:
        sample = sample_from(view, *_relative_to_models(view, scores, selection, scale))
    else:
        sample = sample_from(view, scores, selection)
    if outside:
        sample, estimator = _with_outside(sample, outside, estimator, by)
    if estimator is None:
        estimator = _default_estimator(features, sample)
    method = as_estimator(estimator).resolve(features)
    linear = method.linear(sample, features, seed)
    frame_notes = (
        *((RELATIVE.format(count=skipped),) if skipped else ()),
        *((IMPORTANCE,) if sample.weights is not None else ()),
        *((WITHOUT_NEVER,) if selection is not None and selection.never else ()),
    )
    linear = replace(linear, notes=(*frame_notes, *linear.notes))
    whole_set = assemble(sample, linear, view.models, request, aspect=name, estimator=str(method))
    groups = {}
    if by is not None:
        labels = np.array(["(none)" if value is None else f"{value}" for value in view.columns[by]])
        for label in sorted(set(labels[sample.rows].tolist())):
            part = restrict_to(sample, linear, labels == label)
            groups[label] = assemble(*part, view.models, request, aspect=name, estimator=str(method))
    whole_set = replace(whole_set, n=whole_set.n - skipped, groups=groups)
    return replace(
        whole_set if skipped or outside else with_epoch_noise(whole_set, view),
        selection=selection,
        signature=_signature(view, selection, name, method, request, by, (sample.rows, sample.scores)),
    )


def _default_estimator(data: EvalSet, sample: JudgedSample) -> str:
    from sparingly.signals.predict.features import has_features

    if earlier_models(sample).any():
        return "bank"
    if len(data.metrics) and has_features(data):
        return "greg"
    return "weighted_mean" if sample.stratum_of is None else "stratified_mean"


def _signature(
    data: EvalSet,
    selection: Selection | None,
    aspect: str,
    method: Estimator,
    request: EstimateRequest,
    by: str | None,
    used: tuple[Ints, Floats],
) -> EstimateSignature:
    """Return the signature; ``used`` are the rows of the judgements that were used, and their scores."""
    columns = {name for name in (fields.DOCUMENT, fields.WEIGHT, by) if name in data.columns}
    repeats = {"repeats"} if request.target == "set" and len(data.repeats) else set()
    read = (
        {fields.column(name) for name in columns if name}
        | method.reads(without_truth(data, aspect))
        | repeats
    )
    rows, scores = used
    order = np.argsort(rows, kind="stable")
    return EstimateSignature(
        estimator=method.full_text,
        aspect=aspect,
        target=request.target,
        level=request.level,
        interval=request.interval,
        scale=request.scale,
        by=by,
        seed=request.seed,
        n=len(rows),
        of=len(data),
        inputs=data.digest(read),
        labels=digest_scores(data.items[rows[order]], data.models, scores[order]),
        version=__version__,
        selection=None if selection is None else str(selection.signature),
    )


# --- selections without inclusion probabilities ---


def _chosen_only(
    data: EvalSet,
    scores: Floats,
    selection: Selection,
    aspect: str,
    request: EstimateRequest,
    ignored: tuple[str, ...],
) -> Estimate:
    """Return the scores of the chosen items, which are not scores of the set."""
    rows = data.positions(selection.items)
    chosen = scores[rows]
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight
    judged = ~np.isnan(chosen)
    if not judged.any():
        raise DataError(nothing_judged("chosen item"))
    total = (judged * weights[:, None]).sum(axis=0)
    sums = (np.where(judged, chosen, 0.0) * weights[:, None]).sum(axis=0)
    missing = np.full(len(total), np.nan)
    signature = _signature(data, selection, aspect, as_estimator("mean"), request, None, (rows, chosen))
    return Estimate(
        models=data.models,
        scores=ratio(sums, total, np.nan) + 0.0,
        standard_errors=missing,
        low=missing,
        high=missing,
        intervals=("none",) * len(total),
        covariance=np.full((len(total), len(total)), np.nan),
        freedom=0.0,
        target=CHOSEN_ITEMS,
        level=request.level,
        aspect=aspect,
        estimator="mean",
        n=int(judged.any(axis=1).sum()),
        size=len(data),
        outcome=IntervalOutcome(withheld=len(total)),
        is_rate=values_of(chosen[judged], request.scale).is_rate,
        notes=(RANKING_ONLY, *ignored),
        selection=selection,
        signature=replace(signature, target=CHOSEN_ITEMS, interval="none", scale=None),
    )


# --- selections drawn from more items than the data has, such as a pool ---
# 2,000 of a million sources are drawn and answered: the data has 2,000 items, and the scores are about a
# million. A weighted mean needs only the inclusion probabilities of the other items.


def _items_outside(data: EvalSet, selection: Selection | None) -> int:
    """Return the number of items that the first draw was from and that are not in the data.

    Raise DataError for a draw from fewer items than the data has: the probabilities are not of this set.
    Raise UsageError for a later round on its own: items of earlier rounds could not be drawn in it.
    """
    if selection is None:
        return 0
    first = selection.signature
    if first.round is not None and first.round > 1:
        raise UsageError(
            f"This is round {first.round} of several, in which items of earlier rounds could not be drawn: "
            "it does not represent the set on its own. Estimate from the campaign."
        )
    while first.pool is not None:
        first = first.pool
    if first.of < len(data):
        raise DataError(
            f"The selection was drawn from {first.of} items, and this set has {len(data)}: "
            "scores can be estimated only of the set that it was drawn from."
        )
    return first.of - len(data)


def _with_outside(
    sample: JudgedSample, outside: int, estimator: str | Method | None, by: str | None
) -> tuple[JudgedSample, WeightedMean]:
    """Return a sample whose scores are also about the items that are not in the data, and its estimator.

    That is ``weighted_mean``, which needs nothing of these items; raise UsageError for what needs more.
    """
    if sample.weights is not None:
        raise UsageError(
            f"Items count by their weights, and {outside:,} of those drawn from are not in the data: "
            "add them, or leave out the weights."
        )
    if by is not None:
        raise UsageError(
            f"Groups cannot be estimated: {outside:,} of the items that were drawn from are not in the data."
        )
    method = as_estimator("weighted_mean" if estimator is None else estimator)
    if not isinstance(method, WeightedMean):
        raise UsageError(
            f"{method.name} needs all items that were drawn from, and {outside:,} of them are not in the "
            "data: use weighted_mean, or add them."
        )
    size = sample.size + outside
    notes = (*sample.notes, OUTSIDE.format(size=size, here=sample.size))
    return replace(sample, size=size, notes=notes), method


# --- selections that skipped items with the same outputs ---
# All models have the same score on a skipped item, whatever it is: relative to the item's mean over the
# models it is 0, and that is known without judging. So scores are relative to the mean of the models, over
# all N items, and the skipped ones are known for certain (π = 1).


def _relative_to_models(
    data: EvalSet, scores: Floats, selection: Selection, scale: Ends | None
) -> tuple[Floats, Selection]:
    """Return scores less their items' means, and the selection with the skipped items as certain rows."""
    if scale is not None:
        raise UsageError("The selection skipped items with the same outputs: leave out the scale.")
    if selection.models is not None and any(names is not None for names in selection.models):
        raise UsageError(
            "The selection skipped items with the same outputs, and not all models are to be judged on the "
            "others: differences cannot be estimated."
        )
    judged = ~np.isnan(scores[data.positions(selection.items)])
    if (judged.any(axis=1) & ~judged.all(axis=1)).any():
        raise DataError(
            "The selection skipped items with the same outputs, so on the others all models must be judged, "
            "and on some items only a part of them is."
        )
    relative = scores - scores.mean(axis=1, keepdims=True)
    relative[data.positions(selection.same_outputs)] = 0.0
    skipped = np.array(selection.same_outputs, object)

    def extended(column: Any, values: Any) -> Any:
        return None if column is None else np.concatenate([column, values])

    certain = np.ones(len(skipped))
    absent = ("models", "utility", "cost", "context", "reasons", "cluster_weight", "unknown_in_rows")
    nothing: dict[str, Any] = dict.fromkeys(absent)
    return relative, replace(
        selection,
        items=np.concatenate([selection.items, skipped]),
        probability=extended(selection.probability, certain),
        pool_probability=extended(selection.pool_probability, certain),
        unit=extended(selection.unit, skipped),
        stratum=extended(selection.stratum, skipped),
        **nothing,
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
        probability: The inclusion probability: one number, one per row, or rows × models; uniform by default.
        size: The number of items in the set; default: the number of rows.
        predictions: Predictions of the scores of *all* items × models, learned from other data or
            cross-fitted; the rows of ``scores`` must then be all items.
        guard: Whether predictions are shrunk, or not used, where few items are judged.
        models: The names of the models.
        target: This ``set``, or the ``population`` of inputs like these.
        level: The level of the intervals.
        interval: Their kind (see ``estimate``).
        scale: The lowest and the highest possible score.
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
        linear, estimator = difference_form(sample), "weighted mean"
    else:
        predicted, estimator = np.asarray(predictions, np.float64), "difference from predictions"
        predicted = predicted[:, None] if predicted.ndim == 1 else predicted
        if predicted.shape != (sample.size, sample.models) or np.shape(scores)[0] != sample.size:
            raise UsageError(
                f"Predictions are of all {sample.size} items × {sample.models} models, and so must the "
                "scores be (NaN where not judged)."
            )
        if np.isnan(predicted).any():
            raise UsageError("Predictions are needed for every item and model; some are missing.")
        linear = guard_predictions(sample, predicted, 2.0) if guard else difference_form(sample, predicted)
    return assemble(sample, linear, names, request, aspect="score", estimator=estimator)
