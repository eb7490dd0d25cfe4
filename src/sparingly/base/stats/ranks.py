"""Average ranks, the common ground of Spearman's correlation and of the signed-rank test."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats

_BLOCK_CELLS = 1 << 20


def average_ranks(values: Floats, axis: int = -1) -> Floats:
    """Rank values from 1 (smallest) upwards along an axis; equal values share the mean of their ranks.

    NaN has rank NaN and takes no place. The other axes are worked through in blocks, so that the memory
    beyond the result does not grow with them.
    """
    moved = np.moveaxis(np.asarray(values, np.float64), axis, -1)
    if moved.size == 0:
        return np.empty(np.shape(values))
    flat = moved.reshape(-1, moved.shape[-1])
    ranks = np.empty(flat.shape)
    step = max(1, _BLOCK_CELLS // flat.shape[1])
    for start in range(0, len(flat), step):
        ranks[start : start + step] = _rank_rows(flat[start : start + step])
    return np.moveaxis(ranks.reshape(moved.shape), -1, axis)


def _rank_rows(rows: Floats) -> Floats:
    width = rows.shape[1]
    order = np.argsort(rows, axis=1)
    ordered = np.take_along_axis(rows, order, axis=1)
    starts = np.ones(rows.shape, bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    ends = np.ones(rows.shape, bool)
    ends[:, :-1] = starts[:, 1:]
    places = np.arange(width)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, width)[:, ::-1], axis=1)[:, ::-1]
    shared = (first + last) * 0.5 + 1.0
    shared[np.isnan(ordered)] = np.nan
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, shared, axis=1)
    return ranks
