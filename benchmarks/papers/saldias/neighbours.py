"""kNN predictions from metrics for many draws of one case: the order of neighbours is sorted once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import JudgedSample

NEIGHBOURS = 25
# How much deeper than expected neighbours are looked for at first.
_DEEPER = 1.5


class Neighbours:
    """kNN predictions for many draws: all items in the order of their distance, sorted once."""

    def __init__(self, variates: Floats) -> None:
        self.order = [_nearest_first(variates[:, :, model].T) for model in range(variates.shape[2])]
        # Whose how-manieth neighbour an item is.
        self.rank = [np.argsort(order, axis=1).astype(np.int32) for order in self.order]

    def predictions(self, sample: JudgedSample, neighbours: int = NEIGHBOURS) -> Floats:
        """Return the mean score of the nearest judged items, for every item and system (in sample)."""
        told = np.zeros((sample.size, sample.models))
        for model in range(sample.models):
            seen = sample.judged[:, model]
            told[:, model] = self._mean_of_nearest(
                model, sample.rows[seen], sample.scores[seen, model], neighbours
            )
        return told

    def _mean_of_nearest(
        self, model: int, rows: NDArray[np.int64], scores: Floats, neighbours: int
    ) -> Floats:
        total, count = len(self.order[model]), len(rows)
        if count <= neighbours:
            return np.full(total, scores.mean())
        depth = int(_DEEPER * neighbours * total / count)
        if count <= depth:
            near = np.argpartition(self.rank[model][:, rows], neighbours - 1, axis=1)[:, :neighbours]
            return np.asarray(scores[near].mean(axis=1))
        judged, values = np.zeros(total, bool), np.zeros(total)
        judged[rows], values[rows] = True, scores
        return _mean_along(self.order[model], judged, values, neighbours, depth)


def _nearest_first(points: Floats) -> NDArray[np.int32]:
    squares = (points**2).sum(axis=1)
    distance = squares[:, None] + squares - 2.0 * (points @ points.T)
    np.fill_diagonal(distance, -1.0)
    return np.asarray(np.argsort(distance, axis=1, kind="stable"), np.int32)


def _mean_along(
    order: NDArray[np.int32], judged: NDArray[np.bool_], values: Floats, neighbours: int, depth: int
) -> Floats:
    """Return the mean of the first judged ones along each row, looked for deeper until there are enough."""
    while True:
        near = order[:, :depth]
        there = judged[near]
        rank = there.cumsum(axis=1, dtype=np.int32)
        if depth >= len(judged) or int(rank[:, -1].min()) >= neighbours:
            break
        depth *= 2
    used = there & (rank <= neighbours)
    return np.asarray(np.where(used, values[near], 0.0).sum(axis=1) / neighbours)
