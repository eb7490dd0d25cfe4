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
    """The range of a metric or an aspect; None where it has no score."""

    name: str
    minimum: float | None
    mean: float | None
    maximum: float | None
    constant: bool  # whether all scores are equal: it says nothing
    same_for_models: bool  # whether the models of every item have one score: it cannot tell models apart


def scores_of(arrays: NamedArrays) -> tuple[ScoreRange, ...]:
    """Return the range of every metric or aspect."""
    ranges = []
    for name, values in arrays.items():
        missing = np.isnan(values)
        present = values[~missing]
        if not present.size:
            ranges.append(ScoreRange(name, None, None, None, constant=False, same_for_models=False))
            continue
        low, high = float(present.min()), float(present.max())
        # No item's scores differ, and at least one item has two of them.
        several = values.shape[1] - missing.sum(axis=1) > 1
        highest, lowest = np.where(missing, -np.inf, values), np.where(missing, np.inf, values)
        spread = highest.max(axis=1)[several] - lowest.min(axis=1)[several]
        ranges.append(
            ScoreRange(
                name,
                minimum=low,
                mean=float(present.mean()),
                maximum=high,
                constant=low == high and present.size > 1,
                same_for_models=bool(len(spread) and (spread <= (high - low) * 1e-9).all()),
            )
        )
    return tuple(ranges)


# --- how well every metric agrees with every aspect ---
# A metric can follow people over all outputs only because it knows which items are hard; choosing between
# models needs the other two numbers (Zouhar et al. 2025, section 5, relate them to what selection gains).


_BLOCK_CELLS = 1 << 16
# A spread below this share of the whole range is rounding, not a difference between models.
_NO_SPREAD = 1e-9


@dataclass(frozen=True)
class Correlation:
    """How a metric agrees with an aspect, by Pearson's r; None where nothing varies."""

    metric: str
    aspect: str
    pooled: float | None  # over all cells that have both
    # Mean over items of the correlation across their models, over the items where both vary.
    within: float | None
    # Of the differences between two models on one item, over all items and pairs of models: ``Σᵢ nᵢ Sᵢ(x,y) /
    # √(Σᵢ nᵢ Sᵢ(x,x) · Σᵢ nᵢ Sᵢ(y,y))`` with Sᵢ the sum of products about the item's mean over its nᵢ models.
    # Selections made with a metric are as good as this number.
    differences: float | None
    cells: int  # the number of cells that have both
    items: int  # the number of items behind ``within``
    freedom: int  # the number of independent differences between models, Σᵢ (nᵢ − 1)


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
    cells = items = freedom = 0
    within_sum = 0.0
    sums, products, weighted = np.zeros(2), np.zeros(3), np.zeros(3)
    for rows in blocks(x.shape):
        # Scaled to a range of 1 about 0, so that neither huge nor tiny scores lose digits in the squares.
        x_block, y_block = _scaled(x[rows], x_middle, x_range), _scaled(y[rows], y_middle, y_range)
        missing = np.isnan(x_block) | np.isnan(y_block)
        count = x_block.shape[1] - missing.sum(axis=1)
        if missing.any():
            x_block, y_block = np.where(missing, 0.0, x_block), np.where(missing, 0.0, y_block)
        cells += int(count.sum())
        freedom += int(np.maximum(count - 1, 0).sum())
        sums += x_block.sum(), y_block.sum()
        products += _products(x_block, y_block).sum(axis=1)
        x_block, x_spread = _centred(x_block, missing, count)
        y_block, y_spread = _centred(y_block, missing, count)
        item_products = _products(x_block, y_block)
        # Items where only one of the two varies are pairs of models too, so they count here.
        weighted += (item_products * count).sum(axis=1)
        both_vary = (x_spread > _NO_SPREAD) & (y_spread > _NO_SPREAD)
        items += int(both_vary.sum())
        product, x_square, y_square = item_products[:, both_vary]
        within_sum += float((product / np.sqrt(x_square * y_square)).sum())
    pooled = None
    if x_range > 0 and y_range > 0 and cells > 1:
        x_sum, y_sum = sums
        about_means = products - np.array([x_sum * y_sum, x_sum * x_sum, y_sum * y_sum]) / cells
        # Cells that have both may be constant although the metric elsewhere is not.
        if (about_means[1:] > 1e-14 * products[1:]).all():
            pooled = _ratio(about_means)
    return Correlation(
        metric=metric,
        aspect=aspect,
        pooled=pooled,
        within=within_sum / items if items else None,
        differences=_ratio(weighted) if items else None,
        cells=cells,
        items=items,
        freedom=freedom,
    )


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


def _ratio(products: Floats) -> float:
    """Return r from the sums of x·y, x·x and y·y."""
    product, x_square, y_square = products
    return float(np.clip(product / np.sqrt(x_square * y_square), -1.0, 1.0))


# --- metrics that are copies of each other: equal, rescaled, or turned round ---
# A copy adds a name and no information; mixing it with its twin counts one opinion twice.


_COPY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Copy:
    """A metric that repeats an earlier one: equal, rescaled (a·x + b, a > 0) or negated (a < 0)."""

    metric: str  # the copy
    of: str  # the metric that it repeats, the first of them in the order of the data
    kind: Literal["equal", "rescaled", "negated"]


def copies(metrics: Mapping[str, Floats]) -> tuple[Copy, ...]:
    """Return the metrics that repeat another one, missing cells included; constant ones are left out."""
    groups: dict[bytes, list[str]] = {}
    for name, values in metrics.items():
        mask = hashlib.blake2b(np.packbits(np.isnan(values)).tobytes()).digest()
        if _middle_and_range(values)[1] > 0:
            groups.setdefault(mask, []).append(name)
    copy_by_name: dict[str, Copy] = {}
    # Among metrics that miss the same cells: by their correlation, and then cell by cell.
    for names in (group for group in groups.values() if len(group) > 1):
        matrices = [metrics[name] for name in names]
        middles = [float(np.nanmean(values)) for values in matrices]
        spreads = [_middle_and_range(values)[1] for values in matrices]
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
        correlated = np.abs(np.asarray(product / np.outer(scale, scale))) > 1 - _COPY_TOLERANCE
        for first, second in zip(*np.nonzero(np.triu(correlated, 1)), strict=True):
            original, repeat = names[first], names[second]
            if original in copy_by_name or repeat in copy_by_name:
                continue
            kind = _kind(metrics[original], metrics[repeat])
            if kind is not None:
                copy_by_name[repeat] = Copy(repeat, original, kind)
    return tuple(copy_by_name[name] for name in metrics if name in copy_by_name)


def _kind(original: Floats, repeat: Floats) -> Literal["equal", "rescaled", "negated"] | None:
    if np.array_equal(original, repeat, equal_nan=True):
        return "equal"
    # A line is laid through two cells: the quartiles, which a single huge score cannot move.
    order = np.argsort(original, axis=None)[: int((~np.isnan(original)).sum())]
    low, high = order[len(order) // 4], order[3 * len(order) // 4]
    if original.flat[low] == original.flat[high]:
        low, high = order[0], order[-1]
    start, step = repeat.flat[low], repeat.flat[high] - repeat.flat[low]
    line = start + step * ((original - original.flat[low]) / (original.flat[high] - original.flat[low]))
    allowed = 1e-6 * (np.abs(repeat - start) + abs(step))
    if step == 0 or (np.abs(repeat - line) > allowed).any():
        return None
    return "rescaled" if step > 0 else "negated"
