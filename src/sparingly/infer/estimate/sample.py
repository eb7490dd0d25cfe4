"""What was judged: a sample of items, and scores in linear form over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask, Objects, ratio
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method, parse_method
from sparingly.base.syntax import either
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.documents import Documents, Snippets
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.choose.design.selector import ListSelector
from sparingly.choose.design.stratified import Stratified, Verdicts
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature
from sparingly.data.store import checked_weights

# What a sample has of every row.
_BY_ROW = (
    *("rows", "scores", "probability", "draw", "unit", "stratum", "pool", "pool_unit"),
    *("coordinates", "balance", "unit_by_model", "response_rate"),
)


def nothing_judged(what: str) -> str:
    """Say that there are no labels, and how to get some."""
    return (
        f"No {what} is judged, so there is nothing to estimate from: collect labels with sparingly serve, or "
        f"read them with {either('--labels FILE', 'sparingly.load(path, labels=file)')}."
    )


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """The judged items of a set of ``size`` items, with the probability of every judgement.

    Rows stand in the order of the items' ids. Codes are whole numbers from 0.
    """

    rows: Ints  # where the judged items stand among all of them
    scores: Floats  # items × models, NaN where a model was not judged on an item
    # items × models: the probability that the item was drawn *and* the model judged on it.
    probability: Floats
    size: int  # the number N of items that the scores are about
    draw: Floats  # the probability that the item was drawn, whichever models were judged on it
    unit: Ints  # what was drawn: one code per row; the item itself, its document, or its snippet
    stratum: Ints  # the group within which it was drawn, one code per row
    # How much every one of the N items matters, mean 1; None where all matter the same.
    weights: Floats | None = None
    document: Ints | None = None  # the document of every one of the N items; None without documents
    # The stratum of every one of the N items, coded as ``stratum``; None where it is not known.
    stratum_of: Ints | None = None
    pool: Floats | None = None  # the probability of the first phase, a factor of ``draw``; None for one phase
    pool_unit: Ints | None = None  # what the first phase drew, one code per row; None for one phase
    # Where the rows lie in the space over which the draw was spread; None for other draws.
    coordinates: Floats | None = None
    # Variables whose totals the draw matched, one column each; None for other draws.
    balance: Floats | None = None
    # items × models: what was drawn for each model, where every model had a draw of its own; None where all
    # shared one.
    unit_by_model: Ints | None = None
    # items × models: the share of what was drawn that was judged; where all models share the drawn items, the
    # share of whole items, a factor of ``draw``. None where everything was judged.
    response_rate: Floats | None = None
    # Whether units were drawn along a list, so that not all samples were equally likely.
    ordered: bool = False
    design: str = ""  # the draw as text
    notes: tuple[str, ...] = ()  # what to mind

    @property
    def models(self) -> int:
        """The number of models."""
        return int(self.scores.shape[1])

    @cached_property
    def judged(self) -> Mask:
        """Which model was judged on which item."""
        return ~np.isnan(self.scores)

    @cached_property
    def values(self) -> Floats:
        """The scores with 0 where there is none."""
        return np.where(self.judged, self.scores, 0.0)

    @cached_property
    def share(self) -> Floats:
        """Importance over probability of every judgement, 0 where there is none: what it stands for."""
        raised = np.where(self.judged, 1.0 / self.probability, 0.0)
        return raised if self.weights is None else raised * self.weights[self.rows, None]

    @property
    def separate(self) -> bool:
        """Whether every model had a draw of its own."""
        return self.unit_by_model is not None

    def at(self, rows: Ints) -> JudgedSample:
        """Return the sample with some of its rows."""
        columns = ((name, getattr(self, name)) for name in _BY_ROW)
        parts: dict[str, Any] = {name: values[rows] for name, values in columns if values is not None}
        return replace(self, **parts | {"unit": dense(self.unit[rows])})

    def of_model(self, model: int) -> JudgedSample:
        """Return the sample of one model, as if there were no other."""
        subset, column = self.at(np.flatnonzero(self.judged[:, model])), slice(model, model + 1)
        draw, unit = subset.probability[:, model], subset.unit
        if subset.response_rate is not None:
            draw = draw / subset.response_rate[:, model]
        if subset.unit_by_model is not None:
            unit = dense(subset.unit_by_model[:, model])
        return replace(
            subset,
            scores=subset.scores[:, column],
            probability=subset.probability[:, column],
            draw=draw,
            unit=unit,
            unit_by_model=None,
            response_rate=None,
        )

    def of_models(self, models: Ints) -> JudgedSample:
        """Return the sample of some models, as if there were no others."""
        subset = self.at(np.flatnonzero(self.judged[:, models].any(axis=1)))
        columns = ("scores", "probability", "unit_by_model", "response_rate")
        values = ((name, getattr(subset, name)) for name in columns)
        parts: dict[str, Any] = {name: value[:, models] for name, value in values if value is not None}
        return replace(subset, **parts)

    @cached_property
    def cluster(self) -> Ints:
        """The cluster of every row: the drawn unit, or that of the pool from which it was drawn.

        Items of a unit that was certain to be in the pool depend on the second draw alone.
        """
        if self.pool is None or self.pool_unit is None:
            return self.unit
        unit_code = self.unit + int(self.pool_unit.max(initial=-1)) + 1
        return dense(np.where(self.pool < 1.0, self.pool_unit, unit_code))

    @cached_property
    def units(self) -> Ints:
        """The number of units, of the draw or of the pool, on which each model was judged."""
        judged_units = group_sums(self.judged.astype(np.float64), self.cluster) > 0
        return np.asarray(judged_units.sum(axis=0), np.int64)

    @property
    def fewest_units(self) -> int:
        """The number of units of the model that was judged on fewest; one that nobody judged is left out."""
        return int(self.units[self.units > 0].min(initial=len(self.rows)))

    @property
    def importance(self) -> Floats:
        """How much every row matters."""
        return np.ones(len(self.rows)) if self.weights is None else self.weights[self.rows]

    @cached_property
    def fully_judged(self) -> Mask:
        """Which models were judged on every item of the set, so that their means over it are known."""
        certain = self.judged & (self.probability >= 1.0 - 1e-12)
        return np.asarray(certain.all(axis=0) & (len(self.rows) == self.size))

    @property
    def is_complete(self) -> bool:
        """Whether every model with a judgement was judged on everything, so that there is no error."""
        return bool(self.fully_judged[self.judged.any(axis=0)].all()) and len(self.rows) == self.size

    @property
    def is_uniform(self) -> bool:
        """Whether it is one draw of single items with equal probabilities and importance."""
        if self.coordinates is not None or self.balance is not None or self.pool is not None:
            return False
        if self.separate or self.ordered or self.weights is not None or self.stratum.any():
            return False
        return len(np.unique(self.unit)) == len(self.rows) and bool(np.ptp(self.draw) <= 1e-9)

    def whole_mean(self, values: Floats) -> Floats:
        """Return the mean of values (N × models) over all items, by importance."""
        if self.weights is None:
            return np.asarray(values.mean(axis=0))
        return np.asarray(self.weights @ values / self.size)


def single_items(rows: Ints, scores: Floats, probability: Floats, size: int, **more: Any) -> JudgedSample:
    """Make a sample of items that were drawn one by one in a single stratum."""
    count = len(rows)
    probability = np.broadcast_to(probability, scores.shape)
    drawn = {"draw": probability.max(axis=1), "unit": np.arange(count), "stratum": np.zeros(count, np.int64)}
    return JudgedSample(rows, scores, probability, size, **{**drawn, **more})


def group_sums(values: Floats, codes: Ints) -> Floats:
    """Return the sums of rows by their code, one row per code."""
    shape = (int(codes.max(initial=-1)) + 1, *values.shape[1:])
    if values.ndim == 1:
        return np.asarray(np.bincount(codes, values, shape[0]), np.float64)
    # Several times as quick as numpy.add.at, and adds in the same order.
    width = values[:1].size
    places = codes[:, None] * width + np.arange(width)
    return np.bincount(places.ravel(), values.ravel(), shape[0] * width).reshape(shape)


def dense(codes: NDArray[Any]) -> Ints:
    """Return codes without gaps, in the same order."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def as_codes(labels: Any, count: int, noun: str) -> Ints:
    """Return labels as codes in the order of the labels; None is one group."""
    if labels is None:
        return np.zeros(count, np.int64)
    array = np.asarray(labels)
    if array.shape != (count,):
        raise UsageError(f"There are {count} items, but the {noun} have the shape {array.shape}.")
    return dense(array.astype(str) if array.dtype == object else array)


