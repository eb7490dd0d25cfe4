"""The chance of every model to be the best, from scores and their joint covariance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.infer.rank.max_t import DRAWS
from sparingly.infer.rank.pair_errors import heavier_tails
from sparingly.infer.rank.rank_sets import checked

Floats = NDArray[np.float64]


def chance_of_best(
    scores: Floats, covariance: Floats, *, degrees: float = math.inf, seed: int = 0, draws: int = DRAWS
) -> Floats:
    """Return for every model the share of draws from N(μ̂, Σ̂) in which it is the best; ties are shared.

    With finite ``degrees`` of freedom the draws are those of a t, which small samples need.

    A posterior probability under a flat prior, not a guarantee: use it to decide between few candidates,
    and the rank sets for claims.

    Examples:
        >>> import numpy as np, sparingly
        >>> sparingly.chance_of_best(np.array([1.0, 1.0, -9.0]), np.diag([1.0, 1.0, 1.0])).round(1)
        array([0.5, 0.5, 0. ])
    """
    scores, covariance = checked(scores, covariance)
    known = np.flatnonzero(~np.isnan(scores))
    chance = np.zeros(len(scores))
    values, vectors = np.linalg.eigh(covariance[np.ix_(known, known)])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    generator = rng.generator(seed, "best")
    noise = generator.standard_normal((draws, len(known))) @ root.T
    drawn = scores[known] + noise / heavier_tails(generator, degrees, draws)[:, None]
    # Rounded, so that models that never differ share the place whatever the last bits say.
    step = max(float(np.ptp(scores[known], axis=0)), float(np.sqrt(values.max(initial=0.0))), 1e-300) * 1e-9
    settled = np.round(drawn / step)
    best = settled == settled.max(axis=1, keepdims=True)
    chance[known] = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return chance
