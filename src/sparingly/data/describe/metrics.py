"""Metrics and aspects: their ranges, how well metrics agree with aspects, and metrics that are copies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet, NamedArrays


@dataclass(frozen=True)
class ScoreRange:
    """The range of a metric or an aspect; None where it has no score.

    Attributes:
        constant: Whether all scores are equal: it says nothing.
        same_for_models: Whether the models of every item have one score: it cannot tell models apart.
    """

    name: str
    minimum: float | None
    mean: float | None
    maximum: float | None
    constant: bool
    same_for_models: bool


def scores_of(arrays: NamedArrays) -> tuple[ScoreRange, ...]:
    """Return the range of every metric or aspect."""
    return tuple(_range(name, values) for name, values in arrays.items())


def _range(name: str, values: Floats) -> ScoreRange:
    present = values[~np.isnan(values)]
    if not present.size:
        return ScoreRange(name, None, None, None, constant=False, same_for_models=False)
    low, high = float(present.min()), float(present.max())
    return ScoreRange(
        name,
        minimum=low,
        mean=float(present.mean()),
        maximum=high,
        constant=low == high and present.size > 1,
        same_for_models=values.shape[1] > 1 and _same_in_rows(values, (high - low) * 1e-9),
    )


def _same_in_rows(values: Floats, tolerance: float) -> bool:
    """Say whether no item's scores differ, and at least one item has two of them."""
    missing = np.isnan(values)
    spread = np.where(missing, -np.inf, values).max(axis=1) - np.where(missing, np.inf, values).min(axis=1)
    several = values.shape[1] - missing.sum(axis=1) > 1
    return bool(several.any() and (spread[several] <= tolerance).all())


# --- How well every metric agrees with every aspect -----------------------------------------------
# A metric can follow people over all outputs only because it knows which items are hard; choosing between
# models needs the other two numbers (Zouhar et al. 2025, section 5, relate them to what selection gains).


_BLOCK_CELLS = 1 << 16
# A spread below this share of the whole range is rounding, not a difference between models.
_NO_SPREAD = 1e-9


@dataclass(frozen=True)
class Correlation:
    """How a metric agrees with an aspect, by Pearson's r; None where nothing varies.

    Attributes:
        pooled: Over all cells that have both.
        within: Mean over items of the correlation across their models, over the items where both vary.
        differences: Of the differences between two models on one item, over all items and pairs of models:
            ``Σᵢ nᵢ Sᵢ(x,y) / √(Σᵢ nᵢ Sᵢ(x,x) · Σᵢ nᵢ Sᵢ(y,y))`` with Sᵢ the sum of products about the
            item's mean over its nᵢ models. Selections made with a metric are as good as this number.
        cells: The number of cells that have both.
        items: The number of items behind ``within``.
        freedom: The number of independent differences between models, Σᵢ (nᵢ − 1).
    """

    metric: str
    aspect: str
    pooled: float | None
    within: float | None
    differences: float | None
    cells: int
    items: int
    freedom: int


def correlations(data: EvalSet) -> tuple[Correlation, ...]:
    """Return the correlations of every metric with every aspect."""
    return tuple(
        correlation(data.metrics[metric], data.aspects[aspect], metric, aspect)
        for metric in data.metrics
        for aspect in data.aspects
    )


def correlation(x: Floats, y: Floats, metric: str = "", aspect: str = "") -> Correlation:
    """Return how two matrices of scores (items x models) agree, over the cells that have both."""
    (x_middle, x_range), (y_middle, y_range) = _middle_and_range(x), _middle_and_range(y)
    varies = x_range > 0 and y_range > 0
    total = _CorrelationSums()
    for rows in blocks(x.shape):
        # Scaled to a range of 1 about 0, so that neither huge nor tiny scores lose digits in the squares.
        total.add(_scaled(x[rows], x_middle, x_range), _scaled(y[rows], y_middle, y_range))
    return Correlation(
        metric=metric,
        aspect=aspect,
        pooled=total.pooled() if varies else None,
        within=total.within / total.items if total.items else None,
        differences=total.differences() if total.items else None,
        cells=total.cells,
        items=total.items,
        freedom=total.freedom,
    )


class _CorrelationSums:
    """Adds up what the three correlations need, a block of items at a time."""

    def __init__(self) -> None:
        self.cells = self.items = self.freedom = 0
        self.within = 0.0
        self.sums, self.products, self.weighted = np.zeros(2), np.zeros(3), np.zeros(3)

    def add(self, x: Floats, y: Floats) -> None:
        missing = np.isnan(x) | np.isnan(y)
        count = x.shape[1] - missing.sum(axis=1)
        if missing.any():
            x, y = np.where(missing, 0.0, x), np.where(missing, 0.0, y)
        self.cells += int(count.sum())
        self.sums += x.sum(), y.sum()
        self.products += _products(x, y).sum(axis=1)
        x, x_spread = _centred(x, missing, count)
        y, y_spread = _centred(y, missing, count)
        item_products = _products(x, y)
        self.freedom += int(np.maximum(count - 1, 0).sum())
        # Items where only one of the two varies are pairs of models too, so they count here.
        self.weighted += (item_products * count).sum(axis=1)
        both_vary = (x_spread > _NO_SPREAD) & (y_spread > _NO_SPREAD)
        self.items += int(both_vary.sum())
        product, x_square, y_square = item_products[:, both_vary]
        self.within += float((product / np.sqrt(x_square * y_square)).sum())

    def pooled(self) -> float | None:
        if self.cells < 2:
            return None
        x, y = self.sums
        product, x_square, y_square = self.products - np.array([x * y, x * x, y * y]) / self.cells
        # Cells that have both may be constant although the metric elsewhere is not.
        if x_square <= 1e-14 * self.products[1] or y_square <= 1e-14 * self.products[2]:
            return None
        return _bounded(product / np.sqrt(x_square * y_square))

    def differences(self) -> float:
        product, x_square, y_square = self.weighted
        return _bounded(product / np.sqrt(x_square * y_square))


