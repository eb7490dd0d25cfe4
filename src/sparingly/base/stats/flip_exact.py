"""The sign-flip test by enumeration, for pairs of models that differ on few items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.stats.flip_sums import TIE
from sparingly.base.stats.pairs import pair_count, pair_differences

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CELLS = 1 << 20


class FirstDifferences(NamedTuple):
    """The first non-zero differences of every pair, in item order, and where they stand.

    Both are (limit + 1) × pairs; a place beyond the last item, and a difference of 0, mean: there is none.
    """

    values: Floats
    places: Indices

    def counts(self, sizes: Indices) -> Indices:
        """Return how many of them lie inside each size (sizes × pairs), at most limit + 1."""
        inside: Indices = (self.places[None, :, :] < sizes[:, None, None]).sum(axis=1)
        return inside


def first_differences(scores: Floats, weights: Floats | None, limit: int) -> FirstDifferences:
    """Find the first ``limit`` + 1 items on which the two models of each pair differ.

    Reading stops as soon as every pair has them: one more than can be enumerated is enough to know that
    enumeration is out of reach.
    """
    items, models = scores.shape
    found = np.zeros(pair_count(models), np.int64)
    values = np.zeros((limit + 1, len(found)))
    places = np.full((limit + 1, len(found)), items, np.int64)
    start, chunk = 0, 64
    while start < items and (found <= limit).any():
        searched = np.flatnonzero(found <= limit)
        part = slice(start, start + chunk)
        differences = pair_differences(scores[part], None if weights is None else weights[part], searched)
        nth = found[searched] + np.cumsum(differences != 0.0, axis=0)
        rows, columns = np.nonzero((differences != 0.0) & (nth <= limit + 1))
        values[nth[rows, columns] - 1, searched[columns]] = differences[rows, columns]
        places[nth[rows, columns] - 1, searched[columns]] = start + rows
        found[searched] = np.minimum(nth[-1], limit + 1)
        start, chunk = start + chunk, min(2 * chunk, max(64, _CELLS // len(found)))
    return FirstDifferences(values, places)


def exact_p_values(differences: Floats) -> Floats:
    """Return mid-p values by visiting all 2ⁿ sign patterns of n differences (n × pairs) per pair.

    The null sum exceeds the observed one exactly when the flipped differences sum to less than zero.
    """
    patterns = 2 ** len(differences)
    result = np.empty(differences.shape[1])
    step = max(1, _CELLS // patterns)
    for start in range(0, len(result), step):
        part = differences[:, start : start + step]
        sums = np.zeros((1, part.shape[1]))
        for difference in part:
            sums = np.concatenate([sums, sums + difference])
        near = TIE * np.abs(part).sum(axis=0)
        below, at_most = (sums < -near).sum(axis=0), (sums <= near).sum(axis=0)
        result[start : start + step] = (below + at_most) / (2.0 * patterns)
    return result
