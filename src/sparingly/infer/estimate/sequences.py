"""Confidence sequences for bounded scores of a uniform sample drawn without replacement.

They hold at every sample size at once, so one may look after every judgement, and they assume nothing but
the range of the scores. From Waudby-Smith and Ramdas: «Confidence sequences for sampling without replacement»
(2020) and «Estimating means of bounded random variables by betting» (2024, section 5).

Scores are scaled to [0, 1] and stand in the order in which they were judged, any order that does not hang
on the scores. ``size`` is the number N of items; infinite for a population.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.levels import check_level

# A bet may lose at most this share of the capital.
_MOST = 0.75
_STEPS = 60
_GRID = 1000


class Sequence(NamedTuple):
    """The lowest and the highest mean that is still believed after each judgement."""

    low: Floats
    high: Floats


def betting_interval(scores: Floats, size: float, low: float, high: float, level: float = 0.95) -> Sequence:
    """Return the interval after the last judgement, for scores of items × models: one number per model.

    K±_t(m) = Π_i (1 ± λ_i(x_i − m_i)) with m_i = (N·m − Σ_{k<i} x_k)/(N − i + 1), the mean of what is left if
    m is the mean of all; a mean m is given up when K⁺/2 or K⁻/2 has reached 1/α (Waudby-Smith and Ramdas
    2024, section 5). Bets λ_i are tuned to n.
    """
    scaled = _scaled(scores, size, low, high, level)
    bets = _bets(scaled, level, len(scaled))
    sums, n = scaled.sum(axis=0), len(scaled)
    # What was judged cannot be undone: it bounds the mean of all (not at all where N is infinite).
    least, most = sums / size, 1.0 - (n - sums) / size
    lower = _edge(scaled, bets, size, level, least, most)
    upper = 1.0 - _edge(1.0 - scaled, bets, size, level, 1.0 - most, 1.0 - least)
    return Sequence(low + (high - low) * lower, low + (high - low) * np.maximum(upper, lower))


def betting_sequence(scores: Floats, size: float, low: float, high: float, level: float = 0.95) -> Sequence:
    """Return the running interval of one model after every judgement (Waudby-Smith and Ramdas 2024)."""
    scaled = _scaled(scores, size, low, high, level)[:, :1]
    bets = _bets(scaled, level, None)
    means = np.linspace(0.0, 1.0, _GRID + 1)
    first = _running(scaled, bets, size, level, means)
    second = _running(1.0 - scaled, bets, size, level, means)
    # One step outwards, for what lies between two means of the grid.
    step = 1.0 / _GRID
    lower, upper = np.maximum(first - step, 0.0), np.minimum(1.0 - second + step, 1.0)
    return Sequence(low + (high - low) * lower, low + (high - low) * upper)


def bernstein_sequence(scores: Floats, size: float, low: float, high: float, level: float = 0.95) -> Sequence:
    """Return the running empirical-Bernstein interval of one model after every judgement.

    Centre Σλ_i(x_i + Σ_{k<i}x_k/(N−i+1)) / Λ, half width [Σ(x_i − μ̂_{i−1})²(−ln(1−λ_i) − λ_i) + ln(2/α)] / Λ,
    where Λ = Σλ_i(1 + (i−1)/(N−i+1)) (Waudby-Smith and Ramdas 2020, theorem 3). It needs no search, and is
    a little wider than betting.
    """
    scaled = _scaled(scores, size, low, high, level)[:, :1]
    bets = np.minimum(_bets(scaled, level, None), 0.5)
    before = _before(scaled)
    places = np.arange(len(scaled))[:, None]
    left = size - places
    weight = np.cumsum(bets * (1.0 + places / left), axis=0)
    centre = np.cumsum(bets * (scaled + before / left), axis=0) / weight
    missed = (scaled - _running_means(scaled)) ** 2
    half = (np.cumsum(missed * (-np.log1p(-bets) - bets), axis=0) + np.log(2.0 / (1.0 - level))) / weight
    lower = np.maximum.accumulate(np.clip(centre - half, 0.0, 1.0), axis=0)[:, 0]
    upper = np.minimum.accumulate(np.clip(centre + half, 0.0, 1.0), axis=0)[:, 0]
    return Sequence(low + (high - low) * lower, low + (high - low) * upper)


def _scaled(scores: Floats, size: float, low: float, high: float, level: float) -> Floats:
    if not high > low:
        raise UsageError(f"A scale goes from a lower to a higher number, not from {low} to {high}.")
    check_level(level)
    given = scores[:, None] if scores.ndim == 1 else scores
    if not 0 < len(given) <= size:
        raise UsageError(f"There are {size} items, so there cannot be {len(given)} judged ones.")
    if np.isnan(given).any() or given.min() < low or given.max() > high:
        raise DataError(f"Not every score lies between {low:g} and {high:g}.")
    return np.asarray((given - low) / (high - low))


def _before(scaled: Floats) -> Floats:
    """Return the sum of all scores before each."""
    return np.asarray(np.cumsum(scaled, axis=0) - scaled)


def _running_means(scaled: Floats) -> Floats:
    """Return the mean before each score, pulled towards 1/2 by one made-up score."""
    return np.asarray((0.5 + _before(scaled)) / np.arange(1, len(scaled) + 1)[:, None])


def _bets(scaled: Floats, level: float, planned: int | None) -> Floats:
    """Return how much is staked on each score, from the variance before it."""
    places = np.arange(1, len(scaled) + 1)[:, None]
    squared = (scaled - _running_means(scaled)) ** 2
    variance = (0.25 + np.cumsum(squared, axis=0) - squared) / places
    horizon = places * np.log1p(places) if planned is None else float(planned)
    bets = np.sqrt(2.0 * np.log(2.0 / (1.0 - level)) / (variance * horizon))
    return np.asarray(bets)


def _capital(scaled: Floats, bets: Floats, size: float, means: Floats) -> Floats:
    """Return the logarithm of K⁺ after each score, for one supposed mean per column."""
    places = np.arange(len(scaled))[:, None]
    left = means - _before(scaled) / size if np.isfinite(size) else np.broadcast_to(means, scaled.shape)
    supposed = left * size / (size - places) if np.isfinite(size) else left
    kept = np.maximum(supposed, 0.0)
    stake = np.minimum(bets, _MOST / np.maximum(kept, 1e-12))
    return np.asarray(np.cumsum(np.log1p(stake * (scaled - kept)), axis=0))


def _edge(scaled: Floats, bets: Floats, size: float, level: float, least: Floats, most: Floats) -> Floats:
    """Return the lowest mean that is not given up: K⁺ falls as the mean grows, so halving finds it."""
    limit = np.log(2.0 / (1.0 - level))
    below, above = least.copy(), most.copy()
    for _ in range(_STEPS):
        middle = (below + above) / 2.0
        refused = _capital(scaled, bets, size, middle).max(axis=0) >= limit
        below, above = np.where(refused, middle, below), np.where(refused, above, middle)
    return np.asarray(below)


def _running(scaled: Floats, bets: Floats, size: float, level: float, means: Floats) -> Floats:
    """Return after each score the lowest mean of a grid that is not given up."""
    limit = np.log(2.0 / (1.0 - level))
    columns = np.broadcast_to(scaled, (len(scaled), len(means)))
    capital = _capital(columns, np.broadcast_to(bets, columns.shape), size, means)
    refused = np.maximum.accumulate(capital, axis=0) >= limit
    lowest = np.where(refused.all(axis=1), 1.0, means[np.argmin(refused, axis=1)])
    if not np.isfinite(size):
        return np.asarray(lowest)
    # What was seen already cannot be undone: the mean of all is at least its part of it.
    return np.maximum(lowest, np.cumsum(scaled[:, 0]) / size)
