"""Whether what a method prints holds: coverage and width of intervals, wrong signs, bias.

Rates are sums over sums: p = Σc/Σn over all runs and budgets. The budgets of one run share their labels, so a
run is a cluster: Var p = G/(G−1) · Σ(c_g − p n_g)² / (Σn)² over G runs. Its ratio to p(1−p)/Σn is the design
effect (at least 1) by which the number of trials is divided in Wilson's (1927) interval; where every trial
or none succeeded, each run counts as one trial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.parity import Baseline, baseline_on, reached
from benchmarks.leaderboard.ranges import (
    DRAWS,
    NAN,
    Measured,
    Range,
    Ratio,
    freedom_of,
    mean_draws,
    mean_measured,
    mean_on,
    mean_ratio,
    quantile,
    seed_draws,
)
from benchmarks.leaderboard.results import RANDOM, SPA, Results, Runs
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask

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


# --- errors of model scores relative to random selection's -----------------------------------------------
# On a set: r = ē/ē_random, the mean absolute errors of the model scores averaged over runs and over the
# budgets that both have. Below 1 with its interval: the scores are nearer to the full set's with the same
# labels.


_ERROR = "mean_absolute_error"


class ErrorRatios:
    """The error ratios of a table against one entry; that entry's draws are made once for all others."""

    def __init__(self, results: Results, against: str = RANDOM, *, seed: int = 0) -> None:
        self._results = results
        self._against = against
        self._seed = seed
        self._below: dict[tuple[str, bytes], Floats] = {}

    def on(self, name: str, entry: str) -> Ratio | None:
        """Return an entry's ratio on a set, with bootstrap draws over seeds (or resamples of the set).

        None where the table has no errors of both at the same budgets.
        """
        shared = self._results.shared(name, entry, self._against)
        if shared is None:
            return None
        if entry == self._against:
            return Ratio(1.0, np.ones(DRAWS))
        own, other = shared
        known = ~np.isnan(own.curve(_ERROR)) & ~np.isnan(other.curve(_ERROR))
        own, other = own.at(own.shares[known]), other.at(other.shares[known])
        below = float(other.curve(_ERROR).mean()) if known.any() else 0.0
        if below <= 0.0:
            return None
        errors = mean_draws(own, _ERROR, self._generator(name, entry)).mean(axis=1)
        # A draw of a small mean may reach 0; a ratio to less than a hundredth of it would tell nothing.
        draws = errors / np.maximum(self._drawn_below(name, other), 0.01 * below)
        return Ratio(float(own.curve(_ERROR).mean()) / below, draws, freedom_of(own, _ERROR))

    def over(self, entry: str, names: list[str] | None = None) -> dict[str, Ratio]:
        """Return an entry's ratios on every set (the counting ones) where the table tells them."""
        chosen = self._results.counting() if names is None else names
        found = {name: self.on(name, entry) for name in chosen}
        return {name: ratio for name, ratio in found.items() if ratio is not None}

    def _drawn_below(self, name: str, other: Runs) -> Floats:
        key = name, other.shares.tobytes()
        if key not in self._below:
            drawn = mean_draws(other, _ERROR, self._generator(name, self._against))
            self._below[key] = np.asarray(drawn.mean(axis=1))
        return self._below[key]

    def _generator(self, name: str, entry: str) -> np.random.Generator:
        return rng.generator(self._seed, "score errors", name, entry, self._against)


# --- labels to stop --------------------------------------------------------------------------------------
# Of the runs that a rule ended: the mean labels L and the mean soft pairwise accuracy at the end. Random's
# mean curve reaches that accuracy at L_random labels; L/L_random compares the two at a matched error. Below
# 1: the rule saves labels, and does not merely stop early.


@dataclass(frozen=True, eq=False)
class Stopped:
    """When a rule ended an evaluation.

    Attributes:
        ended: The share of the runs that the rule ended before their largest budget was spent.
        labels: The mean labels at the end, of the runs that it ended.
        share: The same, of the labels of the full set.
        accuracy: Their mean soft pairwise accuracy at the end.
        matched: Their labels relative to what random needs for that accuracy; NaN without random.
    """

    ended: float
    labels: Measured
    share: Measured
    accuracy: Measured
    matched: Ratio


