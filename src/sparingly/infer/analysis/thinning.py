"""Fewer points, for pictures, and notes on what is not there.

Points are drawn by the keys of what they are of, so that the same seed shows the same ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Ints


def thinned(keys: rng.Keys, most: int | None, seed: int, keep: NDArray[np.bool_] | None = None) -> Ints:
    """Return the positions of at most ``most`` points in order; those to ``keep`` are there in any case."""
    if most is None or len(keys) <= most:
        return np.arange(len(keys))
    places = rng.stream(keys, seed, "thinned")
    first = np.zeros(len(keys), np.bool_) if keep is None else keep
    drawn = np.lexsort((places, ~first))[: max(most, int(first.sum()))]
    return np.sort(drawn)


def left_out_note(lost: int, of: int, what: str) -> tuple[str, ...]:
    """Say how many are left out, of what and why (``items, which …``)."""
    return () if not lost else (f"Left out: {lost} of {of} {what}.",)


def thinning_note(shown: int, of: int, what: str) -> tuple[str, ...]:
    """Say that not everything is shown."""
    return () if shown == of else (f"Shown: {shown} of {of} {what}, drawn at random.",)
