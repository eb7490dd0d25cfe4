"""Correlations of two vectors, and of one reference vector with every row of a matrix.

The row-wise versions answer, for every item at once, how well the item orders the models compared with a
reference order of the same models (Zouhar et al. 2025, eq. 5). Models are compared pair by pair, so the
work is models² simple comparisons per item without any loop over items; a missing score (NaN) drops the
model for that item only, and the reference is re-ranked over the models that are left.

A constant vector orders nothing: its correlation is 0.0, not NaN, and so is that of fewer than two pairs.

Our own code, because ``scipy.stats.kendalltau`` (1.17) takes one pair of vectors a call: for 10,000 items and
15 models that is 7.8 s, and 0.007 s here. It serves single vectors beyond 1,000 values, where sorting wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.lazy import stats
from sparingly.base.rng import round_to_range

_RANK_CELLS = 1 << 20


def average_ranks(values: Floats, axis: int = -1) -> Floats:
    """Rank values from 1 (smallest) upwards along an axis; equal values share the mean of their ranks.

    NaN has rank NaN and takes no place. Other axes are processed in blocks, so that extra memory is bounded.
    """
    moved = np.moveaxis(np.asarray(values, np.float64), axis, -1)
    if moved.size == 0:
        return np.empty(np.shape(values))
    flat = moved.reshape(-1, moved.shape[-1])
    width, ranks = flat.shape[1], np.empty(flat.shape)
    places, step = np.arange(width), max(1, _RANK_CELLS // width)
    for start in range(0, len(flat), step):
        rows = flat[start : start + step]
        order = np.argsort(rows, axis=1)
        ordered = np.take_along_axis(rows, order, axis=1)
        starts = np.ones(rows.shape, bool)
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
        ends = np.ones(rows.shape, bool)
        ends[:, :-1] = starts[:, 1:]
        first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, places, width)[:, ::-1], axis=1)[:, ::-1]
        shared = (first + last) * 0.5 + 1.0
        shared[np.isnan(ordered)] = np.nan
        np.put_along_axis(ranks[start : start + step], order, shared, axis=1)
    return np.moveaxis(ranks.reshape(moved.shape), -1, axis)


_BLOCK_CELLS = 1 << 17
_PAIRWISE_LIMIT = 1_000
_LANE = 127


def pearson(x: Floats, y: Floats) -> float:
    """Return Pearson's r = cov(x, y) / (sd x · sd y) over the places where neither is missing."""
    x, y = _complete_pairs(x, y)
    if _is_constant(x) or _is_constant(y):
        return 0.0
    dx, dy = x - x.mean(), y - y.mean()
    # Scaling first keeps very small and very large numbers from under- or overflowing in the squares.
    dx, dy = dx / np.abs(dx).max(), dy / np.abs(dy).max()
    return float(np.clip(dx @ dy / np.sqrt((dx @ dx) * (dy @ dy)), -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """Return Spearman's rho: Pearson's r of the average ranks."""
    x, y = _complete_pairs(x, y)
    return pearson(average_ranks(x), average_ranks(y))


def kendall_b(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-b = (C − D) / √((C + D + Tx)(C + D + Ty)), T: pairs tied in one vector only."""
    return _kendall(x, y, "b")


def kendall_c(x: Floats, y: Floats) -> float:
    """Return Kendall's (Stuart's) tau-c = 2m(C − D) / (n²(m − 1)), m: fewer distinct values of the two."""
    return _kendall(x, y, "c")


def pearson_rows(reference: Floats, values: Floats) -> Floats:
    """Return Pearson's r of the reference with every row."""
    reference, values = _known_models(reference, values, round_reference=False)
    present = ~np.isnan(values)
    count = np.maximum(present.sum(axis=1), 1)[:, None]
    x = np.where(present, values, 0.0)
    y = np.where(present, reference, 0.0)
    dx = np.where(present, x - x.sum(axis=1, keepdims=True) / count, 0.0)
    dy = np.where(present, y - y.sum(axis=1, keepdims=True) / count, 0.0)
    dx, dy = _scaled(dx, values), _scaled(dy, np.where(present, reference, np.nan))
    norm = np.sqrt((dx * dx).sum(axis=1) * (dy * dy).sum(axis=1))
    return np.clip(_ratio((dx * dy).sum(axis=1), norm), -1.0, 1.0)


def spearman_rows(reference: Floats, values: Floats) -> Floats:
    """Return Spearman's rho of the reference with every row.

    Twice the centred rank of a model is the number of models below it minus the number above it, which is
    what the comparisons count; ranks themselves are never needed.
    """
    reference, values = _known_models(reference, values)
    result = np.empty(len(values))
    signs = np.sign(reference[:, None] - reference[None, :])
    for rows, columns in _blocks(values):
        # The number of models below each one minus the number above it; few models fit into 8 bits (quick).
        counts = np.zeros(columns.shape, np.int8 if len(columns) <= _LANE else np.int32)
        for model in range(len(columns) - 1):
            later = columns[model + 1 :]
            order = (columns[model] > later).view(np.int8) - (columns[model] < later).view(np.int8)
            counts[model] += np.add.reduce(order, axis=0, dtype=counts.dtype)
            counts[model + 1 :] -= order
        balance = counts.astype(np.float64)
        present = ~np.isnan(columns)
        # Without gaps this is one vector; else each row re-ranks the reference over the models it has.
        expected = signs.sum(axis=1)[:, None] if present.all() else (signs @ present) * present
        spread = (balance * balance).sum(axis=0) * (expected * expected).sum(axis=0)
        result[rows] = _ratio((balance * expected).sum(axis=0), np.sqrt(spread))
    return np.clip(result, -1.0, 1.0)


def kendall_b_rows(reference: Floats, values: Floats) -> Floats:
    """Return Kendall's tau-b of the reference with every row."""
    reference, values = _known_models(reference, values)
    order, stops = _by_reference(reference)
    result = np.empty(len(values))
    for rows, columns in _blocks(values, order):
        agree, differ = _concordance(columns, stops)
        ordered = agree + differ
        for model, stop in enumerate(stops):
            # Pairs that the item orders although the reference ties them.
            tied = columns[model + 1 : stop]
            ordered += _count((columns[model] > tied) | (columns[model] < tied))
        untied = _reference_pairs(columns, stops)
        result[rows] = _ratio(agree - differ, np.sqrt(ordered.astype(float) * untied))
    return np.clip(result, -1.0, 1.0)


def kendall_c_rows(reference: Floats, values: Floats) -> Floats:
    """Return Kendall's tau-c of the reference with every row (scipy's ``kendalltau(variant="c")``)."""
    reference, values = _known_models(reference, values)
    order, stops = _by_reference(reference)
    result = np.empty(len(values))
    for rows, columns in _blocks(values, order):
        agree, differ = _concordance(columns, stops)
        ascending, present = np.sort(values[rows], axis=1), ~np.isnan(columns)
        steps = (ascending[:, 1:] > ascending[:, :-1]).sum(axis=1)
        distinct = steps + (~np.isnan(ascending[:, :1])).any(axis=1)
        # The distinct reference values among the models with a score.
        reference_values = np.sum([present[stops == stop].any(axis=0) for stop in np.unique(stops)], axis=0)
        smaller = np.minimum(distinct, reference_values)
        count = present.sum(axis=0)
        result[rows] = _ratio(2.0 * smaller * (agree - differ), count**2 * (smaller - 1.0))
    return np.clip(result, -1.0, 1.0)


def pairwise_accuracy_rows(reference: Floats, values: Floats) -> Floats:
    """Return, for every row, the share of model pairs that it puts in the reference's order.

    Pairs that the reference ties are left out; a pair that only the row ties is not in the reference's
    order, so a constant row scores 0.
    """
    reference, values = _known_models(reference, values)
    order, stops = _by_reference(reference)
    result = np.empty(len(values))
    for rows, columns in _blocks(values, order):
        result[rows] = _ratio(_concordance(columns, stops)[0], _reference_pairs(columns, stops))
    return result


def _complete_pairs(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise UsageError(
            f"A correlation needs two vectors of one length, not shapes {x.shape} and {y.shape}."
        )
    present = ~(np.isnan(x) | np.isnan(y))
    return x[present], y[present]


def _is_constant(values: Floats) -> bool:
    return values.size < 2 or bool(values.min() == values.max())


def _kendall(x: Floats, y: Floats, variant: Literal["b", "c"]) -> float:
    x, y = _complete_pairs(x, y)
    if _is_constant(x) or _is_constant(y):
        return 0.0
    if x.size <= _PAIRWISE_LIMIT:
        # Dense ranks survive the rounding that references get, so exact equality decides ties here.
        dense = np.unique(x, return_inverse=True)[1].astype(np.float64)
        rows = kendall_b_rows if variant == "b" else kendall_c_rows
        return float(rows(dense, y[None, :])[0])
    return float(stats.kendalltau(x, y, variant=variant, method="asymptotic").statistic)


def _known_models(reference: Floats, values: Floats, round_reference: bool = True) -> tuple[Floats, Floats]:
    """Drop the models without a reference value, and make near-ties of the reference exact.

    Reference values are sums over items: rounding them to 1e-9 of their range keeps two models that are
    equal in truth equal, whatever the order in which their scores were added.
    """
    reference, values = np.asarray(reference, np.float64), np.asarray(values, np.float64)
    if values.ndim != 2 or reference.shape != values.shape[1:]:
        raise UsageError(
            f"The reference needs one value per column, not shape {reference.shape} for {values.shape}."
        )
    has_reference = ~np.isnan(reference)
    if not has_reference.all():
        reference, values = reference[has_reference], values[:, has_reference]
    return (round_to_range(reference) if round_reference else reference), values


def _by_reference(reference: Floats) -> tuple[Ints, Ints]:
    """Order the models by the reference, best first; ``stops`` is where the models below each one begin."""
    order = np.argsort(-reference, kind="stable")
    below = -reference[order]
    return order, np.searchsorted(below, below, side="right").astype(np.int64)


def _blocks(values: Floats, order: Ints | slice = slice(None)) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of rows as (models × items), so that every comparison runs over contiguous items."""
    step = max(1, _BLOCK_CELLS // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        rows = slice(start, start + step)
        yield rows, np.ascontiguousarray(values[rows].T[order])


def _count(flags: NDArray[np.bool_]) -> Ints:
    """Count the true cells of every column, in 8-bit lanes (quick) that are emptied before they overflow."""
    total = np.zeros(flags.shape[1], np.int64)
    for start in range(0, len(flags), _LANE):
        total += np.add.reduce(flags[start : start + _LANE].view(np.int8), axis=0, dtype=np.int8)
    return total


def _concordance(columns: Floats, stops: Ints) -> tuple[Ints, Ints]:
    """Count, per item, the pairs ordered as the reference has them and those ordered the other way."""
    agree = np.zeros(columns.shape[1], np.int64)
    differ = np.zeros(columns.shape[1], np.int64)
    for better, stop in enumerate(stops):
        agree += _count(columns[better] > columns[stop:])
        differ += _count(columns[better] < columns[stop:])
    return agree, differ


def _reference_pairs(columns: Floats, stops: Ints) -> Ints:
    """Count, per item, the pairs of models with scores that the reference does not tie."""
    present = ~np.isnan(columns)
    pairs = np.zeros(columns.shape[1], np.int64)
    for better, stop in enumerate(stops):
        pairs += _count(present[better] & present[stop:])
    return pairs


def _scaled(deviations: Floats, values: Floats) -> Floats:
    """Scale each row's deviations to at most 1; rows of one repeated value become exactly 0."""
    largest = np.abs(deviations).max(axis=1, keepdims=True, initial=0.0)
    no_gaps = np.where(np.isnan(values), np.inf, values)
    lowest = no_gaps.min(axis=1, keepdims=True, initial=np.inf)
    constant = ~((values > lowest).any(axis=1, keepdims=True))
    return np.where(constant | (largest == 0), 0.0, deviations / np.where(largest == 0, 1.0, largest))


def _ratio(numerator: NDArray[np.float64] | Ints, denominator: NDArray[np.float64] | Ints) -> Floats:
    """Divide; 0.0 where the denominator is 0."""
    is_zero = denominator == 0
    return np.where(is_zero, 0.0, numerator / np.where(is_zero, 1, denominator))
