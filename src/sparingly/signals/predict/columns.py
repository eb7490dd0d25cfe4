"""One number per item and model as a column of features: standardised over the whole set, nothing missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.signals.length import OUTPUT_LENGTH, SOURCE_LENGTH, length_metric, source_lengths

# A metric that more cells than this lack gets a column that says where.
_MANY_MISSING = 0.05
# Squares of smaller numbers lose digits, or are 0.
_TINY = 1e-150


@dataclass(frozen=True, eq=False)
class Column:
    """A metric, a length or its logarithm, ready to be standardised.

    Attributes:
        name: Of the feature.
        values: Items x models, or items x 1 where it is the same for all models.
        centre: The mean over the whole set.
        spread: The standard deviation over the whole set.
        logarithm: Whether log(1 + value) is meant.
        absence: Whether the column says where ``values`` are missing, instead of what they are.
    """

    name: str
    values: Floats
    centre: float
    spread: float
    logarithm: bool = False
    absence: bool = False

    def at(self, rows: Ints | slice) -> Floats:
        """Return the standardised values of some items.

        A missing value becomes the mean of the item's others, and the mean of the set where it has none.
        """
        found = _meant(self.values[rows], self.logarithm, self.absence)
        standard = (found - self.centre) / self.spread
        there = ~np.isnan(standard)
        if there.all():
            return standard
        known = np.where(there, standard, 0.0)
        means = known.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
        return np.where(there, standard, means)


def _meant(values: Floats, logarithm: bool, absence: bool) -> Floats:
    if absence:
        return np.asarray(np.isnan(values), np.float64)
    return np.log1p(values) if logarithm else values


def standard_columns(data: EvalSet, metrics: tuple[str, ...] | None, lengths: bool) -> list[Column]:
    """Return a column for every metric and length that says anything, in the order of their names.

    What is missing everywhere or constant is left out.
    """
    names = sorted(data.metrics) if metrics is None else list(metrics)
    for name in names:
        if name not in data.metrics:
            raise UnknownNameError("metric", name, data.metrics)
    columns = [column for name in names for column in _columns(name, data.metrics[name])]
    columns += _length_columns(data) if lengths else []
    if not columns:
        raise MissingDataError(
            "Predictions need metrics that differ between outputs, or texts, and the evaluation set has "
            "neither. Add a metric, such as chrF or the length of the outputs."
        )
    return columns


def has_features(data: EvalSet) -> bool:
    """Return whether there is anything to predict scores from: a metric that varies, or lengths that do."""
    return any(_columns(name, scores) for name, scores in data.metrics.items()) or bool(_length_columns(data))


def _length_columns(data: EvalSet) -> list[Column]:
    """Return the lengths of sources and outputs, plain and logarithmic."""
    measured = []
    if data.sources is not None:
        measured.append((SOURCE_LENGTH, source_lengths(data)[:, None]))
    if data.outputs is not None:
        measured.append((OUTPUT_LENGTH, length_metric(data, OUTPUT_LENGTH)))
    return [
        column
        for name, values in measured
        if name not in data.metrics
        for logarithm in (False, True)
        for column in _columns(name, values, logarithm)
    ]


def _spread(known: Floats) -> float:
    """Return the standard deviation of values that differ, also where their squares are 0 to a computer."""
    spread = float(known.std())
    if spread > _TINY:
        return spread
    apart = known - known.mean()
    reach = float(np.abs(apart).max())
    return reach * float((apart / reach).std())


def _columns(name: str, values: Floats, logarithm: bool = False) -> list[Column]:
    """Return the column, and that of its absence where many values are missing; none when it is constant."""
    found = _meant(values, logarithm, absence=False)
    known = found[~np.isnan(found)]
    if known.size == 0 or known.min() == known.max():
        return []
    title = f"log {name}" if logarithm else name
    columns = [Column(title, values, float(known.mean()), _spread(known), logarithm)]
    missing = 1.0 - known.size / values.size
    if missing > _MANY_MISSING and not logarithm:
        spread = float(np.sqrt(missing * (1.0 - missing)))
        columns.append(Column(f"no {name}", values, missing, spread, absence=True))
    return columns
