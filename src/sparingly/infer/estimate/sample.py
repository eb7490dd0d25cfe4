"""What was judged: a sample of items, and scores in linear form over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.syntax import either
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
