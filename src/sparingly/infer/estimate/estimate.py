"""``estimate``: from the judged items to the scores of the whole set, with honest errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UnknownNameError
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.combine import truth_fields, truth_scale
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import Asked, Target, assemble
from sparingly.infer.estimate.base import Estimator, as_estimator
from sparingly.infer.estimate.drawn import frame_of, sample_from
from sparingly.infer.estimate.guard import Outcome
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.linear import Linear, part_of
from sparingly.infer.estimate.outside import estimator_for, items_outside, with_outside
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.estimate.same_outputs import RELATIVE, relative_to_models
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.scale import Scale, values_of
from sparingly.infer.estimate.signature import EstimateSignature

IMPORTANCE = "items count by their weights: scores are weighted means over the set."
NEVER = "the scores are without the items that could never be chosen."
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
    scale: Scale | None = None,
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
    asked = Asked(target, level, interval, _scale_of(data, selection, name, scale), seed)
    _check_groups(data, by)
    view = frame_of(data, selection, differences=True)
    scores = view.truth(name)
    if selection is not None and not selection.is_probability_sample:
        return _chosen_only(view, scores, selection, name, asked, _ignored(estimator, interval, scale, by))
    outside, told = items_outside(data, selection), without_truth(view, name)
    sample = with_outside(_judged_sample(view, scores, selection, scale), outside)
    method = _settled(estimator_for(estimator, outside, by), told, sample)
    linear = _noted(method.linear(sample, told, seed), sample, selection)
    whole = assemble(sample, linear, view.models, asked, aspect=name, estimator=str(method))
    used = _used(view, sample.rows, sample.scores)
    return replace(
        whole,
        n=whole.n - (0 if selection is None else len(selection.same_outputs)),
        groups={} if by is None else _groups(view, by, sample, linear, whole, asked),
        selection=selection,
        signature=_signature(view, selection, name, method, asked, by, used),
    )


def _scale_of(data: EvalSet, selection: Selection | None, aspect: str, scale: Scale | None) -> Scale | None:
    """Return the scale that was given, or that of the data; scores relative to each other have none."""
    if scale is not None or (selection is not None and selection.same_outputs):
        return scale
    return truth_scale(data, aspect)


def _check_groups(data: EvalSet, by: str | None) -> None:
    """Complain about a column of groups that is not there."""
    if by is not None and by not in data.columns:
        raise UnknownNameError("column", by, data.columns, "It is the column whose groups are estimated.")


def _judged_sample(view: EvalSet, scores: Floats, selection: Selection | None, scale: Scale | None) -> Sample:
    """Return the sample; where items with the same outputs were skipped, of scores relative to each other."""
    if selection is not None and selection.same_outputs:
        return sample_from(view, *relative_to_models(view, scores, selection, scale))
    return sample_from(view, scores, selection)


def _noted(linear: Linear, sample: Sample, selection: Selection | None) -> Linear:
    """Return the linear form with what is said of the frame in front of its own notes."""
    return replace(linear, notes=(*_frame_notes(sample, selection), *linear.notes))


def without_truth(data: EvalSet, aspect: str) -> EvalSet:
    """Return the set without the metric that is the truth: it must not predict itself."""
    own = set(truth_fields(data, aspect)) & {fields.metric(name) for name in data.metrics}
    return data.only(name for name in data.fields if name not in own) if own else data


def _ignored(
    estimator: str | Method | None, interval: Interval, scale: Scale | None, by: str | None
) -> tuple[str, ...]:
    """Say what was asked for that scores of the chosen items cannot have."""
    named = () if estimator is None else (f"estimator={as_estimator(estimator)}",)
    parts = (
        *(name for name in named if name != "estimator=mean"),
        *((f"interval={interval}",) if interval not in ("auto", "none") else ()),
        *(("scale",) if scale is not None else ()),
        *((f"by={by}",) if by is not None else ()),
    )
    return (f"{IGNORED}: {', '.join(parts)}.",) if parts else ()


def _settled(estimator: str | Method | None, data: EvalSet, sample: Sample) -> Estimator:
    """Return the estimator, or the one for what there is."""
    if estimator is not None:
        return as_estimator(estimator).resolve(data)
    from sparingly.signals.predict.columns import has_features

    if len(data.metrics) and has_features(data):
        return as_estimator("greg").resolve(data)
    return as_estimator("weighted_mean" if sample.stratum_of is None else "stratified_mean")


def _frame_notes(sample: Sample, selection: Selection | None) -> tuple[str, ...]:
    """Say where the scores are not plain means over the whole set."""
    never = selection is not None and bool(selection.never)
    skipped = 0 if selection is None else len(selection.same_outputs)
    return (
        *((RELATIVE.format(count=skipped),) if skipped else ()),
        *((IMPORTANCE,) if sample.weights is not None else ()),
        *((NEVER,) if never else ()),
    )


def _groups(
    data: EvalSet, by: str, sample: Sample, linear: Linear, whole: Estimate, asked: Asked
) -> Mapping[str, Estimate]:
    """Return the estimates of the groups of a column; a group without a judged item has none."""
    labels = np.array(["(none)" if value is None else f"{value}" for value in data.columns[by]])
    found: dict[str, Estimate] = {}
    for label in sorted(set(labels.tolist())):
        inside = labels == label
        if not inside[sample.rows].any():
            continue
        part, form = part_of(sample, linear, inside)
        found[label] = assemble(
            part, form, whole.models, asked, aspect=whole.aspect, estimator=whole.estimator
        )
    return found


def _chosen_only(
    data: EvalSet,
    scores: Floats,
    selection: Selection,
    aspect: str,
    asked: Asked,
    ignored: tuple[str, ...],
) -> Estimate:
    """Return the scores of the chosen items, which are no scores of the set."""
    rows = data.positions(selection.items)
    inside = scores[rows]
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight
    there = ~np.isnan(inside)
    if not there.any():
        raise DataError("No chosen item is judged, so there is nothing to estimate from.")
    total = (there * weights[:, None]).sum(axis=0)
    means = np.divide(
        (np.where(there, inside, 0.0) * weights[:, None]).sum(axis=0),
        total,
        out=np.full(len(total), np.nan),
        where=total > 0,
    )
    nothing = np.full(len(means), np.nan)
    return Estimate(
        models=data.models,
        scores=means + 0.0,
        standard_errors=nothing,
        low=nothing,
        high=nothing,
        intervals=("none",) * len(means),
        covariance=np.full((len(means), len(means)), np.nan),
        freedom=0.0,
        target=CHOSEN,
        level=asked.level,
        aspect=aspect,
        estimator="mean",
        n=int(there.any(axis=1).sum()),
        size=len(data),
        outcome=Outcome(withheld=len(means)),
        is_rate=values_of(inside[there], asked.scale).is_rate,
        notes=(RANKING_ONLY, *ignored),
        selection=selection,
        signature=replace(
            _signature(data, selection, aspect, as_estimator("mean"), asked, None, _used(data, rows, inside)),
            target=CHOSEN,
            interval="none",
            scale=None,
        ),
    )


@dataclass(frozen=True)
class _Used:
    """The judgements that were used: of how many items, and their digest."""

    n: int
    digest: str


def _used(data: EvalSet, rows: Ints, scores: Floats) -> _Used:
    order = np.argsort(rows, kind="stable")
    return _Used(len(rows), digest_scores(data.items[rows[order]], data.models, scores[order]))


def _signature(
    data: EvalSet,
    selection: Selection | None,
    aspect: str,
    method: Estimator,
    asked: Asked,
    by: str | None,
    used: _Used,
) -> EstimateSignature:
    told = {name for name in (fields.DOCUMENT, fields.WEIGHT, by) if name in data.columns}
    read = method.reads(without_truth(data, aspect)) | {fields.column(name) for name in told if name}
    return EstimateSignature(
        estimator=method.full_text,
        aspect=aspect,
        target=asked.target,
        level=asked.level,
        interval=asked.interval,
        scale=asked.scale,
        by=by,
        seed=asked.seed,
        n=used.n,
        of=len(data),
        inputs=data.digest(read),
        labels=used.digest,
        version=__version__,
        selection=None if selection is None else str(selection.signature),
    )
