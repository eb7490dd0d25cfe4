"""Numbers with their 95 % intervals: of means by Student's t, of ratios by the spread of bootstrap draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.results import RANDOM, SPA, Results, Runs, nan_mean
from sparingly.base.arrays import Floats
from sparingly.bench.sets import RESAMPLED

NAN = float("nan")
_UPPER = 0.975


@dataclass(frozen=True)
class Range:
    """A number and its 95 % interval; the ends are NaN where nothing tells how uncertain it is."""

    value: float
    low: float = NAN
    high: float = NAN

    def times(self, factor: float) -> Range:
        """Return the same in another unit."""
        return Range(self.value * factor, self.low * factor, self.high * factor)

    def within(self, least: float, most: float) -> Range:
        """Return the same with an interval that ends where the number must: no share is above 1."""
        # An end that is not known stays so: NaN is neither below nor above anything.
        return Range(self.value, max(self.low, least), min(self.high, most))


@dataclass(frozen=True)
class Measured:
    """A mean, its standard error and the degrees of freedom of that error."""

    value: float
    error: float = NAN
    freedom: float = np.inf

    def range(self) -> Range:
        """Return value ± t(0.975; freedom) · error."""
        half = quantile(self.freedom) * self.error
        return Range(self.value, self.value - half, self.value + half)


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio, bootstrap draws of it, and the degrees of freedom that the draws stand on."""

    value: float
    draws: Floats
    freedom: float = np.inf

    def range(self) -> Range:
        """Return value · exp(± t · s / value), s being the standard deviation of the draws.

        On the scale of logarithms, because a ratio cannot fall below 0. The draws give the width only: a
        resampled curve is noisier than the curve itself, so their centre lies off the value.
        """
        if not self.value > 0.0 or np.isnan(self.draws).any():
            return Range(self.value)
        half = quantile(self.freedom) * float(np.std(self.draws, ddof=1)) / self.value
        return Range(self.value, self.value * float(np.exp(-half)), self.value * float(np.exp(half)))


def quantile(freedom: float) -> float:
    """Return how many standard errors a 95 % interval reaches to each side."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(_UPPER) if np.isinf(freedom) else stdtrit(freedom, _UPPER))


def pooled_error(errors: Sequence[float], freedoms: Sequence[float]) -> tuple[float, float]:
    """Return the error of a sum of independent parts and its freedom, by Welch and Satterthwaite.

    e² = Σeᵢ², freedom = e⁴ / Σ(eᵢ⁴/νᵢ).
    """
    squares = np.square(np.asarray(errors, np.float64))
    total = float(squares.sum())
    below = float((squares**2 / np.asarray(freedoms, np.float64)).sum())
    return float(np.sqrt(total)), (total**2 / below if below > 0.0 else np.inf)


def mean_measured(parts: Sequence[Measured]) -> Measured:
    """Return the mean of independent figures, of several sets say: the sets are given, not drawn."""
    if not parts:
        return Measured(NAN)
    error, freedom = pooled_error([part.error for part in parts], [part.freedom for part in parts])
    return Measured(float(np.mean([part.value for part in parts])), error / len(parts), freedom)


def mean_ratio(parts: Sequence[Ratio]) -> Ratio:
    """Return the mean of independent ratios, draw by draw."""
    if not parts:
        return Ratio(NAN, np.full(1, NAN))
    value = float(np.mean([part.value for part in parts]))
    freedom = parts[0].freedom if len(parts) == 1 else np.inf
    return Ratio(value, np.mean([part.draws for part in parts], axis=0), freedom)


def worst(ratios: Sequence[tuple[str, Ratio]]) -> tuple[str, Ratio] | None:
    """Return the largest ratio with its name: its interval is its own, not that of a maximum."""
    known = [found for found in ratios if not np.isnan(found[1].value)]
    return max(known, key=lambda found: (found[1].value, found[0])) if known else None


# --- other curves that might have been -------------------------------------------------------------------


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


# --- means over budgets and runs, and their differences from random selection's, with intervals ----------
# A run's figure is its mean over the budgets, aᵢ. With n ≥ 2 seeds the mean ā has the standard error s/√n.
# A method without a seed has one run, a; its standard error comes from R resamples of f = 80 % of the items
# by the delete-d jackknife, √(f/(1−f)) · s_r = 2 s_r, s_r being the standard deviation of the resamples'
# figures: how far the figure would move with other items like these. It does not shrink with R.
#
# A difference from random is taken at the budgets that both have. Of seeds, its squared error is the sum of
# both (Welch 1947). Without a seed, s_r is that of the method's figures: random's means hardly move with the
# resample, and ten seeds of random on each would add more noise than they take off.


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
