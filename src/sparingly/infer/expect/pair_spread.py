"""How much the differences of two models vary over items, also where few items show it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.stats.pairs import pair_indices

# How many items' worth of evidence the expected spread of a pair counts.
_BORROWED = 5.0
_NOTHING = 1e-18


class PairVariances(NamedTuple):
    """Of every pair of models: the variance of its differences over the items that both were judged on.

    Attributes:
        variance: One number per pair; 0 where there are no two such items.
        common: The number of such items.
    """

    variance: Floats
    common: Floats


def pair_variances(scores: Floats, judged: Mask) -> PairVariances:
    """Return the variances of differences without ever forming items × pairs."""
    there = judged.astype(np.float64)
    known = np.where(judged, scores, 0.0)
    common = there.T @ there
    apart = (known.T @ there - there.T @ known) / np.maximum(common, 1.0)
    own = (known**2).T @ there
    squares = own + own.T - 2.0 * known.T @ known
    variance = np.maximum(squares - common * apart**2, 0.0) / np.maximum(common - 1.0, 1.0)
    pairs = pair_indices(scores.shape[1])
    return PairVariances(variance[pairs], common[pairs])


def steadied(found: PairVariances, closeness: Floats) -> Floats:
    """Return the standard deviation of every pair, borrowing from the others as if on five more items.

    What is borrowed is the mean variance of all pairs, times how far apart the metrics see the two models:
    near copies differ on few items, and five items alone would not tell.
    """
    evidence = np.maximum(found.common - 1.0, 0.0)
    mean = float((found.variance * evidence).sum() / max(float(evidence.sum()), 1.0))
    expected = mean * closeness / closeness.mean()
    pooled = (found.variance * evidence + _BORROWED * expected) / (evidence + _BORROWED)
    return np.asarray(np.sqrt(np.maximum(pooled, _NOTHING)))
