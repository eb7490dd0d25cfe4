"""The sign-flip test by enumeration, for pairs of models that differ on few items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.flip_sums import TIE
from sparingly.base.stats.pairs import pair_count, pair_differences

_CELLS = 1 << 20


class FirstDifferences(NamedTuple):
    """The first non-zero differences of every pair, in item order, and where they stand.

    Both are (limit + 1) × pairs; a place beyond the last item, and a difference of 0, mean: there is none.
    """

    values: Floats
    places: Ints

    def counts(self, sizes: Ints) -> Ints:
        """Return how many of them lie inside each size (sizes × pairs), at most limit + 1."""
        inside: Ints = (self.places[None, :, :] < sizes[:, None, None]).sum(axis=1)
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


def exact_p_values(differences: Floats, counts: Ints) -> Floats:
    """Return mid-p values (counts × pairs) of the first c differences (n × pairs), for ascending counts c.

    All 2ᶜ sign patterns are visited. The null sum exceeds the observed one exactly when the flipped
    differences sum to less than zero. Each further difference doubles the list of sums, so the sums of a
    smaller count are never computed again.
    """
    result = np.empty((len(counts), differences.shape[1]))
    patterns = 1 << int(counts.max(initial=0))
    step = max(1, _CELLS // patterns)
    for start in range(0, differences.shape[1], step):
        part = differences[:, start : start + step].T
        sums, done = np.zeros((len(part), patterns)), 0
        for row, count in enumerate(counts):
            for place in range(done, int(count)):
                half = 1 << place
                np.add(sums[:, :half], part[:, place, None], out=sums[:, half : 2 * half])
            done = int(count)
            near = TIE * np.abs(part[:, :done]).sum(axis=1, keepdims=True)
            reached = sums[:, : 1 << done]
            below, at_most = (reached < -near).sum(axis=1), (reached <= near).sum(axis=1)
            result[row, start : start + step] = (below + at_most) / (2.0 * (1 << done))
    return result
