"""Labels to stop: what a stopping rule spent, beside what random selection needs for as small an error.

Of the runs that a rule ended: the mean labels L and the mean soft pairwise accuracy at the end. Random's mean
curve reaches that accuracy at L_random labels; L/L_random compares the two at a matched error. Below 1: the
rule saves labels, and does not merely stop early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.crossing import reached
from benchmarks.leaderboard.draws import DRAWS, mean_draws, seed_draws
from benchmarks.leaderboard.honesty import Rate, clustered_rate
from benchmarks.leaderboard.random_side import Baseline, baseline_on
from benchmarks.leaderboard.ranges import NAN, Measured, Range, Ratio, mean_measured, mean_ratio
from benchmarks.leaderboard.results import RANDOM, SPA, Results
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask


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
        _mean(labels / (info.items * info.models)),
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
