"""Corrections of p-values for several tests: Holm; Shaffer (pairs of models); Benjamini and Yekutieli."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError


def holm(p_values: Floats) -> Floats:
    """Return adjusted p-values: below α only where Holm's step-down test at level α rejects.

    Of m p-values in ascending order, adjusted p₍ₖ₎ = max over l ≤ k of min(1, (m − l + 1) p₍ₗ₎) (Holm 1979).
    The probability of rejecting any true null hypothesis stays below α, whatever the dependence between the
    tests. NaN marks a test that was not made: it stays NaN and does not count.

    Examples:
        >>> import numpy as np, sparingly
        >>> holm(np.array([0.01, 0.04, 0.03, np.nan]))
        array([0.03, 0.06, 0.06,  nan])
    """
    flat = np.asarray(p_values, np.float64)
    return _step_down(flat, np.arange(flat.size, 0, -1))


def benjamini_yekutieli(p_values: Floats) -> Floats:
    """Return adjusted p-values: rejecting those below q keeps the false discovery rate below q.

    Of m p-values in ascending order, adjusted p₍ₖ₎ = min over l ≥ k of min(1, m·(1 + 1/2 + … + 1/m)/l · p₍ₗ₎)
    (Benjamini and Yekutieli 2001), whatever the dependence between the tests.

    Examples:
        >>> import numpy as np, sparingly
        >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03])).round(3)
        array([0.055, 0.073, 0.073])
    """
    flat = np.asarray(p_values, np.float64)
    order = np.argsort(flat, kind="stable")
    places = np.arange(1, len(flat) + 1)
    raised = flat[order] * len(flat) * (1.0 / places).sum() / places
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return adjusted


def shaffer(p_values: Floats) -> Floats:
    """Return adjusted p-values of all pairs of M models: at most α only where the step-down test rejects.

    Of m = M(M − 1)/2 p-values in ascending order, adjusted p₍ₖ₎ = max over l ≤ k of min(1, tₗ p₍ₗ₎); tₗ is
    the greatest number of pairs that can be equal together when l − 1 are not (Shaffer 1986, the static
    step-down). Equal pairs come in blocks, Σ x(x − 1)/2 over a partition of M into sizes x, so that tₗ is
    never above Holm's m − l + 1: of three models with one difference one pair can be equal, not two. The
    probability of calling any equal pair different stays below α, whatever the dependence between tests.

    NaN marks a test that was not made: it stays NaN and is no rejection.

    Examples:
        >>> import numpy as np
        >>> from sparingly.base.stats.multiple_tests import shaffer
        >>> shaffer(np.array([0.01, 0.04, 0.03]))  # Holm's are .03, .06, .06
        array([0.03, 0.04, 0.03])
    """
    flat = np.asarray(p_values, np.float64)
    models = (1 + math.isqrt(1 + 8 * flat.size)) // 2
    if flat.ndim != 1 or models * (models - 1) // 2 != flat.size:
        raise UsageError(f"The correction needs one p-value for every pair of models, not {flat.shape}.")
    return _step_down(flat, most_equal(models))


def _step_down(flat: Floats, multipliers: Floats | Ints) -> Floats:
    """Multiply ascending p-values, never above Holm's number: what was not tested cannot be rejected."""
    adjusted = np.full(flat.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    factors = np.minimum(multipliers[: len(order)], np.arange(len(order), 0, -1))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * flat[order]))
    return adjusted


@lru_cache(maxsize=64)
def most_equal(models: int) -> Floats:
    """Return for k = 0, 1, … how many pairs at most are equal together when k pairs are not (m numbers)."""
    # Bit s of reachable[M]: a partition of M models has s equal pairs.
    reachable = [1]
    for count in range(1, models + 1):
        sums = 0
        for block in range(1, count + 1):
            sums |= reachable[count - block] << (block * (block - 1) // 2)
        reachable.append(sums)
    pairs = models * (models - 1) // 2
    possible = np.array([reachable[models] >> equal & 1 for equal in range(pairs + 1)], bool)
    largest = np.maximum.accumulate(np.where(possible, np.arange(pairs + 1), 0))
    bounds = largest[:0:-1].astype(np.float64)
    bounds.flags.writeable = False
    return bounds
