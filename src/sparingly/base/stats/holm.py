"""Holm's correction for many tests."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats


def holm(p_values: Floats) -> Floats:
    """Return adjusted p-values: below α only where Holm's step-down test at level α rejects.

    Of m p-values in ascending order, adjusted p₍ₖ₎ = max over l ≤ k of min(1, (m − l + 1) p₍ₗ₎) (Holm 1979).
    The chance of calling any true null hypothesis false stays below α, whatever the dependence between the
    tests. NaN marks a test that was not made: it stays NaN and does not count.

    Examples:
        >>> import numpy as np, sparingly
        >>> sparingly.holm(np.array([0.01, 0.04, 0.03, np.nan]))
        array([0.03, 0.06, 0.06,  nan])
    """
    flat = np.asarray(p_values, np.float64)
    adjusted = np.full(flat.shape, np.nan)
    made = np.flatnonzero(~np.isnan(flat))
    order = made[np.argsort(flat[made], kind="stable")]
    stepped = np.arange(len(order), 0, -1) * flat[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted
