"""The max-t critical value: how large the largest of all pairwise t statistics grows by chance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.levels import check_alpha
from sparingly.infer.rank.pair_errors import heavier_tails, pair_errors, pair_tells

Floats = NDArray[np.float64]

DRAWS = 20_000
_BLOCK = 2_000


def max_t_critical(
    covariance: Floats,
    *,
    alpha: float = 0.05,
    degrees: float = math.inf,
    seed: int = 0,
    draws: int = DRAWS,
) -> float:
    """Return c, the (1 − α) quantile of max over pairs of |g_j − g_k| / se_jk with g ~ N(0, Σ̂).

    With finite ``degrees`` of freedom g is divided by one √(χ²/df) per draw, so that small samples get the
    heavier tails of a t. Intervals d ± c·se hold for all pairs at once with probability 1 − α, and take the
    dependence between pairs into account, which Bonferroni does not. Pairs without any variance (two models
    that never differ) are left out.

    Examples:
        >>> import numpy as np
        >>> from sparingly.infer.rank.max_t import max_t_critical
        >>> round(max_t_critical(np.eye(2)), 1)  # a single pair: 1.96
        2.0
        >>> round(max_t_critical(np.eye(10)), 1)  # 45 pairs: the studentised range over √2
        3.2
    """
    check_alpha(alpha)
    first, second = np.triu_indices(len(covariance), 1)
    errors = pair_errors(covariance)[first, second]
    told = pair_tells(covariance)[first, second]
    if not told.any():
        return 0.0
    first, second, errors = first[told], second[told], errors[told]
    root, generator = _root(covariance), rng.generator(seed, "max-t")
    largest = np.empty(draws)
    for start in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - start)
        drawn = generator.standard_normal((size, root.shape[1])) @ root.T
        spread = heavier_tails(generator, degrees, size)
        statistics = np.abs(drawn[:, first] - drawn[:, second]) / errors
        largest[start : start + size] = statistics.max(axis=1) / spread
    return float(np.quantile(largest, 1 - alpha))


def _root(covariance: Floats) -> Floats:
    """Return R with R Rᵀ = Σ̂, also where the matrix is singular or has lost a little to rounding."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
