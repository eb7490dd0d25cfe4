"""The one-sided paired sign-flip test for all pairs of models at once.

For two models with per-item differences d, the observed sum is O = Σ d. Were the models alike, every
difference could as well have had the other sign: the null sums are Σ ±d over random signs. The value is

    p[i, j] = P(null > O) + ½ P(null = O),

small when model i is better than model j (Fisher 1935; Zouhar et al. 2025, App. B). The half for ties
("mid-p") makes p[j, i] = 1 − p[i, j] exactly, so that results do not depend on the order of the models.
Published code counts null ≥ O for i before j in file order; without ties the two are the same, and with
ties the difference is half of P(null = O), which vanishes as items grow. Published code also draws its
signs by position, so that shuffling the items changes the answer; here an item's signs follow from its key
and the seed alone.

Which way the values are found:

- ``exact``: all 2ⁿ sign patterns of the n items on which the pair differs;
- ``sampled``: a number of seeded flips, shared by all pairs and by all subsets;
- ``analytic``: the normal limit Φ(−Σd / √Σd²);
- ``auto``: exact for a pair that differs on at most 12 items (4096 patterns), else sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.rng import Keys
from sparingly.base.stats.flip_exact import exact_p_values, first_differences
from sparingly.base.stats.flip_sums import sampled_p_values
from sparingly.base.stats.item_keys import Ids, item_keys
from sparingly.base.stats.pairs import checked_sizes, pair_count, pair_differences, stretches
from sparingly.base.stats.soft_pairwise import limit_p_values

Method = Literal["auto", "sampled", "exact", "analytic"]

AUTO_LIMIT = 12
EXACT_LIMIT = 20

_ANALYTIC_CELLS = 1 << 17


def pair_p_values(
    scores: Floats,
    *,
    ids: Ids | None = None,
    keys: Keys | None = None,
    seed: int = 0,
    flips: int = 1000,
    method: Method = "auto",
    weights: Floats | None = None,
) -> Floats:
    """Return the p-value of every pair of models i < j, in the order of ``numpy.triu_indices``.

    Args:
        scores: items × models, higher is better; NaN where a model was not judged. An item counts for a
            pair only when both models were judged on it.
        ids: the items' ids: an item's signs follow from its id, so that the order of the rows does not
            matter. Without ids the row number stands in for it.
        keys: in place of ids, the 64-bit keys that were made from them.
        seed: seed of the flips.
        flips: number of sampled flips.
        method: ``auto``, ``sampled``, ``exact`` or ``analytic``.
        weights: importance per item; the differences are multiplied by it.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 4.0]])
        >>> sparingly.pair_p_values(scores, ids=["a", "b", "c"])  # only 1 of 8 sign patterns is as good
        array([0.0625])
    """
    scores = np.asarray(scores, np.float64)
    keys = item_keys(len(scores), ids, keys)
    whole: Floats = prefix_pair_p_values(
        scores, [len(scores)], keys=keys, seed=seed, flips=flips, method=method, weights=weights
    )[0]
    return whole


def prefix_pair_p_values(
    scores: Floats,
    sizes: Sequence[int] | Ints,
    *,
    keys: Keys,
    seed: int = 0,
    flips: int = 1000,
    method: Method = "auto",
    weights: Floats | None = None,
) -> Floats:
    """Return the p-values (sizes × pairs) of the first k items for every k in ``sizes``.

    The items are read once, in the given order, whatever the number of sizes; every row equals what
    ``pair_p_values`` returns for those items alone. Use it for curves over budgets.
    """
    scores, weights = _checked(scores, keys, flips, method, weights)
    ascending, places = checked_sizes(sizes, len(scores))
    if method == "sampled":
        result = sampled_p_values(scores, ascending, keys, seed=seed, flips=flips, weights=weights)
    elif method == "analytic":
        result = _analytic(scores, ascending, weights)
    else:
        result = _enumerated(scores, ascending, weights, EXACT_LIMIT if method == "exact" else AUTO_LIMIT)
        open_sizes = np.isnan(result).any(axis=1)
        if open_sizes.any():
            if method == "exact":
                raise UsageError(
                    f"Exact enumeration stops at {EXACT_LIMIT} items on which two models differ; "
                    'use method="sampled" or "analytic".'
                )
            sampled = sampled_p_values(
                scores, ascending[open_sizes], keys, seed=seed, flips=flips, weights=weights
            )
            result[open_sizes] = np.where(np.isnan(result[open_sizes]), sampled, result[open_sizes])
    return result[places]


def _checked(
    scores: Floats, keys: Keys, flips: int, method: str, weights: Floats | None
) -> tuple[Floats, Floats | None]:
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 2 or len(scores) == 0:
        raise UsageError(
            f"The sign-flip test needs items × models and at least one item, not {scores.shape}."
        )
    if np.isinf(scores).any():
        raise UsageError("The sign-flip test needs finite scores (NaN where a model was not judged).")
    if np.shape(keys) != (len(scores),):
        raise UsageError(
            f"The sign-flip test needs one key for each of {len(scores)} items, not {np.shape(keys)}."
        )
    if flips < 1:
        raise UsageError(f"The number of flips must be at least 1, not {flips}.")
    if method not in get_args(Method):
        raise UnknownNameError("method", method, get_args(Method))
    if weights is None:
        return scores, None
    weights = np.asarray(weights, np.float64)
    if weights.shape != (len(scores),) or not np.isfinite(weights).all() or (weights < 0).any():
        raise UsageError("Weights must be one finite, non-negative number per item.")
    return scores, weights


def _enumerated(scores: Floats, sizes: Ints, weights: Floats | None, limit: int) -> Floats:
    """Return exact values (sizes × pairs), NaN where a pair differs on more than ``limit`` items."""
    differences = first_differences(scores, weights, limit)
    counts = differences.counts(sizes)
    result = np.full(counts.shape, np.nan)
    needed = np.unique(counts[counts <= limit])
    if needed.size:
        values = exact_p_values(differences.values, needed)
        rows, pairs = np.nonzero(counts <= limit)
        result[rows, pairs] = values[np.searchsorted(needed, counts[rows, pairs]), pairs]
    return result


def _analytic(scores: Floats, sizes: Ints, weights: Floats | None) -> Floats:
    pairs = pair_count(scores.shape[1])
    total, squares = np.zeros(pairs), np.zeros(pairs)
    result = np.empty((len(sizes), pairs))
    for rows, inside in stretches(sizes, max(1, _ANALYTIC_CELLS // max(1, pairs))):
        differences = pair_differences(scores[rows], None if weights is None else weights[rows])
        for stretch in inside:
            part = differences[stretch.start : stretch.stop]
            total += part.sum(axis=0)
            squares += (part * part).sum(axis=0)
            if stretch.closes is not None:
                result[stretch.closes] = limit_p_values(total, squares)
    return result