def sample_from_arrays(
    scores: Any,
    probability: Any = None,
    size: int | None = None,
    *,
    strata: Any = None,
    units: Any = None,
    documents: Any = None,
    weights: Any = None,
    coordinates: Any = None,
    balance: Any = None,
) -> JudgedSample:
    """Make a sample from arrays; the columns are as in ``JudgedSample``.

    ``scores`` are items × models, NaN where not judged; an item without any judgement was not drawn.
    ``probability`` is that of every item (or cell), equal unless given. ``size`` is the number of items in
    the set, the length of ``scores`` unless given. ``documents`` and ``weights`` are those of every item of
    the whole set, the other columns have a row for every row of scores.
    """
    values = np.asarray(scores, np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise UsageError(f"Scores are items × models, not of the shape {values.shape}.")
    total = len(values) if size is None else int(size)
    rows = np.flatnonzero(~np.isnan(values).all(axis=1))
    unit_codes = np.arange(len(values)) if units is None else as_codes(units, len(values), "units")
    if not len(rows):
        raise DataError(nothing_judged("item"))
    if len(values) > total:
        raise UsageError(f"There are {len(values)} rows of scores but only {total} items in the set.")
    all_items_given = total == len(values)
    if not all_items_given and (documents is not None or weights is not None):
        raise UsageError(
            "Weights and documents are those of all items, so the rows of scores must be all items, too "
            "(NaN where not judged)."
        )
    probabilities = np.asarray(len(rows) / total if probability is None else probability, np.float64)
    if probabilities.ndim == 1:
        probabilities = probabilities[:, None]
    try:
        chances = np.broadcast_to(probabilities, values.shape)[rows]
    except ValueError:
        raise UsageError(
            f"Probabilities are one number, one per item, or items × models {values.shape}, not "
            f"{probabilities.shape}."
        ) from None
    if not ((chances > 0) & (chances <= 1)).all():
        raise UsageError("Inclusion probabilities lie above 0 and are at most 1.")
    return JudgedSample(
        rows=rows,
        scores=values[rows],
        probability=chances,
        size=total,
        draw=np.asarray(chances.max(axis=1)),
        unit=dense(unit_codes[rows]),
        stratum=as_codes(strata, len(values), "strata")[rows],
        weights=None if weights is None else checked_weights(weights, total),
        document=None if documents is None else as_codes(documents, total, "documents"),
        stratum_of=as_codes(strata, total, "strata") if strata is not None and all_items_given else None,
        coordinates=_drawn_columns(coordinates, rows),
        balance=_drawn_columns(balance, rows),
    )


def _drawn_columns(values: Any, rows: Ints) -> Floats | None:
    if values is None:
        return None
    columns = np.asarray(values, np.float64)
    return (columns[:, None] if columns.ndim == 1 else columns)[rows]


# --- the linear form of scores ---
# μ̂_j = fixed_j + N⁻¹ Σ_S residual_ij / π_ij. What is fixed is known without error once the sample is given
# a prediction; only the residuals are left to chance, so variances, covariances, bootstraps, differences
# and parts of the set are all computed from them, whatever the estimator.

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Scores as a fixed part and weighted residuals."""

    fixed: Floats  # the part of each model's score that has no error
    residual: Floats  # judged items × models, importance included, 0 where not judged
    predicted: Floats | None = None  # N × models: what was predicted for every item; None where nothing was
    # The number of parameters fitted to the items that they are used on, the mean included.
    parameters: float = 1.0
    fallen_back: Mask | None = None  # which models fell back to the weighted mean
    notes: tuple[str, ...] = ()  # what to mind
    # By how much errors of each model exceed those of its residuals; None for none.
    widening: Floats | None = None

    def scores(self, sample: JudgedSample) -> Floats:
        """Return the models' scores."""
        return np.asarray(self.fixed + (self.residual / sample.probability).sum(axis=0) / sample.size)

    def of_model(self, model: int, rows: Mask) -> LinearForm:
        """Return the form of one model over some of the rows."""
        column = slice(model, model + 1)
        return replace(
            self,
            fixed=self.fixed[column],
            residual=self.residual[rows, column],
            predicted=None if self.predicted is None else self.predicted[:, column],
            fallen_back=None if self.fallen_back is None else self.fallen_back[column],
            widening=None if self.widening is None else self.widening[column],
        )


def difference_form(
    sample: JudgedSample,
    predicted: Floats | None = None,
    *,
    parameters: float = 1.0,
    exact: bool = False,
    widening: Floats | None = None,
) -> LinearForm:
    """Return the difference estimator: the mean prediction plus the weighted mean of its errors.

    μ̂_j = N⁻¹ Σ_all w_i f_ij + Σ_S (w_i/π_ij)(y_ij − f_ij) / Σ_S w_i/π_ij (Hájek's form; with a uniform draw
    it is the generalised difference estimator of Särndal, Swensson and Wretman 1992, eq. 6.3.3). Without
    predictions it is the weighted mean. ``exact`` divides by N instead of the estimated number of items: that
    is unbiased, but depends on the origin of the scores. A model without judgements has the score NaN.
    ``widening`` multiplies residuals, and so errors, but no score: residuals of Hájek's form add up to 0.
    """
    predictions = np.zeros_like(sample.scores) if predicted is None else predicted[sample.rows]
    errors = np.where(sample.judged, sample.values - predictions, 0.0)
    mean_prediction = np.zeros(sample.models) if predicted is None else sample.whole_mean(predicted)
    weight = sample.share.sum(axis=0)
    missing_score = np.where(weight > 0, 0.0, np.nan)
    weighted = errors * sample.importance[:, None]
    if exact:
        return LinearForm(mean_prediction + missing_score, weighted, predicted, parameters)
    divisor = np.where(weight > 0, weight, 1.0)
    mean = (sample.share * errors).sum(axis=0) / divisor
    residual = np.where(sample.judged, weighted - mean * sample.importance[:, None], 0.0)
    # Equal scores less their mean are rounding, not residuals.
    rounding = _ROUNDING * np.abs(errors).max(axis=0, initial=0.0)
    residual = np.where(np.abs(residual) <= rounding, 0.0, residual) * (sample.size / divisor)
    if widening is not None:
        residual = residual * widening
    fixed = mean_prediction + mean + missing_score
    return LinearForm(fixed, residual, predicted, parameters, widening=widening)


def restrict_to(sample: JudgedSample, linear: LinearForm, inside: Mask) -> tuple[JudgedSample, LinearForm]:
    """Return the sample and the form of a part of the set (a domain), with the whole draw behind them.

    μ̂_D = N_D⁻¹ Σ_D f + Σ_{S∩D} (y − f)/π / Σ_{S∩D} 1/π. The residuals of the other items are 0 but they
    count as drawn: how many items of the part were drawn is left to chance, too.
    """
    size = float(inside.sum()) if sample.weights is None else float(sample.weights[inside].sum())
    weights = np.ones(sample.size) if sample.weights is None else sample.weights
    part = replace(sample, weights=np.where(inside, weights, 0.0) * sample.size / size)
    return part, replace(
        difference_form(part, linear.predicted, parameters=linear.parameters, widening=linear.widening),
        fallen_back=linear.fallen_back,
        notes=linear.notes,
    )


# --- The sample of a selection, as it was drawn ---

# --- what the design behind a selection tells: strata, units, what the draw was spread over ---

UNKNOWN = "the design is not known here, so errors are those of a plain draw with these probabilities."
FROM_POOL = (
    "the draw was from a pool: errors are those of a plain draw in its groups with these probabilities, "
    "and do not count what a sorted or spread list gains."
)
_POOL = "pool:"


def method_of(selection: Selection) -> Method | None:
    """Return the method of a selection; None where it is not registered here."""
    method = selection.method
    # A selection whose signature was replaced is what its signature says.
    if method is not None and method.full_text == selection.signature.method:
        return method
    return _method_of_signature(selection.signature)


def _method_of_signature(signature: Signature) -> Method | None:
    try:
        return parse_method(signature.method)
    except UsageError:
        return None


def unit_labels(data: EvalSet, selection: Selection) -> Objects:
    """Return what was drawn with every row of a selection: its unit, its document, or the item itself."""
    if selection.unit is not None:
        return labels_or_ids(selection.unit, selection.items)
    method = method_of(selection)
    if getattr(method, "unit", "item") != "document" or fields.DOCUMENT not in data.columns:
        return selection.items
    return labels_or_ids(data.columns[fields.DOCUMENT][data.positions(selection.items)], selection.items)


def labels_or_ids(labels: Objects, ids: Objects) -> Objects:
    """Return labels, and the id where there is none: no label is a group of one."""
    names = [
        f"id {name}" if label is None else f"in {label}" for label, name in zip(labels, ids, strict=True)
    ]
    return np.array(names, object)


def stratum_codes(data: EvalSet, selection: Selection) -> tuple[Ints, Ints | None]:
    """Return the stratum of every row of a selection and, where it can be told, of every item.

    That is from the design, or from the column that was balanced over; not where these were of a pool.
    """
    method, strata = method_of(selection), None
    if selection.pool is None and isinstance(method, Stratified | Verdicts):
        strata = method.strata_of(_design_view(data, selection), Budget.parse(selection.signature.budget))
    elif selection.pool is None and isinstance(method, ListSelector) and method.balance is not None:
        strata = data.columns.get(method.balance)
    if strata is None:
        return as_codes(selection.stratum, len(selection), "strata"), None
    codes = as_codes(strata, len(data), "strata")
    return codes[data.positions(selection.items)], codes


def _design_view(data: EvalSet, selection: Selection) -> EvalSet:
    """Return the set as the design saw it: with the models of the crowd if there was one."""
    crowd = [name for name in selection.signature.crowd if name in data.models]
    return data.take(models=crowd) if crowd else data


def with_stratum_rates(sample: JudgedSample) -> JudgedSample:
    """Return the sample with its strata's probabilities given the number of items drawn from each.

    A design that rounds at random gives a stratum now one item more, now one less. Given the numbers, every
    item of a stratum was as likely as any other, n_l/N_l, and what the rounding did is no error any more. It
    takes an item of every stratum, all models judged, and a draw of single items.
    """
    single_items = (
        len(np.unique(sample.unit)) == len(sample.rows) and not sample.separate and sample.pool is None
    )
    if sample.stratum_of is None or not single_items or not sample.judged.all():
        return sample
    count = int(sample.stratum_of.max()) + 1
    counts, sizes = np.bincount(sample.stratum, minlength=count), np.bincount(sample.stratum_of)
    if (counts == 0).any():
        return sample
    share = (counts / sizes)[sample.stratum]
    return replace(sample, draw=share, probability=np.repeat(share[:, None], sample.models, axis=1))


def with_design(sample: JudgedSample, data: EvalSet, selection: Selection) -> JudgedSample:
    """Return the sample with what its draw was spread over, balanced on, or ordered by."""
    method, pool = method_of(selection), selection.signature.pool
    if sample.pool is not None and pool is not None and fields.DOCUMENT in data.columns:
        drawn = _method_of_signature(pool)
        if isinstance(drawn, Documents | Snippets) or getattr(drawn, "unit", "item") == "document":
            documents = labels_or_ids(data.columns[fields.DOCUMENT][sample.rows], data.items[sample.rows])
            sample = replace(sample, pool_unit=as_codes(documents, len(documents), "documents"))
    if method is None:
        note = FROM_POOL if selection.signature.method.startswith(_POOL) else UNKNOWN
        return replace(sample, notes=(*sample.notes, note))
    if not isinstance(method, DrawDesign):
        return sample
    # The view that the draw had, of which the coordinates are remembered.
    view = _design_view(data, selection)
    view = view.only(method.reads(view))
    places, balance = method.coordinates(view), method.balance_variables(view)
    return replace(
        sample,
        coordinates=None if places is None else places[sample.rows],
        balance=None if balance is None else balance[sample.rows],
        ordered=method.cost is not None,
    )


# --- the sample ---

ASSUMED = "no selection was given: the judged items are taken for a uniform sample of the set."


def frame_of(data: EvalSet, selection: Selection | None, *, differences: bool = False) -> EvalSet:
    """Return the items that scores (or ``differences``) are about: all but those that could not be chosen.

    Where all models wrote the same, an item that was skipped still counts in differences.
    """
    if selection is None:
        return data
    shut = {*selection.never, *(() if differences else selection.same_outputs)}
    if not shut:
        return data
    return data.at(np.flatnonzero([name not in shut for name in data.items]))


def without_truth(data: EvalSet, aspect: str) -> EvalSet:
    """Return the set without the metric that is the truth: it must not predict itself."""
    truth_metrics = set(data.truth_fields(aspect)) & {fields.metric(name) for name in data.metrics}
    return data.only(name for name in data.fields if name not in truth_metrics) if truth_metrics else data


def sample_from(data: EvalSet, scores: Floats, selection: Selection | None) -> JudgedSample:
    """Return the sample of a selection from its set (see ``frame_of``); scores are of all items × models."""
    if selection is None:
        return _uniform_sample(data, scores)
    if selection.pairs is not None:
        raise UsageError(
            "The selection is of pairs of models, which have wins and no scores: "
            + either("sparingly compare DATA", "sparingly.compare(data)")
        )
    if selection.probability is None:
        raise UsageError(
            "Scores of the set cannot be estimated from a selection without probabilities. The order on the "
            f"chosen items: {either('sparingly rank DATA SELECTION', 'sparingly.rank(data, selection)')}"
        )
    # The chosen items in the order of their ids, which of them each row of the selection is about, and the
    # first row about each.
    rows, place = np.unique(data.positions(selection.items), return_inverse=True)
    first = np.empty(len(rows), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    # items × models: which judgements are requested, and their probability (1 where they are not).
    requested, probability = (
        np.zeros((len(rows), len(data.models)), bool),
        np.ones((len(rows), len(data.models))),
    )
    if selection.models is None:
        requested[:] = True
        probability[place] = selection.probability[:, None]
    else:
        column_of = {name: column for column, name in enumerate(data.models)}
        for row, names in enumerate(selection.models):
            named = data.models if names is None else names
            columns = [column_of[name] for name in named if name in column_of]
            requested[place[row], columns] = True
            probability[place[row], columns] = selection.probability[row]
    unit, pool = unit_labels(data, selection), selection.pool_probability
    stratum, stratum_of = stratum_codes(data, selection)
    sample = JudgedSample(
        rows=rows,
        scores=np.where(requested, scores[rows], np.nan),
        probability=probability,
        size=len(data),
        draw=np.asarray(np.where(requested, probability, 0.0).max(axis=1)),
        unit=as_codes(unit[first], len(rows), "units"),
        stratum=stratum[first],
        weights=data.importance,
        document=document_codes(data),
        stratum_of=stratum_of,
        pool=None if pool is None else pool[first],
        unit_by_model=_unit_by_model(data, selection, place, len(rows), unit),
        design=selection.signature.method,
    )
    return with_stratum_rates(_with_response_rates(with_design(sample, data, selection), requested))


def _uniform_sample(data: EvalSet, scores: Floats) -> JudgedSample:
    judged = ~np.isnan(scores)
    rows = np.flatnonzero(judged.any(axis=1))
    if not len(rows):
        raise DataError(nothing_judged("item"))
    sample = single_items(
        *(rows, scores[rows], np.full((1, 1), len(rows) / len(data)), len(data)),
        weights=data.importance,
        document=document_codes(data),
        design="uniform, assumed",
        notes=() if len(rows) == len(data) else (ASSUMED,),
    )
    # A model that nobody judged was not asked for.
    return _with_response_rates(sample, np.broadcast_to(judged.any(axis=0), sample.scores.shape))


def _unit_by_model(
    data: EvalSet, selection: Selection, place: Ints, items: int, unit: Objects
) -> Ints | None:
    """Return what was drawn for every model, as codes; None where the models shared one draw.

    Every model had a draw of its own where each row is of a single model, and several models are there.
    """
    if selection.models is None or any(names is None or len(names) != 1 for names in selection.models):
        return None
    if len({names[0] for names in selection.models}) < 2:
        return None
    codes, models = as_codes(unit, len(unit), "units"), len(data.models)
    # Where a model was not asked for, a code of its own.
    by_model = np.arange(items * models).reshape(items, models) + int(codes.max()) + 1
    by_model[place, [data.models.index(names[0]) for names in selection.models]] = codes
    return np.asarray(by_model)


def document_codes(data: EvalSet) -> Ints | None:
    """Return the document of every item; an item in none is one by itself."""
    if fields.DOCUMENT not in data.columns or all(name is None for name in data.columns[fields.DOCUMENT]):
        return None
    return as_codes(labels_or_ids(data.columns[fields.DOCUMENT], data.items), len(data), "documents")


def _with_response_rates(sample: JudgedSample, requested: Mask) -> JudgedSample:
    """Return the sample with probabilities corrected for requested judgements that are missing.

    Judgements are taken to be missing at random: first whole items, then single models of the others.
    In every stratum, probabilities are multiplied by the share that was judged.
    """
    missing = requested & ~sample.judged
    if not missing.any():
        return sample
    has_judgement: Mask = np.asarray(sample.judged.any(axis=1))
    if not has_judgement.any():
        raise DataError(nothing_judged("chosen item"))
    lost, outputs = int((~has_judgement).sum()), int((missing & has_judgement[:, None]).sum())
    parts = [counted(lost, "chosen item")] if lost else []
    if outputs:
        parts.append(counted(outputs, "output") + (" of others" if lost else " of chosen items"))
    are = "is" if lost + outputs == 1 else "are"
    note = f"{' and '.join(parts)} {are} not judged: assumed to be missing at random."
    if lost and not sample.separate:
        share = _response_rates((1.0 / sample.draw)[:, None], has_judgement[:, None], sample.stratum)
        draw, probability = sample.draw * share[:, 0], sample.probability * share
        sample = replace(sample, draw=draw, probability=probability, response_rate=share)
    judged_rows = np.flatnonzero(has_judgement)
    if not sample.separate:
        sample, requested = sample.at(judged_rows), requested[judged_rows]
        judged_rows = np.arange(len(judged_rows))
    # With a draw for every model, an item that is lost is a loss of the models that it was drawn for.
    weight = np.where(requested, 1.0 / sample.probability, 0.0)
    share = _response_rates(weight, sample.judged, sample.stratum)
    response_rate = share if sample.separate else sample.response_rate
    probability, notes = sample.probability * share, (*sample.notes, note)
    return replace(sample, probability=probability, response_rate=response_rate, notes=notes).at(judged_rows)


def _response_rates(weight: Floats, has_judgement: Mask, stratum: Ints) -> Floats:
    """Return for every row the share of its stratum's weight that was judged.

    The other strata represent one without any judgement.
    """
    requested, judged = group_sums(weight, stratum), group_sums(np.where(has_judgement, weight, 0.0), stratum)
    represented = judged > 0
    total = requested.sum(axis=0)
    represented_share = ratio((requested * represented).sum(axis=0), total, 1.0)
    share = np.divide(judged, requested, out=np.ones_like(judged), where=represented) * np.where(
        represented_share > 0, represented_share, 1.0
    )
    return np.asarray(share[stratum])
