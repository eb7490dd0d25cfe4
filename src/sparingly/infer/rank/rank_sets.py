"""Rank sets and significance groups, from scores and their joint covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UsageError
from sparingly.infer.rank.max_t import max_t_critical
from sparingly.infer.rank.pair_errors import pair_errors, pair_tells

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankSets:
    """For every model the ranks that the judgements leave possible, all at once with probability 1 − α.

    Attributes:
        low: The best possible rank, 1 + #{k: μ̂_k − μ̂_j > c·se_jk}.
        high: The worst possible rank, M − #{k: μ̂_j − μ̂_k > c·se_jk}.
        group: Models whose rank sets overlap, directly or through others, are in one group; 1 is the best.
        critical: The max-t critical value c.
    """

    low: Ranks
    high: Ranks
    group: Ranks
    critical: float


def rank_sets(
    scores: Floats,
    covariance: Floats,
    *,
    alpha: float = 0.05,
    degrees: float = math.inf,
    seed: int = 0,
    certain: bool = True,
) -> RankSets:
    """Return simultaneous rank sets (Mogstad et al. 2024; Klein, Wright and Wieczorek 2020).

    Report these in place of a bare order: with probability 1 − α every model's true rank lies in its set.
    A model without a score has the whole range. Where an error of 0 only means that the judged items happen
    to show the same difference (not ``certain``), the two models are not told apart.

    Examples:
        >>> import numpy as np
        >>> found = rank_sets(np.array([3.0, 2.9, 1.0]), 0.01 * np.eye(3))
        >>> found.low.tolist(), found.high.tolist(), found.group.tolist()
        ([1, 1, 3], [2, 2, 3], [1, 1, 2])
    """
    scores, covariance = checked(scores, covariance)
    known = ~np.isnan(scores)
    count = len(scores)
    low, high = np.ones(count, np.int64), np.full(count, count, np.int64)
    inner, spread = scores[known], covariance[np.ix_(known, known)]
    critical = max_t_critical(spread, alpha=alpha, degrees=degrees, seed=seed)
    above = inner[None, :] - inner[:, None] > critical * pair_errors(spread)
    above &= certain | pair_tells(spread)
    low[known] = 1 + above.sum(axis=1)
    high[known] = count - above.sum(axis=0)
    return RankSets(low, high, overlapping_groups(low, high), critical)


def overlapping_groups(low: Ranks, high: Ranks) -> Ranks:
    """Return the connected components of overlapping rank intervals, numbered from the best."""
    order = np.lexsort((high, low))
    reach = np.maximum.accumulate(high[order])
    opens = np.concatenate([[0], (low[order][1:] > reach[:-1]).astype(np.int64)])
    group = np.empty(len(low), np.int64)
    group[order] = 1 + np.cumsum(opens)
    return group


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
