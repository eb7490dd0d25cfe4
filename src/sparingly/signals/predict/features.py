"""Cells x features: what is known about every output before anyone judges it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.columns import Column, standard_columns
from sparingly.signals.predict.components import Components, principal_components
from sparingly.signals.predict.topics import Topics, text_topics

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
_prepared: ResultCache[FeatureTable] = ResultCache(most=8)


def prepare_features(data: EvalSet, wanted: Features) -> FeatureTable:
    """Return the features of a set: standardised over all of it, constant and repeated ones left out.

    Nothing in a set can be written to, so those of the last few sets are kept, unless vectors come from a
    file, which can change.
    """
    if wanted.embedding is not None:
        return _made(data, wanted)
    return _prepared.of(
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
