"""kNN predictions of scores from metrics, model by model, as Saldías et al. 2022 make them (k = 25)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.infer.estimate.folds import Split
from sparingly.infer.estimate.sample import Sample


def neighbour_predictions(
    sample: Sample, variates: Floats, splits: Sequence[Split], neighbours: int
) -> Floats:
    """Return what kNN predicts for every item and model; for judged items from the other folds.

    Args:
        sample: The judged items.
        variates: metrics × items × models, standardised.
        splits: The folds; items outside the sample get the mean over them.
        neighbours: The number of neighbours.
    """
    predicted = np.zeros(variates.shape[1:])
    for model in range(sample.models):
        told = []
        for learn, use in splits:
            rows = np.flatnonzero(learn & sample.judged[:, model])
            if len(rows):
                scores = sample.scores[rows, model]
                told.append((nearest_mean(variates[:, :, model], sample.rows[rows], scores, neighbours), use))
        if told:
            predicted[:, model] = np.mean([values for values, _ in told], axis=0)
        for values, use in told:
            predicted[sample.rows[use], model] = values[sample.rows[use]]
    return predicted


def nearest_mean(variates: Floats, rows: Ints, scores: Floats, neighbours: int) -> Floats:
    """Return the mean score of the nearest judged items for every item of metrics × items."""
    from scipy.spatial import KDTree

    points = variates.T
    near = min(neighbours, len(rows))
    found = KDTree(points[rows]).query(points, k=near)[1].reshape(len(points), near)
    return np.asarray(scores[found].mean(axis=1))
