"""Cells x features: what is known about every output before anyone judges it.

``Features`` says what to use, ``prepare_features`` builds the table of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.checks import check_names
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.stats.moments import principal_axes
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import Embedded, embed_outputs, embed_sources
from sparingly.signals.length import OUTPUT_LENGTH, SOURCE_LENGTH, length_metric, source_lengths

# A metric that is missing in a larger share of cells gets a column that marks them.
_MANY_MISSING = 0.05
# Squares of smaller numbers lose digits, or are 0.
_TINY = 1e-150
# Components beyond so many standard deviations are clipped, else one outlier would dominate a square.
_CLIP = 4.0
_ZERO_VARIANCE = 1e-9
Blocks = Callable[[], Iterable[Floats]]
# How large coefficients are expected to be, where a metric's own is 1 (see ``FeatureTable.scales``).
_ITEM_MEANS, _TOPICS, _SQUARES, _SLOPES = 0.5, 0.2, 0.3, 0.2
_BLOCK_NUMBERS = 1 << 22
# Columns that correlate by more than this are duplicates.
_SAME_CORRELATION = 1.0 - 1e-9


@dataclass(frozen=True)
class Features:
    """What a prediction may look at: every metric, item means and lengths unless said otherwise."""

    metrics: tuple[str, ...] | None = None  # the names of the metrics, all of them unless given
    item_means: bool = True  # add the mean of every metric over the models
    lengths: bool = True  # add the lengths of sources and outputs, and their logarithms
    # Add the main directions of the embedded texts (``tfidf``, or what ``embed_texts`` takes).
    embedding: str | None = None
    dimensions: int = 16  # how many directions of the sources, and how many of the outputs
    # Add a column for each model, so that trees can treat models apart (there is an intercept for every model
    # in any case).
    models: bool = False
    squares: int = 0  # add squares and products of this many principal components of the metrics
    slopes: bool = False  # let the slope on the first principal component differ between models

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
    columns: tuple[FeatureColumn, ...]
    means_of: NDArray[np.intp]
    topics: TextDirections | None
    components: PrincipalComponents | None
    features: Features

    @property
    def _kinds(self) -> list[tuple[float, tuple[str, ...]]]:
        """The expected size of all coefficients of a kind together, and the names of the features."""
        column_names = tuple(column.name for column in self.columns)
        means = tuple(f"mean {column_names[place]}" for place in self.means_of)
        size = np.sqrt(len(column_names))
        kinds = [(size, column_names), (_ITEM_MEANS * np.sqrt(len(means)), means)]
        if self.topics is not None:
            kinds.append((_TOPICS * size, self.topics.names))
        if self.features.models:
            kinds.append((np.sqrt(len(self.models)), tuple(f"model {name}" for name in self.models)))
        if self.components is not None and self.components.squared:
            kinds.append((_SQUARES * size, self.components.product_names))
        if self.components is not None and self.features.slopes:
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
        indicators = np.broadcast_to(np.eye(base.shape[1]), (len(rows), base.shape[1], base.shape[1]))
        if self.features.models:
            parts.append(indicators)
        if self.components is not None:
            components = self.components.project(base)
            parts.append(self.components.products(components))
            if self.features.slopes:
                parts.append(indicators * components[:, :, :1])
        return np.concatenate(parts, axis=2)

    def blocks(self) -> Iterator[Ints]:
        """Yield the positions of all items, some at a time."""
        return _blocks(self.items, len(self.models) * len(self.names))


# Sets that differ in their labels alone share the arrays that features are made of, and so the features.
_tables: ResultCache[FeatureTable] = ResultCache(size=8)


def prepare_features(data: EvalSet, features: Features) -> FeatureTable:
    """Return the features of a set: standardised over all of it, constant and repeated ones left out.

    Sets are read-only, so the tables of the last few are cached, unless vectors come from a file, which can
    change.
    """
    if features.embedding is not None:
        return _build_table(data, features)
    key = (data.keys.tobytes(), data.models, features)
    return _tables.get(feature_arrays(data), key, lambda: _build_table(data, features))


def feature_arrays(data: EvalSet) -> list[NDArray[Any]]:
    """Return the stored arrays that features are made of: the metrics and texts that the set shows."""
    store = data.store
    arrays: list[NDArray[Any]] = [store.metrics[name] for name in data.metrics]
    for name in ("sources", "outputs"):
        if name in data.fields and (texts := store.texts(name)) is not None:
            arrays.append(texts)
    return arrays


def _build_table(data: EvalSet, features: Features) -> FeatureTable:
    columns = standard_columns(data, features.metrics, features.lengths)
    items, models = data.shape
    mean, covariance = _moments(columns, items, models)
    column_places, means = _distinct(covariance, len(columns), features.item_means)
    distinct = tuple(columns[place] for place in column_places)
    topics = components = None
    if features.embedding is not None:
        topics = text_directions(data, features.embedding, features.dimensions)
    if count := max(features.squares, int(features.slopes)):

        def blocks() -> Iterator[Floats]:
            return (_base(distinct, rows, models) for rows in _blocks(items, models * len(distinct)))

        distinct_covariance = covariance[np.ix_(column_places, column_places)]
        components = principal_components(
            mean[column_places], distinct_covariance, blocks, features.squares, count
        )
    return FeatureTable(items, data.models, distinct, means, topics, components, features)


def _moments(columns: list[FeatureColumn], items: int, models: int) -> tuple[Floats, Floats]:
    """Return the mean and covariance of the columns and, after them, of their item means."""
    width = 2 * len(columns)
    total, squares = np.zeros(width), np.zeros((width, width))
    for rows in _blocks(items, models * width):
        base = _base(columns, rows, models)
        block = np.concatenate([base, _item_means(base)], axis=2).reshape(-1, width)
        total += block.sum(axis=0)
        squares += block.T @ block
    mean = total / (items * models)
    return mean, squares / (items * models) - np.outer(mean, mean)


def _distinct(covariance: Floats, count: int, item_means: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which columns to keep, and of which of those to keep the item means."""
    spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    varied = spread > 1e-9
    # A column stays unless it repeats an earlier one; columns come before item means.
    safe = np.where(varied, spread, 1.0)
    alike = np.abs(covariance / np.outer(safe, safe)) > _SAME_CORRELATION
    stays = np.zeros(len(spread), bool)
    for place in range(len(spread)):
        stays[place] = varied[place] and not (alike[place, :place] & stays[:place]).any()
    column_places = np.flatnonzero(stays[:count])
    means = np.flatnonzero(stays[count:][column_places]) if item_means else np.zeros(0, np.intp)
    return column_places, means


