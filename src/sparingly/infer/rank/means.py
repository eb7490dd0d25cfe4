"""Means of models over the items on which they were judged, for one set and for growing subsets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import checked_sizes


def model_means(scores: Floats, weights: Floats | None = None) -> Floats:
    """Return each model's (weighted) mean Σwy / Σw over its judged items; NaN for a model without any."""
    whole: Floats = prefix_means(scores, [len(scores)], weights)[0]
    return whole


def prefix_means(scores: Floats, sizes: Sequence[int] | Ints, weights: Floats | None = None) -> Floats:
    """Return the means (sizes × models) over the first k items for every k, reading the items once."""
    ascending, places = checked_sizes(sizes, len(scores))
    scores = scores[: ascending[-1]]
    judged = ~np.isnan(scores)
    share = judged.astype(np.float64) if weights is None else judged * weights[: len(scores), None]
    starts = np.concatenate([[0], ascending[:-1]])
    total = np.add.reduceat(np.where(judged, scores, 0.0) * share, starts, axis=0).cumsum(axis=0)
    count = np.add.reduceat(share, starts, axis=0).cumsum(axis=0)
    means: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return np.asarray(means[places])


def settled(means: Floats) -> Floats:
    """Round means (… × models) to 1e-9 of their range, for comparing and ranking only.

    The last bits of a sum depend on the order of summing; without this, two models that are equal in truth
    would be ranked by it.
    """
    low = np.where(np.isnan(means), np.inf, means).min(axis=-1, keepdims=True, initial=np.inf)
    high = np.where(np.isnan(means), -np.inf, means).max(axis=-1, keepdims=True, initial=-np.inf)
    step = np.where(high > low, (high - low) * 1e-9, 1.0)
    return np.where(high > low, np.round((means - low) / step), means)
