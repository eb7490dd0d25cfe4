"""Which comparisons of two models were asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection


def compared_rows(data: EvalSet, rounds: Sequence[Selection]) -> NDArray[np.bool_]:
    """Return which rows of ``data.preferences`` some rounds asked for, in either direction.

    A round without pairs that judges whole items asks for no comparison.
    """
    table = data.preferences
    seen = np.zeros(len(table), bool)
    column = {name: place for place, name in enumerate(data.models)}
    asked = {
        (int(row), *sorted((column[pair[0]], column[pair[1]])))
        for one in rounds
        if one.pairs is not None
        for row, pair in zip(data.positions(one.items), one.pairs, strict=True)
        if pair is not None
    }
    if not asked:
        return seen
    low, high = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    rows = zip(table.item.tolist(), low.tolist(), high.tolist(), strict=True)
    return np.fromiter((row in asked for row in rows), bool, len(table))
