"""Means and variances over the models of every item, missing scores left out."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats

_BLOCK = 4096


def row_means(scores: Floats) -> Floats:
    """Return the mean of every row over its present values, NaN where there are none."""
    # A matrix product sums rows several times faster than a reduction over a short axis.
    total = scores @ np.ones(scores.shape[1])
    means = total / scores.shape[1] if scores.shape[1] else np.full(len(scores), np.nan)
    gaps = np.flatnonzero(np.isnan(total))
    if len(gaps):
        present = ~np.isnan(scores[gaps])
        counts = present.sum(axis=1)
        sums = np.where(present, scores[gaps], 0.0).sum(axis=1)
        means[gaps] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.asarray(means)


def row_variances(scores: Floats) -> Floats:
    """Return the population variance of every row about its mean, missing values left out."""
    means, variances = row_means(scores), np.empty(len(scores))
    # In blocks that stay in the processor's cache: touching new memory would cost more than the sums.
    for start in range(0, len(scores), _BLOCK):
        rows = slice(start, start + _BLOCK)
        deviations = scores[rows] - means[rows, None]
        variances[rows] = np.einsum("ij,ij->i", deviations, deviations) / scores.shape[1]
    gaps = np.flatnonzero(np.isnan(variances))
    if len(gaps):
        variances[gaps] = row_means((scores[gaps] - means[gaps, None]) ** 2)
    return variances
