"""The systematic sampler and the constrained controller of ``casf``, on arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from sparingly.base.arrays import Floats, Ints

Similarity = Callable[[int], Floats]


def buckets(order: Ints, count: int) -> list[Ints]:
    """Cut items in the order of their quality into so many buckets, by even cuts.

    The paper's buckets of ⌊N/n⌋ items leave a rest beyond the last; even cuts differ by one item at most.
    """
    cuts = np.arange(count + 1) * len(order) // count
    return [order[low:high] for low, high in itertools.pairwise(cuts)]


def first_of_each(order: Ints, count: int) -> Ints:
    """Return the initial picks: the first item of every bucket."""
    return np.array([bucket[0] for bucket in buckets(order, count)], np.int64)


def least_redundant(
    order: Ints, count: int, chosen: Ints, similarity: Similarity, tolerance: float
) -> tuple[Ints, Floats]:
    """Pick one item of every bucket by the rules of the constrained controller (Ruan et al. 2024).

    Vio(i) is the greatest similarity of an item with one that is chosen, this round's picks included; an
    item is feasible when Vio ≤ tolerance. Of a bucket the feasible item nearest in rank to its first is
    taken (rules 1 and 3); where none is feasible, the one with the least Vio (rule 2).

    Args:
        order: The items that are left, best quality first.
        count: How many to pick.
        chosen: The items of earlier rounds.
        similarity: The similarity of every item with one of them, NaN where it cannot be told.
        tolerance: The redundancy up to which an item is feasible.

    Returns:
        The picks, in the order of the buckets, and the redundancy of each when it was picked.
    """
    worst = np.full(int(order.max(initial=-1)) + 1, 0.0)
    for item in chosen.tolist():
        worst = _with(worst, similarity(item))
    picks, redundancy = np.empty(count, np.int64), np.empty(count)
    for place, bucket in enumerate(buckets(order, count)):
        violation = worst[bucket]
        feasible = np.flatnonzero(violation <= tolerance)
        best = int(feasible[0]) if len(feasible) else int(np.argmin(violation))
        picks[place], redundancy[place] = bucket[best], violation[best]
        worst = _with(worst, similarity(int(bucket[best])))
    return picks, redundancy


def _with(worst: Floats, like: Floats) -> Floats:
    """Return the greatest similarity so far; what cannot be compared is like nothing."""
    return np.asarray(np.fmax(worst, like[: len(worst)]))
