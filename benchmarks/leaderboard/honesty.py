"""Whether what a method prints holds: coverage and width of intervals, wrong signs, bias.

Rates are sums over sums: p = Σc/Σn over all runs and budgets. The budgets of one run share their labels, so a
run is a cluster: Var p = G/(G−1) · Σ(c_g − p n_g)² / (Σn)² over G runs. Its ratio to p(1−p)/Σn is the design
effect (at least 1) by which the number of trials is divided in Wilson's (1927) interval; where every trial
or none succeeded, each run counts as one trial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.draws import DRAWS, freedom_of, mean_draws
from benchmarks.leaderboard.means import mean_on
from benchmarks.leaderboard.ranges import Range, Ratio, mean_measured, mean_ratio, quantile
from benchmarks.leaderboard.results import RANDOM, Results
from sparingly.base import rng
from sparingly.base.arrays import Floats

# Random draws give every item the same weight, so these are the same.
_PLAIN = ("mean", "weighted_mean")
_WIDTH = "width"


@dataclass(frozen=True)
class Rate:
    """A share of trials with its interval, and how many trials and runs it stands on."""

    rate: Range
    trials: int
    runs: int


@dataclass(frozen=True)
class Honesty:
    """What can be trusted of an entry.

    Attributes:
        coverage: How often a 95 % interval held the full set's score; None where no interval is printed.
        lowest: The lowest coverage on one set, and that set's name.
        width: The mean width of intervals relative to random selection's with plain means; NaN unknown.
            Narrower is better only where the coverage holds.
        wrong_sign: Of the pairs called significant, how many have the other sign on the full set; None
            where no pair was called so.
        bias: The mean signed error, in standard deviations of the models' full-set scores.
        without: The sets on which no interval was printed, too few documents being judged: they are not in
            the coverage.
    """

    coverage: Rate | None
    lowest: tuple[str, Rate] | None
    width: Range
    wrong_sign: Rate | None
    bias: Range
    without: tuple[str, ...] = ()


def clustered_rate(successes: Floats, trials: Floats) -> Rate | None:
    """Return the rate of successes with its 95 % interval, from one sum per run; None without a trial."""
    kept = trials > 0
    won, tried = successes[kept], trials[kept]
    total, groups = float(tried.sum()), len(tried)
    if groups == 0:
        return None
    p = float(won.sum() / total)
    alone = p * (1.0 - p) / total
    if groups == 1 or alone == 0.0:
        effective = float(groups)
    else:
        clustered = groups / (groups - 1.0) * float(((won - p * tried) ** 2).sum()) / total**2
        effective = total / max(1.0, clustered / alone)
    return Rate(_wilson(p, effective), int(total), groups)


def _wilson(p: float, trials: float) -> Range:
    z = quantile(np.inf)
    centre = (p + z * z / (2.0 * trials)) / (1.0 + z * z / trials)
    half = z * np.sqrt(p * (1.0 - p) / trials + z * z / (4.0 * trials**2)) / (1.0 + z * z / trials)
    return Range(p, min(p, max(0.0, float(centre - half))), max(p, min(1.0, float(centre + half))))


def honesty(results: Results, entry: str, names: list[str] | None = None, *, seed: int = 0) -> Honesty:
    """Return what can be trusted of an entry over sets (the counting ones).

    Coverage below 93 %, or more than one wrong sign in a hundred significant pairs: do not print this
    entry's intervals or its significance.
    """
    chosen = results.counting() if names is None else names
    there = [name for name in chosen if (name, entry) in results.runs]
    by_set = {name: rate for name in there if (rate := _rate(results, [name], entry, "covered", "intervals"))}
    lowest = min(by_set.items(), key=lambda found: (found[1].rate.value, found[0]), default=None)
    bias = [one for name in there if not np.isnan((one := mean_on(results, name, entry, "bias")).value)]
    return Honesty(
        _rate(results, there, entry, "covered", "intervals"),
        lowest,
        _relative_width(results, there, entry, seed),
        _rate(results, there, entry, "wrong_sign", "significant"),
        mean_measured(bias).range(),
        tuple(name for name in there if name not in by_set),
    )


def _rate(results: Results, names: list[str], entry: str, won: str, tried: str) -> Rate | None:
    """Return a rate over all runs on these sets, those on resamples too: each has a truth of its own."""
    parts = [results.runs[name, entry].values for name in names]
    if not parts:
        return None
    successes = np.concatenate([np.nansum(values[won], axis=1) for values in parts])
    return clustered_rate(successes, np.concatenate([np.nansum(values[tried], axis=1) for values in parts]))


def plain_means(results: Results) -> str | None:
    """Return the entry that draws at random and prints intervals of plain means, if there is one."""
    found = [
        name for name, one in results.entries.items() if one.method == RANDOM and one.estimator in _PLAIN
    ]
    return min(found, default=None)


def _relative_width(results: Results, names: list[str], entry: str, seed: int) -> Range:
    against = plain_means(results)
    if against is None:
        return mean_ratio([]).range()
    found = [_width_on(results, name, entry, against, seed) for name in names]
    return mean_ratio([one for one in found if one is not None]).range()


def _width_on(results: Results, name: str, entry: str, against: str, seed: int) -> Ratio | None:
    """Return the mean over budgets of the ratios of mean widths on a set; None where one prints none."""
    shared = results.shared(name, entry, against)
    if shared is None:
        return None
    own, other = shared
    known = (own.curve(_WIDTH) > 0.0) & (other.curve(_WIDTH) > 0.0)
    if not known.any():
        return None
    if entry == against:
        return Ratio(1.0, np.ones(DRAWS))
    own, other = own.at(own.shares[known]), other.at(other.shares[known])
    above = mean_draws(own, _WIDTH, rng.generator(seed, "widths", name, entry))
    below = mean_draws(other, _WIDTH, rng.generator(seed, "widths", name, entry, against))
    value = float((own.curve(_WIDTH) / other.curve(_WIDTH)).mean())
    # A draw of a small mean may reach 0; a ratio to less than a hundredth of it would tell nothing.
    draws = (above / np.maximum(below, 0.01 * other.curve(_WIDTH))).mean(axis=1)
    return Ratio(value, draws, freedom_of(own, _WIDTH))
