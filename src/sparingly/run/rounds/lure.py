"""LURE: an unbiased mean from items that were drawn one at a time, each with a chance of its own."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import Linear, Sample


def lure_weights(likelier: Floats, size: int) -> Floats:
    """Return v_m = 1 + (N − M)/(N − m)·(1/((N − m + 1)·q_m) − 1) of M items in the order of their draws.

    Each has mean 1 given what was drawn before, so M⁻¹ Σ_m v_m L_m is an unbiased mean of any L over the N
    items (Farquhar, Gal and Rainforth 2021).

    Args:
        likelier: (N − m + 1)·q_m, how many times likelier than in an equal draw the m-th item was, when N − m
            + 1 items were left.
        size: The number N of items.
    """
    count = len(likelier)
    later = size - np.arange(1, count + 1)
    share = np.divide(size - count, later, out=np.zeros(count), where=later > 0)
    return np.asarray(1.0 + share * (1.0 / likelier - 1.0))


def lure_form(sample: Sample, weights: Floats, predicted: Floats) -> Linear:
    """Return N⁻¹ Σ_all f_ij + M_j⁻¹ Σ_m v_m (y_mj − f_mj) as a linear form, M_j counts what was judged."""
    counts = sample.judged.sum(axis=0)
    missed = np.where(sample.judged, sample.values - predicted[sample.rows], 0.0)
    raised = missed * (weights * sample.importance)[:, None] / np.maximum(counts, 1)
    unjudged = np.where(counts > 0, 0.0, np.nan)
    return Linear(
        fixed=sample.whole_mean(predicted) + unjudged,
        residual=raised * sample.probability * sample.size,
        predicted=predicted,
    )
