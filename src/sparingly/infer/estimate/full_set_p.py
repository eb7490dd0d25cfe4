"""Predicted full-set significance: the p-value that judging everything would give."""

from __future__ import annotations

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.sample import Floats

# With fewer items on which both models were judged, the spread of their differences is not trusted.
FEWEST_COMMON = 30


def full_set_p_values(
    differences: Floats, deviations: Floats, size: int, *, errors: Floats | None = None
) -> Floats:
    """Return the one-sided p-value that the whole set is expected to give for each difference of two models.

    z_full = d̂·√N/s_d with s_d the standard deviation of the raw differences item by item, p = Φ(−z_full): the
    posterior median of the whole set's p-value under a flat prior. With the standard errors given, d̂ is first
    shrunk by τ²/(τ² + se²), τ² = max(0, mean(d̂² − se²)) over all the pairs (empirical Bayes): differences
    that are mostly noise are pulled to 0.

    It says what to expect of judging everything; it is no evidence beyond what was judged, so read it beside
    the ordinary p-value, never in its place.

    Args:
        differences: The estimated difference of each pair, first less second.
        deviations: The standard deviation of the pair's differences over the items.
        size: The number of items of the whole set.
        errors: The standard error of each difference, to shrink by; None for no shrinking.
    """
    from scipy.special import ndtr

    given, spread = np.asarray(differences, np.float64), np.asarray(deviations, np.float64)
    if given.shape != spread.shape or (errors is not None and np.shape(errors) != given.shape):
        raise UsageError("There must be one deviation, and one error if any, for every difference.")
    if size < 1:
        raise UsageError(f"A set has one item or more, not {size}.")
    if errors is not None:
        given = given * _kept(given, np.asarray(errors, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = given * np.sqrt(size) / spread
    # Items that all show the same difference leave no doubt; items that show none leave p at a half.
    z = np.where(np.isnan(z) & ~np.isnan(given) & ~np.isnan(spread), 0.0, z)
    return np.asarray(ndtr(-z))


def _kept(differences: Floats, errors: Floats) -> Floats:
    """Return which part of each difference is kept."""
    between = max(0.0, float(np.nanmean(differences**2 - errors**2))) if differences.size else 0.0
    total = between + errors**2
    return np.divide(between, total, out=np.ones_like(total), where=total > 0)
