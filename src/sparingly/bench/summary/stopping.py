"""Labels to stop: what a stopping rule spent, beside what random selection needs for as small an error.

Of the runs that a rule ended: the mean labels L and the mean soft pairwise accuracy at the end. Random's mean
curve reaches that accuracy at L_random labels; L/L_random compares the two at a matched error. Below 1: the
rule saves labels, and does not merely stop early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.bench.summary.crossing import reached
from sparingly.bench.summary.random_side import baseline_on
from sparingly.bench.summary.ranges import NAN, Measured
from sparingly.bench.summary.results import RANDOM, SPA, Floats, Results, nan_mean


@dataclass(frozen=True)
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
    share: float
    accuracy: float
    matched: float


def stopped_on(results: Results, name: str, entry: str, against: str = RANDOM) -> Stopped | None:
    """Return when an entry's rule ended on a set; None where the table names no end."""
    runs = results.runs.get((name, entry))
    if runs is None:
        return None
    ends, values = runs.whole("stopped_at"), runs.whole(SPA)
    is_over = ~np.isnan(ends)
    ended = is_over.any(axis=1)
    if not ended.any():
        return None
    # The smallest budget at which a run was over holds the figures of its end.
    first = np.argmax(is_over, axis=1)[ended]
    labels, accuracy = ends[ended, first], values[ended, first]
    info = results.sets[name]
    mean, at_the_end = float(labels.mean()), float(nan_mean(accuracy[:, None])[0])
    return Stopped(
        float(ended.mean()),
        _mean(labels),
        mean / (info.items * info.models),
        at_the_end,
        _matched(results, name, against, mean, at_the_end),
    )


def _mean(values: Floats) -> Measured:
    if len(values) < 2:
        return Measured(float(values.mean()))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return Measured(float(values.mean()), error, len(values) - 1.0)


def _matched(results: Results, name: str, against: str, labels: float, accuracy: float) -> float:
    baseline = baseline_on(results, name, against)
    if baseline is None or np.isnan(accuracy):
        return NAN
    places = baseline.places_of(baseline.sizes)
    sizes, _ = reached(places, baseline.targets[None, :], np.array([[accuracy]]), "stays")
    return labels / float(sizes[0, 0])
