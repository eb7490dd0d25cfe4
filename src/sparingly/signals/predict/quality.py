"""How good predictions are where there are labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.stats.correlation import pearson

_ROUNDING = 1e-12


def pooled_correlation(labels: Floats, predicted: Floats) -> float:
    """Return Pearson's r over all labelled cells, the means of the models taken out of both.

    About 1 − r² of the variance of a model's mean is left when predictions are used as a control variate;
    what models differ by as a whole neither helps nor hurts there. 0.0 where nothing differs.
    """
    there = ~np.isnan(labels)
    centred = [_centred(values, there, axis=0)[there] for values in (labels, predicted)]
    return pearson(*centred)


def within_correlation(labels: Floats, predicted: Floats) -> float:
    """Return the mean over items of Pearson's r across models: how well models are told apart.

    Items with fewer than two labels, or whose labels are all the same, order nothing and are left out; 0.0
    when none is left. An item whose predictions are all the same counts as 0.
    """
    there = ~np.isnan(labels)
    y, f = (_centred(values, there, axis=1) for values in (labels, predicted))
    spread_y, spread_f = (y * y).sum(axis=1), (f * f).sum(axis=1)
    floor = _ROUNDING * (np.where(there, labels, 0.0) ** 2).sum(axis=1)
    orders = spread_y > floor
    if not orders.any():
        return 0.0
    norm = np.sqrt(spread_y * spread_f)[orders]
    products = (y * f).sum(axis=1)[orders]
    return float(np.divide(products, norm, out=np.zeros(len(norm)), where=norm > 0).mean())


def _centred(values: Floats, there: NDArray[np.bool_], axis: int) -> Floats:
    known = np.where(there, values, 0.0)
    counts = np.maximum(there.sum(axis=axis, keepdims=True), 1)
    return np.where(there, known - known.sum(axis=axis, keepdims=True) / counts, 0.0)
