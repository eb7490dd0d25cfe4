"""Means over budgets and runs, and their differences from random selection's, with intervals.

A run's figure is its mean over the budgets, aᵢ. With n ≥ 2 seeds the mean ā has the standard error s/√n. A
method without a seed has one run, a; its standard error comes from R resamples of f = 80 % of the items by
the delete-d jackknife, √(f/(1−f)) · s_r = 2 s_r, s_r being the standard deviation of the resamples' figures:
how far the figure would move with other items like these. It does not shrink with R.

A difference from random is taken at the budgets that both have. Of seeds, its squared error is the sum of
both (Welch 1947). Without a seed, s_r is that of the method's figures: random's means hardly move with the
resample, and ten seeds of random on each would add more noise than they take off.
"""

from __future__ import annotations

import numpy as np

from benchmarks.leaderboard.draws import JACKKNIFE, resample_moves
from benchmarks.leaderboard.ranges import NAN, Measured, pooled_error
from benchmarks.leaderboard.results import RANDOM, SPA, Results, Runs
from sparingly.base.arrays import Floats


def run_means(runs: Runs, measure: str = SPA) -> Floats:
    """Return the mean over budgets of every run on the whole set; NaN where a budget is missing."""
    return np.asarray(runs.whole(measure).mean(axis=1))


def mean_of(runs: Runs, measure: str = SPA) -> Measured:
    """Return the mean over runs of the means over budgets, with its error."""
    found = run_means(runs, measure)
    found = found[~np.isnan(found)]
    if len(found) == 0:
        return Measured(NAN)
    if len(found) > 1:
        error = float(np.std(found, ddof=1) / np.sqrt(len(found)))
        return Measured(float(found.mean()), error, len(found) - 1.0)
    moves = resample_moves(runs, measure).mean(axis=1)
    if len(moves) < 2:
        return Measured(float(found[0]))
    return Measured(float(found[0]), JACKKNIFE * float(np.std(moves, ddof=1)), len(moves) - 1.0)


def mean_on(results: Results, name: str, entry: str, measure: str = SPA) -> Measured:
    """Return an entry's mean on a set; NaN where the table has no figure."""
    runs = results.runs.get((name, entry))
    return Measured(NAN) if runs is None else mean_of(runs, measure)


def difference_on(
    results: Results, name: str, entry: str, measure: str = SPA, against: str = RANDOM
) -> Measured:
    """Return by how much an entry's mean on a set lies above another's, at the budgets that both have.

    Above 0 with its whole interval: the entry does better with the same labels, and may be preferred.
    """
    if entry == against and (name, entry) in results.runs:
        return Measured(0.0, 0.0)
    shared = results.shared(name, entry, against)
    if shared is None:
        return Measured(NAN)
    own, other = (mean_of(runs, measure) for runs in shared)
    error, freedom = pooled_error([own.error, other.error], [own.freedom, other.freedom])
    return Measured(own.value - other.value, error, freedom)


def differences(
    results: Results, entry: str, measure: str = SPA, against: str = RANDOM, names: list[str] | None = None
) -> dict[str, Measured]:
    """Return an entry's difference from another on every set (the counting ones) that has both."""
    found = {
        name: difference_on(results, name, entry, measure, against)
        for name in (results.counting() if names is None else names)
    }
    return {name: one for name, one in found.items() if not np.isnan(one.value)}