def _products(x: Floats, y: Floats) -> Floats:
    """Return every item's sums of x·y, x·x and y·y."""
    return np.stack([np.einsum("ij,ij->i", *pair) for pair in ((x, y), (x, x), (y, y))])


def _centred(values: Floats, missing: NDArray[np.bool_], count: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the values about the mean of their item (0 where missing), and every item's spread."""
    centred = values - (values.sum(axis=1) / np.maximum(count, 1))[:, None]
    if missing.any():
        centred[missing] = 0.0
        # The mean lies between the values, so that a 0 in a missing place widens no spread.
    return centred, centred.max(axis=1, initial=0.0) - centred.min(axis=1, initial=0.0)


def _middle_and_range(values: Floats) -> tuple[float, float]:
    """Return the middle of the range and the range; middle 0 when nothing is there."""
    if np.isnan(values).all():
        return 0.0, 0.0
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return low / 2 + high / 2, high - low


def _scaled(values: Floats, middle: float, spread: float) -> Floats:
    # Row by row in memory, whatever the layout of the input, so that sums have the same last bits.
    return np.ascontiguousarray((values - middle) / (spread or 1.0))


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks that fit into a processor's cache."""
    step = max(1, _BLOCK_CELLS // max(1, shape[1]))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _bounded(value: float) -> float:
    return float(np.clip(value, -1.0, 1.0))


# --- Metrics that are copies of each other: equal, rescaled, or turned round ----------------------
# A copy adds a name and no information; mixing it with its twin counts one opinion twice.


_COPY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Copy:
    """A metric that repeats an earlier one.

    Attributes:
        metric: The copy.
        of: The metric that it repeats, the first of them in the order of the data.
        kind: ``equal``, ``rescaled`` (a·x + b, a > 0) or ``negated`` (a < 0).
    """

    metric: str
    of: str
    kind: Literal["equal", "rescaled", "negated"]


def copies(metrics: Mapping[str, Floats]) -> tuple[Copy, ...]:
    """Return the metrics that repeat another one, missing cells included; constant ones are left out."""
    groups: dict[bytes, list[str]] = {}
    for name, values in metrics.items():
        mask = hashlib.blake2b(np.packbits(np.isnan(values)).tobytes()).digest()
        if _spread(values) > 0:
            groups.setdefault(mask, []).append(name)
    duplicates = [
        copy for names in groups.values() if len(names) > 1 for copy in _copies_among(names, metrics)
    ]
    order = {name: place for place, name in enumerate(metrics)}
    return tuple(sorted(duplicates, key=lambda copy: order[copy.metric]))


def _copies_among(names: list[str], metrics: Mapping[str, Floats]) -> list[Copy]:
    """Find copies among metrics that miss the same cells, by their correlation, and then cell by cell."""
    correlated = np.triu(np.abs(_correlations([metrics[name] for name in names])) > 1 - _COPY_TOLERANCE, 1)
    copy_by_name: dict[str, Copy] = {}
    for first, second in zip(*np.nonzero(correlated), strict=True):
        original, repeat = names[first], names[second]
        if original in copy_by_name or repeat in copy_by_name:
            continue
        kind = _kind(metrics[original], metrics[repeat])
        if kind is not None:
            copy_by_name[repeat] = Copy(repeat, original, kind)
    return list(copy_by_name.values())


def _correlations(matrices: list[Floats]) -> Floats:
    middles = [float(np.nanmean(values)) for values in matrices]
    spreads = [_spread(values) for values in matrices]
    product = np.zeros((len(matrices), len(matrices)))
    for rows in blocks(matrices[0].shape):
        block = np.stack(
            [
                np.nan_to_num((values[rows] - middle) / spread).ravel()
                for values, middle, spread in zip(matrices, middles, spreads, strict=True)
            ]
        )
        product += block @ block.T
    scale = np.sqrt(np.diag(product))
    return np.asarray(product / np.outer(scale, scale))


def _kind(original: Floats, repeat: Floats) -> Literal["equal", "rescaled", "negated"] | None:
    if np.array_equal(original, repeat, equal_nan=True):
        return "equal"
    low, high = _two_cells(original)
    start, step = repeat.flat[low], repeat.flat[high] - repeat.flat[low]
    line = start + step * ((original - original.flat[low]) / (original.flat[high] - original.flat[low]))
    allowed = 1e-6 * (np.abs(repeat - start) + abs(step))
    if step == 0 or (np.abs(repeat - line) > allowed).any():
        return None
    return "rescaled" if step > 0 else "negated"


def _two_cells(values: Floats) -> tuple[int, int]:
    """Return two cells to lay a line through: the quartiles, which a single huge score cannot move."""
    order = np.argsort(values, axis=None)[: int((~np.isnan(values)).sum())]
    low, high = int(order[len(order) // 4]), int(order[3 * len(order) // 4])
    if values.flat[low] == values.flat[high]:
        return int(order[0]), int(order[-1])
    return low, high


def _spread(values: Floats) -> float:
    return float(np.nanmax(values) - np.nanmin(values)) if not np.isnan(values).all() else 0.0