def _base(columns: list[FeatureColumn] | tuple[FeatureColumn, ...], rows: Ints, models: int) -> Floats:
    shape = (len(rows), models)
    return np.stack([np.broadcast_to(column.at(rows), shape) for column in columns], axis=2)


def _item_means(base: Floats) -> Floats:
    return np.repeat(base.mean(axis=1, keepdims=True), base.shape[1], axis=1)


def _blocks(items: int, numbers_per_item: int) -> Iterator[Ints]:
    step = max(1, _BLOCK_NUMBERS // max(1, numbers_per_item))
    for start in range(0, items, step):
        yield np.arange(start, min(start + step, items))


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """A metric, a length or its logarithm, ready to be standardised."""

    name: str  # of the feature
    values: Floats  # items x models, or items x 1 where it is the same for all models
    centre: float  # the mean over the whole set
    spread: float  # the standard deviation over the whole set
    logarithm: bool = False  # whether log(1 + value) is meant
    absence: bool = False  # whether the column says where ``values`` are missing, instead of what they are

    def at(self, rows: Ints | slice) -> Floats:
        """Return the standardised values of some items.

        A missing value becomes the mean of the item's others, and the mean of the set where it has none.
        """
        raw = _raw_values(self.values[rows], self.logarithm, self.absence)
        standard = (raw - self.centre) / self.spread
        present = ~np.isnan(standard)
        if present.all():
            return standard
        no_gaps = np.where(present, standard, 0.0)
        means = no_gaps.sum(axis=1, keepdims=True) / np.maximum(present.sum(axis=1, keepdims=True), 1)
        return np.where(present, standard, means)


def _raw_values(values: Floats, logarithm: bool, absence: bool) -> Floats:
    if absence:
        return np.asarray(np.isnan(values), np.float64)
    return np.log1p(values) if logarithm else values


def standard_columns(data: EvalSet, metrics: tuple[str, ...] | None, lengths: bool) -> list[FeatureColumn]:
    """Return a column for every metric and length that varies, in the order of their names.

    Metrics that are missing everywhere or constant are left out.
    """
    names = sorted(data.metrics) if metrics is None else list(metrics)
    check_names("metric", names, data.metrics)
    columns = [column for name in names for column in _columns(name, data.metrics[name])]
    columns += _length_columns(data) if lengths else []
    if not columns:
        raise MissingDataError(
            "Predictions need metrics that differ between outputs, or texts, and the evaluation set has "
            "neither. Add a metric, such as chrF or the length of the outputs."
        )
    return columns


def has_features(data: EvalSet) -> bool:
    """Return whether scores can be predicted from anything: a metric that varies, or lengths that do."""
    return any(_columns(name, scores) for name, scores in data.metrics.items()) or bool(_length_columns(data))


def _length_columns(data: EvalSet) -> list[FeatureColumn]:
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


def _columns(name: str, values: Floats, logarithm: bool = False) -> list[FeatureColumn]:
    """Return the column, and that of its absence where many values are missing; none when it is constant."""
    raw = _raw_values(values, logarithm, absence=False)
    present = raw[~np.isnan(raw)]
    if present.size == 0 or present.min() == present.max():
        return []
    mean, spread = float(present.mean()), float(present.std())
    if spread <= _TINY:
        deviations = present - present.mean()
        reach = float(np.abs(deviations).max())
        spread = reach * float((deviations / reach).std())
    title = f"log {name}" if logarithm else name
    columns = [FeatureColumn(title, values, mean, spread, logarithm)]
    missing = 1.0 - present.size / values.size
    if missing > _MANY_MISSING and not logarithm:
        missing_spread = float(np.sqrt(missing * (1.0 - missing)))
        columns.append(FeatureColumn(f"no {name}", values, missing, missing_spread, absence=True))
    return columns


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Axes of unit variance in the space of the columns, and the moments of the products of components.

    Human scores are seldom a straight line in a metric: error scores pile up at zero. A parabola in the few
    directions in which the metrics differ most takes up most of that bend, with few coefficients to learn.
    """

    centre: Floats  # the means of the columns
    axes: Floats  # columns x components
    squared: int  # of how many components there are squares and products
    means: Floats  # of the products
    spreads: Floats  # the standard deviations of the products

    @property
    def product_names(self) -> tuple[str, ...]:
        """The names of the squares and products."""
        first, second = np.triu_indices(self.squared)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return tuple(f"component {left + 1} x {right + 1}" for left, right in pairs)

    def project(self, base: Floats) -> Floats:
        """Return the components of cells, ... x components."""
        return np.clip((base - self.centre) @ self.axes, -_CLIP, _CLIP)

    def products(self, components: Floats) -> Floats:
        """Return the standardised squares and products of components."""
        return (_products(components, self.squared) - self.means) / self.spreads


def principal_components(
    centre: Floats, covariance: Floats, blocks: Blocks, squared: int, count: int
) -> PrincipalComponents:
    """Return the first components of columns with these moments; ``blocks`` yields the columns' cells."""
    axes = principal_axes(covariance, count, _ZERO_VARIANCE)
    squared = min(squared, axes.shape[1])
    unscaled = PrincipalComponents(centre, axes, squared, np.zeros(0), np.ones(0))
    if not squared:
        return unscaled
    total = squares = np.zeros(squared * (squared + 1) // 2)
    cells = 0
    for block in blocks():
        products = _products(unscaled.project(block), squared).reshape(-1, len(total))
        total, squares = total + products.sum(axis=0), squares + (products**2).sum(axis=0)
        cells += len(products)
    means = total / cells
    spreads = np.sqrt(np.maximum(squares / cells - means**2, _ZERO_VARIANCE))
    return PrincipalComponents(centre, axes, squared, means, spreads)


def _products(components: Floats, squared: int) -> Floats:
    first, second = np.triu_indices(squared)
    return np.asarray(components[..., first] * components[..., second])


@dataclass(frozen=True, eq=False)
class TextDirections:
    """Standardised directions, items x models x directions (items x 1 x directions for sources)."""

    names: tuple[str, ...]
    parts: tuple[Floats, ...]
    models: int

    def at(self, rows: Ints) -> Floats:
        """Return the directions of some items, items x models x directions."""
        parts = [part[rows] for part in self.parts]
        spread = [np.broadcast_to(part, (len(rows), self.models, part.shape[2])) for part in parts]
        return np.concatenate(spread, axis=2)


def text_directions(data: EvalSet, embedding: str, dimensions: int) -> TextDirections:
    """Return the directions in which the texts differ most, so many of the sources and of the outputs."""
    embedded: dict[str, Embedded] = {}
    if data.sources is not None:
        sources = embed_sources(data, embedding)
        embedded["source"] = Embedded(sources.vectors[:, None, :], sources.present[:, None])
    if data.outputs is not None:
        embedded["output"] = embed_outputs(data, embedding)
    if not embedded:
        raise MissingDataError("Embeddings need sources or outputs, and the evaluation set has neither.")
    names: list[str] = []
    parts: list[Floats] = []
    for kind, (vectors, is_present) in embedded.items():
        # Unit-variance scores on the first principal axes, 0 where there is no text.
        present = vectors[is_present]
        centred = present - present.mean(axis=0) if len(present) else present
        covariance = centred.T @ centred / max(1, len(present))
        axes = principal_axes(covariance, dimensions, _ZERO_VARIANCE, relative=False)
        scores = np.zeros((*is_present.shape, axes.shape[1]))
        scores[is_present] = centred @ axes
        names += [f"{kind} direction {place + 1}" for place in range(axes.shape[1])]
        parts.append(scores)
    return TextDirections(tuple(names), tuple(parts), len(data.models))
