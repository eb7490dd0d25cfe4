"""Soft pairwise accuracy: is a subset as sure of every comparison of two models as the full set is?"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats


def soft_pairwise_accuracy(p_subset: Floats, p_full: Floats) -> Floats:
    """Return SPA = 1 − mean over pairs of |p_subset − p_full| (Zouhar et al. 2025, eq. 17).

    Due to Thompson et al. 2024. Takes one-sided p-values (… × pairs). It asks whether the subset is as sure
    of every comparison as the full set is, and so also blames a subset for being too sure. Use it to compare
    selections.
    """
    return np.asarray(1.0 - np.abs(p_subset - p_full).mean(axis=-1))


def limit_p_values(sums: Floats, squares: Floats) -> Floats:
    """Return the normal limit of the sign-flip test, Φ(−Σd / √Σd²), from sums over items (… × pairs).

    Sums of a set and of what extends it add up, so that an extension costs no more than its own items. Two
    models that never differ are a coin toss.
    """
    from scipy.special import ndtr

    spread = np.sqrt(squares)
    return np.asarray(ndtr(-np.divide(sums, spread, out=np.zeros(sums.shape), where=spread > 0)))
