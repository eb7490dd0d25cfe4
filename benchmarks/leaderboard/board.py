"""The leaderboard: one row per entry, each figure a mean over the sets that count, with its interval.

An entry that does not apply to all sets is averaged over those it applies to; whatever it is compared with
is taken on the same sets. Sets that do not count are listed, and are in no mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.first import FirstShare, OverSets, first_shares, over_sets, scores
from benchmarks.leaderboard.honesty import Honesty, honesty
from benchmarks.leaderboard.means import differences
from benchmarks.leaderboard.others import Other, others
from benchmarks.leaderboard.parity import Parities, TableParity
from benchmarks.leaderboard.ranges import NAN, Range, Ratio, mean_measured, mean_ratio, worst
from benchmarks.leaderboard.results import (
    ANNOTATION_SECONDS,
    RANDOM,
    EntryInfo,
    Results,
    nan_mean,
)
from benchmarks.leaderboard.score_errors import ErrorRatios
from benchmarks.leaderboard.stopping import Stops, stops_over

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
