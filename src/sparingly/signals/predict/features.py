"""Cells x features: what is known about every output before anyone judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import Embedded, embed_outputs, embed_sources
from sparingly.signals.length import OUTPUT_LENGTH, SOURCE_LENGTH, length_metric, source_lengths

# --- One number per item and model as a column of features: standardised over the whole set, nothing missing


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


# --- The principal components of standardised columns, and their squares and products
# People's scores are seldom a straight line in a metric: error scores pile up at zero. A parabola in the few
# directions in which the metrics differ most takes up most of that bend, with few coefficients to learn.


# Components beyond so many standard deviations are cut, else one odd cell would rule a square.
_FAR = 4.0
_NOTHING = 1e-9
Blocks = Callable[[], Iterable[Floats]]


@dataclass(frozen=True, eq=False)
class Components:
    """Axes of unit variance in the space of the columns, and the moments of the products of components.

    Attributes:
        centre: The means of the columns.
        axes: Columns x components.
        squared: Of how many components there are squares and products.
        means: Of the products.
        spreads: The standard deviations of the products.
    """

    centre: Floats
    axes: Floats
    squared: int
    means: Floats
    spreads: Floats

    @property
    def product_names(self) -> tuple[str, ...]:
        """The names of the squares and products."""
        first, second = np.triu_indices(self.squared)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return tuple(f"component {one + 1} x {other + 1}" for one, other in pairs)

    def of(self, base: Floats) -> Floats:
        """Return the components of cells, ... x components."""
        return np.clip((base - self.centre) @ self.axes, -_FAR, _FAR)

    def products(self, found: Floats) -> Floats:
        """Return the standardised squares and products of components."""
        return (_products(found, self.squared) - self.means) / self.spreads


def principal_components(
    centre: Floats, covariance: Floats, blocks: Blocks, squared: int, count: int
) -> Components:
    """Return the first components of columns with these moments; ``blocks`` yields the columns' cells."""
    energy, vectors = np.linalg.eigh(covariance)
    best = np.argsort(-energy, kind="stable")[:count]
    best = best[energy[best] > _NOTHING * energy[best[0]]]
    axes = vectors[:, best] / np.sqrt(energy[best])
    squared = min(squared, len(best))
    nothing = Components(centre, axes, squared, np.zeros(0), np.ones(0))
    if not squared:
        return nothing
    total = squares = np.zeros(squared * (squared + 1) // 2)
    cells = 0
    for block in blocks():
        found = _products(nothing.of(block), squared).reshape(-1, len(total))
        total, squares = total + found.sum(axis=0), squares + (found**2).sum(axis=0)
        cells += len(found)
    means = total / cells
    spreads = np.sqrt(np.maximum(squares / cells - means**2, _NOTHING))
    return Components(centre, axes, squared, means, spreads)


def _products(found: Floats, squared: int) -> Floats:
    first, second = np.triu_indices(squared)
    return np.asarray(found[..., first] * found[..., second])


# --- The main directions of embedded sources and outputs, as features


@dataclass(frozen=True, eq=False)
class Topics:
    """Standardised directions, items x models x directions (items x 1 x directions for sources)."""

    names: tuple[str, ...]
    parts: tuple[Floats, ...]
    models: int

    def at(self, rows: Ints) -> Floats:
        """Return the directions of some items, items x models x directions."""
        taken = [part[rows] for part in self.parts]
        spread = [np.broadcast_to(part, (len(rows), self.models, part.shape[2])) for part in taken]
        return np.concatenate(spread, axis=2)


def text_topics(data: EvalSet, embedding: str, dimensions: int) -> Topics:
    """Return the directions in which the texts differ most, so many of the sources and of the outputs."""
    embedded: dict[str, Embedded] = {}
    if data.sources is not None:
        sources = embed_sources(data, embedding)
        embedded["source"] = Embedded(sources.vectors[:, None, :], sources.there[:, None])
    if data.outputs is not None:
        embedded["output"] = embed_outputs(data, embedding)
    if not embedded:
        raise MissingDataError("Embeddings need sources or outputs, and the evaluation set has neither.")
    reduced = {kind: _directions(texts, dimensions) for kind, texts in embedded.items()}
    names = tuple(
        f"{kind} direction {place + 1}" for kind, part in reduced.items() for place in range(part.shape[2])
    )
    return Topics(names, tuple(reduced.values()), len(data.models))


def _directions(texts: Embedded, dimensions: int) -> Floats:
    """Return unit-variance scores on the first principal axes, 0 where there is no text."""
    vectors, there = texts
    known = vectors[there]
    centred = known - known.mean(axis=0) if len(known) else known
    energy, axes = np.linalg.eigh(centred.T @ centred / max(1, len(known)))
    best = np.argsort(-energy, kind="stable")[:dimensions]
    best = best[energy[best] > _NOTHING]
    scores = np.zeros((*there.shape, len(best)))
    scores[there] = centred @ (axes[:, best] / np.sqrt(energy[best]))
    return scores


# --- Cells x features: what is known about every output before anyone judges it


# How large coefficients are expected to be, where a metric's own is 1 (see ``FeatureTable.scales``).
_ITEM_MEANS, _TOPICS, _SQUARES, _SLOPES = 0.5, 0.2, 0.3, 0.2
_BLOCK_NUMBERS = 1 << 22
# Columns that correlate by more than this say the same.
_SAME = 1.0 - 1e-9


@dataclass(frozen=True)
class Features:
    """What a prediction may look at: every metric, item means and lengths unless said otherwise.

    Attributes:
        metrics: The names of the metrics, all of them unless given.
        item_means: Add the mean of every metric over the models.
        lengths: Add the lengths of sources and outputs, and their logarithms.
        embedding: Add the main directions of the embedded texts (``tfidf``, or what ``embed_texts`` takes).
        dimensions: How many directions of the sources, and how many of the outputs.
        models: Add a column for each model, so that trees can treat models apart (there is an intercept for
            every model in any case).
        squares: Add squares and products of this many principal components of the metrics.
        slopes: Let the slope on the first principal component differ between models.
    """

    metrics: tuple[str, ...] | None = None
    item_means: bool = True
    lengths: bool = True
    embedding: str | None = None
    dimensions: int = 16
    models: bool = False
    squares: int = 0
    slopes: bool = False

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise UsageError(f"An embedding is reduced to at least 1 dimension, not {self.dimensions}.")
        if self.squares < 0:
            raise UsageError(f"The number of components to square is zero or more, not {self.squares}.")


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The features of a set, made for some of its items at a time, so that large sets fit in memory."""

    items: int
    models: tuple[str, ...]
    columns: tuple[Column, ...]
    means_of: NDArray[np.intp]
    topics: Topics | None
    components: Components | None
    wanted: Features

    @property
    def _kinds(self) -> list[tuple[float, tuple[str, ...]]]:
        """The expected size of all coefficients of a kind together, and the names of the features."""
        own = tuple(column.name for column in self.columns)
        means = tuple(f"mean {own[place]}" for place in self.means_of)
        size = np.sqrt(len(own))
        kinds = [(size, own), (_ITEM_MEANS * np.sqrt(len(means)), means)]
        if self.topics is not None:
            kinds.append((_TOPICS * size, self.topics.names))
        if self.wanted.models:
            kinds.append((np.sqrt(len(self.models)), tuple(f"model {name}" for name in self.models)))
        if self.components is not None and self.components.squared:
            kinds.append((_SQUARES * size, self.components.product_names))
        if self.components is not None and self.wanted.slopes:
            names = tuple(f"slope {name}" for name in self.models)
            kinds.append((_SLOPES * size * np.sqrt(len(names)), names))
        return kinds

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(name for _, names in self._kinds for name in names)

    @property
    def scales(self) -> Floats:
        """How large the coefficient of each feature is expected to be, with 1 for a metric's own.

        A ridge multiplies features by it, so that a few squares are not drowned by many metrics.
        """
        return np.concatenate(
            [np.full(len(names), size / np.sqrt(len(names) or 1)) for size, names in self._kinds]
        )

    def at(self, rows: Ints) -> Floats:
        """Return the features of some items, items x models x features."""
        base = _base(self.columns, rows, len(self.models))
        parts = [base, _item_means(base[:, :, self.means_of])]
        if self.topics is not None:
            parts.append(self.topics.at(rows))
        each = np.broadcast_to(np.eye(base.shape[1]), (len(rows), base.shape[1], base.shape[1]))
        if self.wanted.models:
            parts.append(each)
        if self.components is not None:
            found = self.components.of(base)
            parts.append(self.components.products(found))
            if self.wanted.slopes:
                parts.append(each * found[:, :, :1])
        return np.concatenate(parts, axis=2)

    def blocks(self) -> Iterator[Ints]:
        """Yield the positions of all items, some at a time."""
        return _blocks(self.items, len(self.models) * len(self.names))


# Sets that differ in their labels alone share the arrays that features are made of, and so the features.
_tables: ResultCache[FeatureTable] = ResultCache(size=8)


def prepare_features(data: EvalSet, wanted: Features) -> FeatureTable:
    """Return the features of a set: standardised over all of it, constant and repeated ones left out.

    Nothing in a set can be written to, so those of the last few sets are kept, unless vectors come from a
    file, which can change.
    """
    if wanted.embedding is not None:
        return _made(data, wanted)
    return _tables.get(
        feature_arrays(data), (data.keys.tobytes(), data.models, wanted), lambda: _made(data, wanted)
    )


def feature_arrays(data: EvalSet) -> list[NDArray[Any]]:
    """Return the stored arrays that features are made of: the metrics and texts that the set shows."""
    store = data.store
    arrays: list[NDArray[Any]] = [store.metrics[name] for name in data.metrics]
    arrays += [store.sources] if store.sources is not None and data.sources is not None else []
    arrays += [store.outputs] if store.outputs is not None and data.outputs is not None else []
    return arrays


def _made(data: EvalSet, wanted: Features) -> FeatureTable:
    columns = standard_columns(data, wanted.metrics, wanted.lengths)
    items, models = data.shape
    moments = _moments(columns, items, models)
    own, means = _distinct(moments.covariance, len(columns), wanted.item_means)
    kept = tuple(columns[place] for place in own)
    count = max(wanted.squares, int(wanted.slopes))
    return FeatureTable(
        items=items,
        models=data.models,
        columns=kept,
        means_of=means,
        topics=None if wanted.embedding is None else text_topics(data, wanted.embedding, wanted.dimensions),
        components=_components(kept, own, moments, items, models, wanted.squares, count) if count else None,
        wanted=wanted,
    )


class _Moments(NamedTuple):
    mean: Floats
    covariance: Floats


def _moments(columns: list[Column], items: int, models: int) -> _Moments:
    """Return the moments of the columns and, after them, of their item means."""
    width = 2 * len(columns)
    total, squares = np.zeros(width), np.zeros((width, width))
    for rows in _blocks(items, models * width):
        base = _base(columns, rows, models)
        block = np.concatenate([base, _item_means(base)], axis=2).reshape(-1, width)
        total += block.sum(axis=0)
        squares += block.T @ block
    mean = total / (items * models)
    return _Moments(mean, squares / (items * models) - np.outer(mean, mean))


def _distinct(covariance: Floats, count: int, item_means: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which columns to keep, and of which of those to keep the item means."""
    spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    varied = spread > 1e-9
    # What is not the same as anything before it is kept; columns come before item means.
    safe = np.where(varied, spread, 1.0)
    alike = np.abs(covariance / np.outer(safe, safe)) > _SAME
    kept = np.zeros(len(spread), bool)
    for place in range(len(spread)):
        kept[place] = varied[place] and not (alike[place, :place] & kept[:place]).any()
    own = np.flatnonzero(kept[:count])
    means = np.flatnonzero(kept[count:][own]) if item_means else np.zeros(0, np.intp)
    return own, means


def _components(
    columns: tuple[Column, ...],
    own: NDArray[np.intp],
    moments: _Moments,
    items: int,
    models: int,
    squares: int,
    count: int,
) -> Components:
    def blocks() -> Iterator[Floats]:
        return (_base(columns, rows, models) for rows in _blocks(items, models * len(columns)))

    return principal_components(
        moments.mean[own], moments.covariance[np.ix_(own, own)], blocks, squares, count
    )


def _base(columns: list[Column] | tuple[Column, ...], rows: Ints, models: int) -> Floats:
    shape = (len(rows), models)
    return np.stack([np.broadcast_to(column.at(rows), shape) for column in columns], axis=2)


def _item_means(base: Floats) -> Floats:
    return np.repeat(base.mean(axis=1, keepdims=True), base.shape[1], axis=1)


def _blocks(items: int, numbers_per_item: int) -> Iterator[Ints]:
    step = max(1, _BLOCK_NUMBERS // max(1, numbers_per_item))
    for start in range(0, items, step):
        yield np.arange(start, min(start + step, items))
