"""Predictions of anything that is known of the judged outputs, for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.sample import Floats, Rows, Sample

if TYPE_CHECKING:
    from sparingly.signals.predict import Predictions


def learned_from(data: EvalSet, sample: Sample, values: Floats, seed: int) -> Predictions:
    """Learn values of the judged outputs (judged items × models) from the metrics, cross-fitted, by 1/π."""
    from sparingly.signals.predict import predict_scores

    labels, weights = np.full(data.shape, np.nan), np.ones(data.shape)
    labels[sample.rows] = np.where(sample.judged, values, np.nan)
    weights[sample.rows] = 1.0 / sample.probability
    return predict_scores(data, labels, weights=weights, groups=_together(sample), seed=seed)


def _together(sample: Sample) -> Rows | None:
    """Return what must stay in one fold: the drawn units, where they are not single items."""
    if len(np.unique(sample.cluster)) == len(sample.rows):
        return None
    groups = np.arange(sample.size) + int(sample.cluster.max()) + 1
    groups[sample.rows] = sample.cluster
    return groups
