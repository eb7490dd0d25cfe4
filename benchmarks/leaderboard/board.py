"""The leaderboard: one row per entry, each figure a mean over the sets that count, with its interval.

An entry that does not apply to all sets is averaged over those it applies to; whatever it is compared with
is taken on the same sets. Sets that do not count are listed, and are in no mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from benchmarks.leaderboard.parity import Parities, TableParity
from benchmarks.leaderboard.ranges import (
    NAN,
    Range,
    Ratio,
    differences,
    mean_measured,
    mean_on,
    mean_ratio,
    worst,
)
from benchmarks.leaderboard.results import ANNOTATION_SECONDS, RANDOM, SPA, EntryInfo, Results, nan_mean
from benchmarks.leaderboard.scores import ErrorRatios, Honesty, Stops, honesty, stops_over
from sparingly.base.stats.pairs import holm
from sparingly.base.stats.signed_rank import signed_rank

# --- how often a method is the best of all, and whether it beats random over the sets --------------------
# Each set is one setting: the share of settings in which a method is first, or first or second, and
# Wilcoxon's test of methods over settings are those of Ruan et al. (2024, §4). Methods are ordered by their
# mean soft pairwise accuracy above random's at the budgets that both have, so that a method that was run at
# three budgets only is judged at those.


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


# --- other measures of the ranking that papers report ----------------------------------------------------
# A mean is over the counting sets that an entry applies to, of the mean over budgets. What an entry does
# not apply to is not in it, so it is held against random's by the differences on the same sets at the same
# budgets.


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


# --- the leaderboard -------------------------------------------------------------------------------------


_EXPECTED, _GREG = "full_set", "greg"
_AUTO, _AT_RANDOM = "auto", "spread=false"
POINTS = 100.0


@dataclass(frozen=True)
class Span:
    """A ratio over sets: its mean, its mean on the sets with a strong metric, and the worst set."""

    mean: Range
    strong: Range
    worst: Range
    worst_set: str
    sets: int


@dataclass(frozen=True, eq=False)
class BoardRow:
    """What a table says about an entry.

    Attributes:
        info: The entry.
        sets: How many counting sets it has figures on.
        gain: Soft pairwise accuracy above random's, in points of a hundred, mean over sets.
        parity: Labels for random's accuracy, relative to plain random.
        same: The same against random with this entry's estimator and p-values.
        same_entry: Which entry that is; None where the table has none.
        parity_seconds: As ``parity``, in seconds of annotation.
        extrapolated: The share of the targets of ``parity`` that lie beyond the largest budget.
        error: Mean absolute error of model scores, relative to random's.
        trust: Coverage, width, wrong signs and bias.
        first: How often it is first.
        test: Wilcoxon's test over sets against random; None for random itself.
        seconds: Seconds that a cell took to compute, mean over sets.
        others: The other measures of the ranking, by name.
        stops: When its rule ended; None where it has none.
    """

    info: EntryInfo
    sets: int
    gain: Range
    parity: Span
    same: Span
    same_entry: str | None
    parity_seconds: Span
    extrapolated: float
    error: Span
    trust: Honesty
    first: FirstShare
    test: OverSets | None
    seconds: float
    others: Mapping[str, Other]
    stops: Stops | None


@dataclass(frozen=True, eq=False)
class Board:
    """The leaderboard.

    Attributes:
        rows: One per entry; the fewest labels for random's accuracy first.
        by_set: By set (those that do not count, too) and entry: the parity against plain random.
        gains: By set and entry: soft pairwise accuracy above random's, in points.
    """

    rows: tuple[BoardRow, ...]
    by_set: Mapping[tuple[str, str], Range]
    gains: Mapping[tuple[str, str], Range]

    @property
    def stopping(self) -> tuple[BoardRow, ...]:
        """The rows of entries that a rule may end."""
        return tuple(row for row in self.rows if row.stops is not None)


def same_baseline(results: Results, entry: str) -> str | None:
    """Return the entry that draws at random with the same estimator and p-values, if the table has one.

    A strategy that scores the models by its own estimate is set beside random draws with ``greg`` where it
    uses the expected full-set p-values: the two differ in which outputs are judged. ``auto`` is set beside
    itself in one round along a plainly random order.
    """
    info = results.entries[entry]
    if info.method.startswith(_AUTO) and _AT_RANDOM not in info.method:
        return next((name for name, other in results.entries.items() if _AT_RANDOM in other.method), None)
    drawn = {
        (other.estimator, other.p_values): name
        for name, other in sorted(results.entries.items(), reverse=True)
        if other.method == RANDOM
    }
    if (info.estimator, info.p_values) in drawn:
        return drawn[info.estimator, info.p_values]
    if info.estimator is None and info.p_values == _EXPECTED:
        return drawn.get((_GREG, _EXPECTED))
    return None


class _Maker:
    """Makes rows; parities with a baseline are prepared once for all entries."""

    def __init__(self, results: Results, seed: int) -> None:
        self.results = results
        self.seed = seed
        self.plain = Parities(results, seed=seed)
        self.timed = Parities(results, unit=ANNOTATION_SECONDS, seed=seed)
        self._beside = {RANDOM: self.plain}
        self.errors = ErrorRatios(results, seed=seed)
        found = scores(results)
        self.first, self.tests = first_shares(found), over_sets(found)

    def row(self, entry: str) -> BoardRow:
        results = self.results
        plain, same = self.plain.over(entry), same_baseline(results, entry)
        gains = differences(results, entry)
        runs = [results.runs[name, entry] for name in results.counting() if (name, entry) in results.runs]
        seconds = [float(nan_mean(one.whole("seconds").reshape(-1, 1))[0]) for one in runs]
        return BoardRow(
            results.entries[entry],
            len(runs),
            mean_measured([*gains.values()]).range().times(POINTS),
            self._parity_span(plain),
            self._parity_span({} if same is None else self._against(same).over(entry)),
            same,
            self._parity_span(self.timed.over(entry)),
            float(np.mean([one.beyond for one in plain.values()])) if plain else NAN,
            self.span(self.errors.over(entry)),
            honesty(results, entry, seed=self.seed),
            self.first[entry],
            self.tests.get(entry),
            float(np.mean(seconds)) if seconds else NAN,
            others(results, entry),
            stops_over(results, entry, seed=self.seed),
        )

    def _against(self, same: str) -> Parities:
        if same not in self._beside:
            self._beside[same] = Parities(self.results, same, seed=self.seed)
        return self._beside[same]

    def _parity_span(self, found: Mapping[str, TableParity]) -> Span:
        return self.span({name: one.ratio for name, one in found.items()})

    def span(self, ratios: Mapping[str, Ratio]) -> Span:
        strong = [ratio for name, ratio in ratios.items() if self.results.sets[name].strong]
        last = worst([*ratios.items()])
        return Span(
            mean_ratio([*ratios.values()]).range(),
            mean_ratio(strong).range(),
            Range(NAN) if last is None else last[1].range(),
            "" if last is None else last[0],
            len(ratios),
        )


def board(results: Results, *, seed: int = 0) -> Board:
    """Return the leaderboard of a table: entries by the labels they need for random's accuracy."""
    maker = _Maker(results, seed)
    rows = sorted((maker.row(entry) for entry in results.entries), key=_order)
    names = [*results.sets]
    by_set, gains = {}, {}
    for entry in results.entries:
        for name, found in maker.plain.over(entry, names).items():
            by_set[name, entry] = found.ratio.range()
        for name, gain in differences(results, entry, names=names).items():
            gains[name, entry] = gain.range().times(POINTS)
    return Board(tuple(rows), by_set, gains)


def _order(row: BoardRow) -> tuple[bool, float, str]:
    value = row.parity.mean.value
    return bool(np.isnan(value)), value if value == value else 0.0, row.info.entry
