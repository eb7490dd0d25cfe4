"""Predictions of anything that is known of the judged outputs, for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.folds import together
from sparingly.infer.estimate.sample import Sample

if TYPE_CHECKING:
    from sparingly.signals.predict import Predictions


def learned_from(data: EvalSet, sample: Sample, values: Floats, seed: int) -> Predictions:
    """Learn values of the judged outputs (judged items × models) from the metrics, cross-fitted, by 1/π."""
    from sparingly.signals.predict import predict_scores

    labels, weights = cells_of(data, sample, values)
    return predict_scores(data, labels, weights=weights, groups=together(sample), seed=seed)


def cells_of(data: EvalSet, sample: Sample, values: Floats) -> tuple[Floats, Floats]:
    """Return values of the judged outputs as items × models (NaN elsewhere), and the weights 1/π."""
    labels, weights = np.full(data.shape, np.nan), np.ones(data.shape)
    labels[sample.rows] = np.where(sample.judged, values, np.nan)
    weights[sample.rows] = 1.0 / sample.probability
    return labels, weights
