"""Other measures of the ranking that papers report: means over sets, and how far they lie above random's.

A mean is over the counting sets that an entry applies to, of the mean over budgets. What an entry does not
apply to is not in it, so it is held against random's by the differences on the same sets at the same budgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from benchmarks.leaderboard.means import differences, mean_on
from benchmarks.leaderboard.ranges import Range, mean_measured
from benchmarks.leaderboard.results import RANDOM, Results

# Between which values each of them lies.
OTHERS = MappingProxyType(
    {
        "pairwise_accuracy": (0.0, 1.0),
        "pairwise_accuracy_tied": (0.0, 1.0),
        "kendall_b": (-1.0, 1.0),
        "top1_match": (0.0, 1.0),
        "rank_changes": (0.0, np.inf),
    }
)


@dataclass(frozen=True)
class Other:
    """One measure of an entry: its mean over sets, and how far it lies above random's on the same cells."""

    mean: Range
    above: Range


def others(results: Results, entry: str, against: str = RANDOM) -> dict[str, Other]:
    """Return every other measure of an entry, over the counting sets that it has figures on."""
    return {measure: _other(results, entry, measure, against) for measure in OTHERS}


def _other(results: Results, entry: str, measure: str, against: str) -> Other:
    found = [mean_on(results, name, entry, measure) for name in results.counting()]
    known = [one for one in found if not np.isnan(one.value)]
    apart = [*differences(results, entry, measure, against).values()]
    return Other(mean_measured(known).range().within(*OTHERS[measure]), mean_measured(apart).range())
