"""How often a method is the best of all, and whether it beats random over the sets.

Each set is one setting: the share of settings in which a method is first, or first or second, and Wilcoxon's
test of methods over settings are those of Ruan et al. (2024, §4). Methods are ordered by their mean soft
pairwise accuracy above random's at the budgets that both have, so that a method that was run at three budgets
only is judged at those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.means import differences
from benchmarks.leaderboard.results import RANDOM, SPA, Results
from sparingly.base.stats.multiple_tests import holm
from sparingly.base.stats.signed_rank import signed_rank

_EQUAL = 1e-9


@dataclass(frozen=True)
class FirstShare:
    """How often an entry was first, and first or second, of the sets that it applies to; ties are shared."""

    sets: int
    first: float
    first_or_second: float


@dataclass(frozen=True)
class OverSets:
    """Wilcoxon's signed-rank test of an entry against another over sets.

    Attributes:
        sets: How many sets have both.
        better: On how many of them the entry is the better one.
        mean: The mean difference.
        p: The two-sided p-value.
        p_holm: The same, corrected for all the entries that are tested.
    """

    sets: int
    better: int
    mean: float
    p: float
    p_holm: float


def scores(results: Results, measure: str = SPA, against: str = RANDOM) -> dict[str, dict[str, float]]:
    """Return every entry's mean difference from random on every counting set that it applies to."""
    return {
        entry: {name: one.value for name, one in differences(results, entry, measure, against).items()}
        for entry in results.entries
    }


def first_shares(found: Mapping[str, Mapping[str, float]]) -> dict[str, FirstShare]:
    """Return how often each entry is first, from its scores by set (higher is better).

    Of k entries that are equal, each has 1/k of the places that they take together.
    """
    places: dict[str, list[tuple[float, float]]] = {entry: [] for entry in found}
    names = sorted({name for by_set in found.values() for name in by_set})
    for name in names:
        values = {entry: by_set[name] for entry, by_set in found.items() if name in by_set}
        for entry, value in values.items():
            above = sum(other > value + _EQUAL for other in values.values())
            equal = sum(abs(other - value) <= _EQUAL for other in values.values())
            places[entry].append((_taken(above, equal, 1), _taken(above, equal, 2)))
    return {entry: _share(taken) for entry, taken in places.items()}


def _taken(above: int, equal: int, most: int) -> float:
    """Return an entry's part of the first ``most`` places, of which ``above`` are taken by better ones."""
    return max(0, min(most - above, equal)) / equal


def _share(taken: list[tuple[float, float]]) -> FirstShare:
    if not taken:
        return FirstShare(0, float("nan"), float("nan"))
    first, first_or_second = np.mean(taken, axis=0)
    return FirstShare(len(taken), float(first), float(first_or_second))


def over_sets(found: Mapping[str, Mapping[str, float]], against: str = RANDOM) -> dict[str, OverSets]:
    """Return Wilcoxon's test over sets of every entry, from its differences from ``against`` by set.

    Holm's correction is over all entries but ``against``: an adjusted p below .05 says that the entry beats
    random on sets like these, however many entries were tried.
    """
    tested = [entry for entry, by_set in found.items() if entry != against and by_set]
    p = np.array(
        [float(signed_rank(np.array([[*found[entry].values()]]).T).p[0]) for entry in tested], np.float64
    )
    adjusted = holm(p)
    return {
        entry: OverSets(
            len(found[entry]),
            sum(value > 0.0 for value in found[entry].values()),
            float(np.mean([*found[entry].values()])),
            float(p[place]),
            float(adjusted[place]),
        )
        for place, entry in enumerate(tested)
    }
