"""What is known of items before they are judged: numbers by name, and points in a space."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError
from sparingly.base.format import counted
from sparingly.base.syntax import lacking
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.differences import filled_distances
from sparingly.signals.embed.evalset import embed_outputs, embed_sources
from sparingly.signals.length import LENGTHS, length_metric

METRICS = "metrics"


def field_of(data: EvalSet, name: str) -> str:
    """Return the field that a name means: ``COMET`` or ``metric:COMET``, ``domain`` or ``column:domain``.

    ``source_length`` and ``output_length`` stand for the texts that they are measured on, unless a metric or
    a column is called so.
    """
    if name in data.metrics:
        return fields.metric(name)
    if name in data.columns:
        return fields.column(name)
    if name in LENGTHS:
        return LENGTHS[name]
    if name in (*map(fields.metric, data.metrics), *map(fields.column, data.columns)):
        return name
    options = [*data.metrics, *data.columns, *LENGTHS]
    raise UnknownNameError("metric or column", name, options)


def resolve_names(data: EvalSet, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as fields (lengths as they are), each once; ``metrics`` stands for all metrics."""
    resolved: list[str] = []
    for name in names:
        if name == METRICS:
            if not len(data.metrics):
                raise MissingDataError(f"The name {METRICS} means all metrics, {lacking('metrics')}")
            resolved += map(fields.metric, data.metrics)
        else:
            field = field_of(data, name)
            resolved.append(name if field in LENGTHS.values() else field)
    return tuple(dict.fromkeys(resolved))


def scores_of(data: EvalSet, name: str) -> Floats:
    """Return a metric or a length, items × models, with the model's mean where there is none."""
    field = field_of(data, name)
    scores = length_metric(data, name) if field in LENGTHS.values() else data.metrics[field.partition(":")[2]]
    # The length of a source is the same for all models.
    return with_means(scores[:, :1] if field == "sources" else scores)


def is_column(data: EvalSet, name: str) -> bool:
    """Whether a name stands for a column of the items."""
    return field_of(data, name).startswith("column:")


def column_numbers(data: EvalSet, name: str) -> Floats | None:
    """Return a column as numbers, NaN where there is none; None where it holds something else."""
    column = data.columns[field_of(data, name).partition(":")[2]]
    if column.dtype != object:
        return column.astype(np.float64)
    if not all(value is None or isinstance(value, Real) for value in column):
        return None
    return np.array([np.nan if value is None else float(value) for value in column])


def item_numbers(data: EvalSet, name: str) -> Floats | None:
    """Return the item means of a metric or a length, or a column as numbers; None where it holds others."""
    if is_column(data, name):
        return column_numbers(data, name)
    return np.asarray(scores_of(data, name).mean(axis=1))


def column_labels(data: EvalSet, name: str) -> Objects:
    """Return a column as texts, "(none)" where there is nothing."""
    column = data.columns[field_of(data, name).partition(":")[2]]
    return np.array(["(none)" if value is None else str(value) for value in column], object)


def indicators(labels: Objects) -> Floats:
    """Return items × labels: 1 for the label that an item has."""
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    return np.asarray(codes[:, None] == np.arange(len(names)), np.float64)


