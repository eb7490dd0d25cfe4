"""Pairs of models: their order, their differences, and the stretches of a growing subset.

Everything over pairs of models is a vector in the order of ``numpy.triu_indices(models, 1)``:
(0, 1), (0, 2), …, (1, 2), …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError


def pair_count(models: int) -> int:
    """Return the number of pairs of models."""
    return models * (models - 1) // 2


def pair_indices(models: int) -> tuple[Ints, Ints]:
    """Return the first and the second model of every pair."""
    first, second = np.triu_indices(models, 1)
    return first.astype(np.int64), second.astype(np.int64)


def pair_differences(
    scores: Floats,
    weights: Floats | None = None,
    pairs: Ints | slice = slice(None),
    missing: float = 0.0,
) -> Floats:
    """Return (items × pairs) differences, first minus second, for all pairs or for some of them.

    An item counts for a pair only when both models were judged on it: otherwise its difference is
    ``missing``.
    """
    first, second = pair_indices(scores.shape[1])
    differences: Floats = scores[:, first[pairs]] - scores[:, second[pairs]]
    if weights is not None:
        differences *= weights[:, None]
    differences[np.isnan(differences)] = missing
    return differences


class Stretch(NamedTuple):
    """Rows ``start:stop`` of a block; ``closes`` is the size that is complete after them, if one is."""

    start: int
    stop: int
    closes: int | None


def checked_sizes(sizes: Sequence[int] | Ints, items: int) -> tuple[Ints, Ints]:
    """Return the distinct sizes in ascending order and the place of every given size among them."""
    given = np.asarray(sizes, np.int64)
    if given.ndim != 1 or given.size == 0:
        raise UsageError("Give at least one subset size.")
    if given.min() < 1 or given.max() > items:
        raise UsageError(f"Subset sizes must lie between 1 and {items}, not {given.min()} to {given.max()}.")
    distinct, places = np.unique(given, return_inverse=True)
    return distinct, places.astype(np.int64)


def stretches(sizes: Ints, block: int) -> Iterator[tuple[slice, list[Stretch]]]:
    """Cut rows 0 … max(sizes) into blocks, and every block at the sizes that end inside it.

    One pass over these stretches, adding up as it goes, visits every nested subset: nothing that belongs to
    a smaller size is ever computed again for a larger one.
    """
    cut = 0
    for start in range(0, int(sizes[-1]), block):
        stop = min(start + block, int(sizes[-1]))
        inside: list[Stretch] = []
        begin = start
        while cut < len(sizes) and sizes[cut] <= stop:
            inside.append(Stretch(begin - start, int(sizes[cut]) - start, cut))
            begin = int(sizes[cut])
            cut += 1
        if begin < stop:
            inside.append(Stretch(begin - start, stop - start, None))
        yield slice(start, stop), inside
