"""Shares of a set and of draws by the length of the documents that items come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.knowles.draws import (
    BUDGETED,
    FIXED,
    can_be_drawn,
    draws,
    seeds_of,
    without_context,
)
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet

# Segments of a document: where the bands begin, as published.
BANDS = (1, 10, 20, 30, 40, 50)


def bands_of(data: EvalSet) -> NDArray[np.int64]:
    """Return the band of document lengths in which every item lies."""
    _, codes, sizes = np.unique(data.columns["document"].astype(str), return_inverse=True, return_counts=True)
    return np.asarray(np.searchsorted(BANDS, sizes, side="right") - 1)[codes]


def band_figures(data: EvalSet, share: float, count: int) -> dict[str, Any]:
    """Return the shares of the set and of draws by length of document, and of how many items draws were.

    Where fixed snippets cannot spend the budget, all draws are of as many items as they can.
    """
    bands = bands_of(data)
    sizes = np.unique(data.columns["document"].astype(str), return_counts=True)[1]
    budget: float | int = share
    if not can_be_drawn(data, without_context(FIXED), share):
        budget = int(np.minimum(sizes, 10).sum())
    found: dict[str, Any] = {"full": _shares(np.bincount(bands, minlength=len(BANDS))), "budget": budget}
    for text in (FIXED, BUDGETED):
        parts, counts = np.zeros(len(BANDS)), 0.0
        for draw in draws(data, without_context(text), budget, seeds_of(count)):
            held = np.bincount(bands[draw.asked[:, 0]], minlength=len(BANDS))
            parts, counts = parts + held / held.sum(), counts + held.sum()
        found[text] = _shares(parts)
        found["items"] = round(counts / count, 1)
    return found


def _shares(counts: Floats | NDArray[np.int64]) -> list[float]:
    return [round(float(part), 4) for part in counts / counts.sum()]