@dataclass(frozen=True)
class Stops:
    """When a rule ended, over the counting sets; the means are over the sets on which it ended at all.

    Attributes:
        ended: The share of all runs that the rule ended before their largest budget was spent.
        share: The mean labels at the end, of the labels of the full set.
        accuracy: The mean soft pairwise accuracy at the end.
        matched: The labels relative to what random needs for that accuracy.
    """

    ended: Rate
    share: Range
    accuracy: Range
    matched: Range


def stopped_on(
    results: Results, name: str, entry: str, against: str = RANDOM, *, seed: int = 0
) -> Stopped | None:
    """Return when an entry's rule ended on a set; None where the table names no end."""
    ended = _ended(results, name, entry)
    if not ended.any():
        return None
    runs = results.runs[name, entry]
    ends, values = runs.whole("stopped_at")[ended], runs.whole(SPA)[ended]
    # The smallest budget at which a run was over holds the figures of its end.
    first = np.argmax(~np.isnan(ends), axis=1)[:, None]
    labels = np.take_along_axis(ends, first, axis=1)[:, 0]
    accuracy = np.take_along_axis(values, first, axis=1)[:, 0]
    info = results.sets[name]
    baseline = baseline_on(results, name, against, seed=seed)
    known = ~np.isnan(accuracy)
    matched = Ratio(NAN, np.full(DRAWS, NAN))
    if baseline is not None and known.any():
        generator = rng.generator(seed, "stopping", name, entry, against)
        matched = _matched(baseline, labels[known], accuracy[known], generator)
    return Stopped(
        float(ended.mean()),
        _mean(labels),
        _mean(labels / (info.items * info.models if baseline is None else baseline.full)),
        _mean(accuracy[known]),
        matched,
    )


def stops_over(results: Results, entry: str, *, seed: int = 0) -> Stops | None:
    """Return when an entry's rule ended over the counting sets; None where it has no rule, or no runs."""
    names = [name for name in results.counting() if (name, entry) in results.runs]
    ended = [_ended(results, name, entry) for name in names]
    rate = clustered_rate(*_flags(ended)) if ended else None
    if rate is None or (results.entries[entry].stop is None and rate.rate.value == 0.0):
        return None
    found = [stopped_on(results, name, entry, seed=seed) for name in names]
    there = [one for one in found if one is not None]
    accuracies = [one.accuracy for one in there if not np.isnan(one.accuracy.value)]
    ratios = [one.matched for one in there if not np.isnan(one.matched.value)]
    return Stops(
        rate,
        mean_measured([one.share for one in there]).range().within(0.0, 1.0),
        mean_measured(accuracies).range().within(0.0, 1.0),
        mean_ratio(ratios).range(),
    )


def _ended(results: Results, name: str, entry: str) -> Mask:
    """Return of every run on the whole set whether the rule ended it."""
    runs = results.runs.get((name, entry))
    if runs is None:
        return np.zeros(0, np.bool_)
    return np.asarray((~np.isnan(runs.whole("stopped_at"))).any(axis=1))


def _flags(ended: list[Mask]) -> tuple[Floats, Floats]:
    together = np.concatenate(ended).astype(np.float64)
    return together, np.ones(len(together))


def _mean(values: Floats) -> Measured:
    if len(values) < 2:
        return Measured(float(values[0]) if len(values) else NAN)
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return Measured(float(values.mean()), error, len(values) - 1.0)


def _matched(baseline: Baseline, labels: Floats, accuracy: Floats, generator: np.random.Generator) -> Ratio:
    """Return the labels at the end relative to those at which random's curve reaches the accuracy there."""
    places = baseline.places_of(baseline.sizes)

    def needed(curves: Floats, targets: Floats) -> Floats:
        return reached(places, curves, targets[:, None], "stays")[0][:, 0]

    # The whole curve: also at the budgets below those that are aimed at.
    curve = baseline.runs.curve(SPA)[None, :]
    value = float(labels.mean() / needed(curve, accuracy.mean(keepdims=True))[0])
    if len(labels) < 2:
        return Ratio(value, np.full(DRAWS, NAN))
    drawn = seed_draws(np.column_stack([labels, accuracy]), generator)
    curves = mean_draws(baseline.runs, SPA, generator)
    if np.isnan(curves).any():
        return Ratio(value, np.full(DRAWS, NAN), len(labels) - 1.0)
    return Ratio(value, drawn[:, 0] / needed(curves, drawn[:, 1]), len(labels) - 1.0)
