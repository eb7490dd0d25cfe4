"""Scores with their joint covariance: standard errors of differences, and which of them tell anything."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError

# What subtracting two equal variances leaves, as a share of their root; and of means, as a share of them.
_ROUNDING, _MEAN_ROUNDING = 1e-7, 1e-12


def pair_errors(covariance: Floats) -> Floats:
    """Return the standard error of every difference, se_jk = √(Σ_jj + Σ_kk − 2Σ_jk), models × models."""
    variance = np.diag(covariance)
    squared = variance[:, None] + variance[None, :] - 2 * covariance
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def pair_tells(covariance: Floats, scores: Floats | None = None) -> NDArray[np.bool_]:
    """Return for which pairs there is any error, models × models: none is left where it is mere rounding.

    An error is rounding below 1e-7 of the root of the two variances' sum, and below 1e-12 of the scores.
    """
    own = np.maximum(np.diag(covariance), 0.0)
    least = _ROUNDING * np.sqrt(own[:, None] + own[None, :])
    if scores is not None:
        size = np.abs(scores)
        least = np.maximum(least, _MEAN_ROUNDING * np.maximum(size[:, None], size[None, :]))
    return np.asarray(pair_errors(covariance) > least)


def heavier_tails(generator: np.random.Generator, degrees: float, size: int) -> Floats:
    """Return √(χ²/df) for every draw, by which normal draws are divided to become those of a t."""
    if math.isinf(degrees):
        return np.ones(size)
    return np.sqrt(generator.chisquare(degrees, size) / degrees)


def checked(scores: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return scores and covariance as arrays that belong together, or say what does not fit."""
    scores, covariance = np.asarray(scores, np.float64), np.asarray(covariance, np.float64)
    count = len(scores) if scores.ndim == 1 else -1
    if covariance.shape != (count, count):
        raise UsageError(
            f"A ranking needs one score per model and their covariance, not {scores.shape} "
            f"and {covariance.shape}."
        )
    known = ~np.isnan(scores)
    if not known.any():
        raise UsageError("No model has a score, so there is nothing to rank.")
    if not np.isfinite(covariance[np.ix_(known, known)]).all():
        raise UsageError("The covariance of the scores has missing or infinite values.")
    return scores, covariance
