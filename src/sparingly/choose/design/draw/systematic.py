"""Systematic draws: one random start, then equal steps along a list."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.choose.design.draw.chances import is_whole, settled


def draw_systematic(chances: Floats, generator: np.random.Generator, order: Ints | None = None) -> Mask:
    """Take the units in whose interval a point of a random grid falls.

    Unit k of the list owns the interval (V_{k−1}, V_k] with V the running sum of the probabilities; the grid
    is u, u + 1, u + 2 … with one uniform u (Madow 1949). The list stands in the given order, or in a
    random one. Along a sorted list every stretch gets its share, up to one unit; a list with a period of
    its own can mislead.
    """
    values = settled(chances)
    sequence = generator.permutation(len(values)) if order is None else order
    sequence = sequence[(values[sequence] > 0.0) & (values[sequence] < 1.0)]
    total = values[sequence].sum()
    # Rounding in the running sum must not move the end of the list over or under the last point.
    end = np.round(total) if is_whole(total) else total
    reached = np.minimum(np.cumsum(values[sequence]), end)
    reached[-1:] = end
    taken = np.asarray(values == 1.0)
    taken[sequence] = np.diff(np.floor(reached + generator.random()), prepend=0.0) > 0
    return taken