def with_means(columns: Floats) -> Floats:
    """Return columns with their means where a value is missing, 0 where all are."""
    present = ~np.isnan(columns)
    means = np.where(present, columns, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.where(present, columns, means)


def importance(data: EvalSet, name: str) -> Floats:
    """Return a column of importance weights; every item has one, 0 or more."""
    if name not in data.columns:
        raise UnknownNameError("column", name, data.columns, "It is the column of importance weights.")
    weights = column_numbers(data, fields.column(name))
    if weights is None or np.isnan(weights).any():
        lost = "" if weights is None else f" for {counted(int(np.isnan(weights).sum()), 'item')}"
        raise DataError(
            f'The column "{name}" has no number{lost}, so it cannot be the importance of the items.'
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError(
            f'The column "{name}" cannot be the importance of the items: weights are finite, 0 or more, and '
            "not all 0."
        )
    return weights


Space = Literal["metrics", "source", "output_mean", "difference"]
# Few: every further direction makes the search for neighbours slower.
_DOCUMENT_DIMENSIONS = 3


def metric_points(data: EvalSet, metrics: tuple[str, ...]) -> Floats:
    """Return the scores of all models by some metrics, every column with mean 0 and standard deviation 1."""
    columns = np.column_stack([scores_of(data, fields.metric(name)) for name in metrics])
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def text_points(data: EvalSet, space: Space, embedding: str) -> Floats:
    """Return embeddings of the sources, mean embeddings of the outputs, or how far outputs lie apart.

    An item without texts lies in the middle.
    """
    if space == "source":
        vectors, has_text = embed_sources(data, embedding)
        return _in_the_middle(vectors, has_text)
    embedded = embed_outputs(data, embedding)
    counts = embedded.present.sum(axis=1)
    if space == "output_mean":
        means = embedded.vectors.sum(axis=1) / np.maximum(counts, 1)[:, None]
        return _in_the_middle(means, counts > 0)
    if len(data.models) < 2:
        raise DataError("Differences between outputs need two models, and there are fewer.")
    return _in_the_middle(filled_distances(*embedded), counts > 1)


def with_documents(points: Floats, document: Objects) -> Floats:
    """Return points with further coordinates in which the items of a document lie together.

    Every document has a place of its own at random, by its name alone; the places are spread as widely as the
    points are, where these differ at all. So items are near that are alike in both, and a spread draw takes
    its share of every document too. An item in no document lies in the middle.
    """
    has_document = np.array([name is not None for name in document])
    names, code = np.unique(document[has_document].astype(str), return_inverse=True)
    keys = rng.keys_of(list(names))
    places = np.column_stack(
        [rng.uniforms(keys, 0, f"document {axis}") for axis in range(_DOCUMENT_DIMENSIONS)]
    )
    further = np.zeros((len(document), _DOCUMENT_DIMENSIONS))
    further[has_document] = places[code] - places[code].mean(axis=0)
    spread, point_spread = _spread(further), _spread(points)
    return np.hstack([points, further * (point_spread / spread if spread > 0 and point_spread > 0 else 1.0)])


def has_documents(data: EvalSet) -> bool:
    """Whether there are several documents, and one of them has several items."""
    if fields.DOCUMENT not in data.columns:
        return False
    names = [name for name in data.columns[fields.DOCUMENT] if name is not None]
    return 1 < len(set(names)) < len(names)


def _spread(points: Floats) -> float:
    """Return the root of the mean squared distance from the middle."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _in_the_middle(vectors: Floats, present: NDArray[np.bool_]) -> Floats:
    return with_means(np.where(present[:, None], vectors, np.nan))


# From so many columns on, all axes take seconds and a few of them a moment. The others stay as they were:
# an order that a campaign began with depends on the last digit.
_MANY_COLUMNS = 1000


def principal(points: Floats, dimensions: int) -> Floats:
    """Return points in the few directions in which they vary most (all, where there are no more)."""
    if points.shape[1] <= dimensions:
        return points
    centred = points - points.mean(axis=0)
    if points.shape[1] > _MANY_COLUMNS and len(points) > dimensions:
        from scipy.sparse.linalg import svds

        start = np.random.default_rng(0).standard_normal(min(centred.shape))
        if not centred.any():
            return np.zeros((len(points), dimensions))
        left, sizes, _ = svds(centred, k=dimensions, v0=start)
        found = (left * sizes)[:, ::-1]
        # Without the last digits and with fixed signs: the same on every machine.
        unit = float(np.abs(found).max())
        found = np.round(found / unit, 9) * unit
        largest = found[np.abs(found).argmax(axis=0), np.arange(dimensions)]
        return np.asarray(found * np.where(largest < 0, -1.0, 1.0) + 0.0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :dimensions]
    return np.asarray(centred @ axes)
