"""Other curves that might have been: resampled seeds, or the curve moved as resamples of the set move it."""

from __future__ import annotations

import numpy as np

from benchmarks.leaderboard.results import Runs, nan_mean
from sparingly.base.arrays import Floats
from sparingly.bench.sets import RESAMPLED

DRAWS = 200
# The delete-d jackknife: what 80 % of the items tell of the spread of 100 % of them (Shao and Wu 1989).
JACKKNIFE = float(np.sqrt(RESAMPLED / (1.0 - RESAMPLED)))
_LEAST = 2


def mean_draws(runs: Runs, measure: str, generator: np.random.Generator, count: int = DRAWS) -> Floats:
    """Return ``count`` mean curves (draws × budgets) that might have come out instead of this one.

    With two runs or more on the whole set, m̄ + √(n/(n−1)) (m̄* − m̄), m̄* being the mean of n seeds drawn
    with replacement. With one, that of a method without a seed, m + √(f/(1−f)) √(R/(R−1)) (m_r − m̄_r) for
    one of the R resamples r of f = 80 % of the items. NaN where the table has neither.
    """
    whole = runs.whole(measure)
    centre = runs.curve(measure)
    if len(whole) >= _LEAST:
        return seed_draws(whole, generator, count)
    moves = resample_moves(runs, measure)
    if len(whole) == 0 or len(moves) < _LEAST:
        return np.full((count, len(centre)), np.nan)
    picked = generator.integers(0, len(moves), count)
    return np.asarray(centre + JACKKNIFE * _widened(len(moves)) * moves[picked])


def seed_draws(values: Floats, generator: np.random.Generator, count: int = DRAWS) -> Floats:
    """Return ``count`` means that other seeds might have given (draws × columns), from two runs or more."""
    centre = nan_mean(values)
    return np.asarray(centre + _widened(len(values)) * (_resampled_means(values, generator, count) - centre))


def resample_moves(runs: Runs, measure: str) -> Floats:
    """Return how far every resample's curve lies off their mean (resamples × budgets)."""
    curves = runs.resampled(measure)
    if not curves:
        return np.empty((0, len(runs.shares)))
    stacked = np.stack([*curves.values()])
    return np.asarray(stacked - stacked.mean(axis=0))


def freedom_of(runs: Runs, measure: str) -> float:
    """Return the degrees of freedom behind the draws: seeds or resamples, less one."""
    seeds = len(runs.whole(measure))
    return float(max(1, (seeds if seeds >= _LEAST else len(resample_moves(runs, measure))) - 1))


def _widened(count: int) -> float:
    """Return what makes the spread of a resampled mean that of the mean itself."""
    return float(np.sqrt(count / (count - 1.0)))


def _resampled_means(values: Floats, generator: np.random.Generator, count: int) -> Floats:
    size = len(values)
    weights = generator.multinomial(size, np.full(size, 1.0 / size), count).astype(np.float64)
    present = (~np.isnan(values)).astype(np.float64)
    seen = weights @ present
    sums = weights @ np.where(present > 0, values, 0.0)
    return np.asarray(np.where(seen > 0, sums / np.maximum(seen, 1.0), np.nan))
