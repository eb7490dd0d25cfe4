"""Wilcoxon's signed-rank test of growing subsets: every further item changes the rank sums by little.

A new difference x takes the rank 1 + #{|d| < |x|} + ½ #{|d| = |x|} among those that are there, moves every
larger one up by 1 and every equal one by ½, and turns a group of t equal ones into one of t + 1, which adds
3t(t + 1) to Σ(t³ − t). So the sums of all subsets cost one comparison of every item with those before it,
where ranking each subset anew would sort it each time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import checked_sizes, pair_count, pair_differences
from sparingly.base.stats.signed_rank import EXACT_TIED_ITEMS, SignedRank, p_values_of_sums, pair_signed_rank

# Comparing all items with each other takes as long as sorting about a tenth as many subsets.
_SUBSETS_PER_ITEM = 0.1


def prefix_pair_signed_rank(scores: Floats, sizes: Sequence[int] | Ints) -> SignedRank:
    """Return the two-sided test (sizes × pairs) of the first k items for every k in ``sizes``.

    Every row equals what ``pair_signed_rank`` returns for those items alone. Many sizes are found in one
    pass over the items; few sizes of many items one after the other.
    """
    ascending, places = checked_sizes(sizes, len(scores))
    if len(ascending) < _SUBSETS_PER_ITEM * int(ascending[-1]):
        p, direction = _one_by_one(scores, ascending)
    else:
        p, direction = _in_one_pass(scores, ascending)
    return SignedRank(p[places], direction[places])


def _one_by_one(scores: Floats, sizes: Ints) -> tuple[Floats, Ints]:
    tests = [pair_signed_rank(scores[:size]) for size in sizes]
    return np.stack([test.p for test in tests]), np.stack([test.direction for test in tests])


def _in_one_pass(scores: Floats, sizes: Ints) -> tuple[Floats, Ints]:
    differences = pair_differences(scores[: sizes[-1]], missing=np.nan)
    pairs = pair_count(scores.shape[1])
    sums = np.zeros((4, len(sizes), pairs))  # rank sum of positives, not zero, judged, Σ(t³ − t)
    running = np.zeros((4, pairs))
    absolute = np.abs(differences)
    absolute[absolute == 0.0] = np.nan  # zeros have no rank and compare with nothing
    upwards = differences > 0
    done = 0
    for place, size in enumerate(sizes):
        for item in range(done, int(size)):
            running += _change(absolute, upwards, item)
            running[2] += ~np.isnan(differences[item])
        done = int(size)
        sums[:, place] = running
    positive, nonzero, items, ties = sums
    p = p_values_of_sums(positive, nonzero, items, ties)
    direction = np.sign(4.0 * positive - nonzero * (nonzero + 1.0)).astype(np.int64)
    # Few items with ties have a distribution of their own, for which the ranks themselves are needed.
    small = ((items <= EXACT_TIED_ITEMS) & ((ties > 0) | (nonzero < items))).any(axis=1)
    for row in np.flatnonzero(small):
        p[row], direction[row] = pair_signed_rank(scores[: sizes[row]])
    return p, direction


def _change(absolute: Floats, upwards: NDArray[np.bool_], item: int) -> Floats:
    """Return what one further item adds to the four sums, the judged items left out."""
    new = absolute[item]
    equal, below = absolute[:item] == new, absolute[:item] < new
    above = (absolute[:item] > new) & upwards[:item]
    ranked = ~np.isnan(new)
    ties = equal.sum(axis=0)
    own = np.where(upwards[item], 1.0 + below.sum(axis=0) + 0.5 * ties, 0.0)
    moved = above.sum(axis=0) + 0.5 * (equal & upwards[:item]).sum(axis=0)
    return np.stack([own + moved, ranked.astype(np.float64), np.zeros(len(new)), 3.0 * ties * (ties + 1.0)])
