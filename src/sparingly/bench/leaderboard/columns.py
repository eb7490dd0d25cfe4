"""The columns of the leaderboard: what each shows of a row, on the page, in Markdown and in the CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparingly.bench.summary.board import BoardRow
from sparingly.bench.summary.honesty import Rate
from sparingly.bench.summary.ranges import NAN, Range


@dataclass(frozen=True)
class Column:
    """One figure of every row.

    Attributes:
        key: Its name in the CSV.
        group: The head over several columns.
        head: Its own head.
        words: What it is, in a sentence.
        figure: Takes it from a row.
        scale: What it is multiplied by to be shown.
        digits: Decimals that are shown.
        neutral: The value of random selection; None where there is none to compare with.
        lower: Whether lower is better.
        note: What is written small below it, beside the interval.
        least: Smaller numbers are shown as smaller than this.
    """

    key: str
    group: str
    head: str
    words: str
    figure: Callable[[BoardRow], Range]
    scale: float = 1.0
    digits: int = 0
    neutral: float | None = None
    lower: bool = True
    note: Callable[[BoardRow], str] = lambda row: ""
    least: float = float("-inf")

    def number(self, value: float) -> str:
        """Return a number as it is shown, with a real minus; a dash where there is none."""
        if value != value:
            return "–"
        sign = "+" if self.neutral == 0.0 else ""
        # Adding 0 turns −0 into 0.
        rounded = round(value * self.scale, self.digits) + 0.0
        return f"{rounded:{sign}.{self.digits}f}".replace("-", "−")

    def text(self, row: BoardRow) -> str:
        """Return the figure without its interval."""
        value = self.figure(row).value
        return f"< {self.least:g}" if value < self.least else self.number(value)

    def interval(self, row: BoardRow) -> str:
        """Return the interval, or nothing where there is none or it is a point."""
        found = self.figure(row)
        low, high = self.number(found.low), self.number(found.high)
        return "" if "–" in (low, high) or found.low == found.high else f"{low} to {high}"

    def verdict(self, row: BoardRow) -> str:
        """Return ``better`` or ``worse`` than random where the whole interval says so, else nothing."""
        found = self.figure(row)
        if self.neutral is None or not found.low <= found.high:
            return ""
        below, above = found.high < self.neutral, found.low > self.neutral
        if not (below or above):
            return ""
        return "better" if below == self.lower else "worse"


def _rate(rate: Rate | None) -> Range:
    return Range(NAN) if rate is None else rate.rate


_NEEDS, _ERROR = "Labels for random’s accuracy, % of random’s", "Error of scores, × random’s"
_HONEST, _SETS = "What is printed holds", "Over the sets"

COLUMNS = (
    Column(
        "gain",
        "Accuracy",
        "points above random",
        "Soft pairwise accuracy above random’s with the same labels, in points of a hundred.",
        lambda row: row.gain,
        digits=1,
        neutral=0.0,
        lower=False,
    ),
    Column(
        "parity",
        _NEEDS,
        "mean",
        "Labels that reach plain random’s soft pairwise accuracy and stay there, relative to random’s own.",
        lambda row: row.parity.mean,
        scale=100,
        neutral=1.0,
    ),
    Column(
        "parity_strong",
        _NEEDS,
        "strong metric",
        "The same on the sets whose one metric is a strong one.",
        lambda row: row.parity.strong,
        scale=100,
        neutral=1.0,
    ),
    Column(
        "parity_worst",
        _NEEDS,
        "worst set",
        "The same on the set where it is highest, with the interval of that set.",
        lambda row: row.parity.worst,
        scale=100,
        neutral=1.0,
        note=lambda row: row.parity.worst_set,
    ),
    Column(
        "parity_same",
        _NEEDS,
        "same estimate",
        "The same against random draws with this entry’s estimator and p-values: what the choice adds.",
        lambda row: row.same.mean,
        scale=100,
        neutral=1.0,
    ),
    Column(
        "parity_seconds",
        _NEEDS,
        "in seconds",
        "Seconds of annotation instead of labels, on the sets with sources.",
        lambda row: row.parity_seconds.mean,
        scale=100,
        neutral=1.0,
    ),
    Column(
        "error",
        _ERROR,
        "mean",
        "Mean absolute error of the models’ scores, relative to that of random’s plain means.",
        lambda row: row.error.mean,
        digits=2,
        neutral=1.0,
    ),
    Column(
        "error_strong",
        _ERROR,
        "strong metric",
        "The same on the sets whose one metric is a strong one.",
        lambda row: row.error.strong,
        digits=2,
        neutral=1.0,
    ),
    Column(
        "error_worst",
        _ERROR,
        "worst set",
        "The same on the set where it is highest, with the interval of that set.",
        lambda row: row.error.worst,
        digits=2,
        neutral=1.0,
        note=lambda row: row.error.worst_set,
    ),
    Column(
        "coverage",
        _HONEST,
        "coverage, %",
        "How often a printed 95 % interval held the score on the full set.",
        lambda row: _rate(row.trust.coverage),
        scale=100,
        digits=1,
        lower=False,
    ),
    Column(
        "wrong_sign",
        _HONEST,
        "wrong signs, %",
        "Of the pairs called significant at .05, how many have the other sign on the full set.",
        lambda row: _rate(row.trust.wrong_sign),
        scale=100,
        digits=1,
    ),
    Column(
        "first",
        _SETS,
        "first, %",
        "The share of the sets on which no entry has a higher accuracy; ties are shared.",
        lambda row: Range(row.first.first),
        scale=100,
        lower=False,
    ),
    Column(
        "first_or_second",
        _SETS,
        "first or second, %",
        "The same for the first two places.",
        lambda row: Range(row.first.first_or_second),
        scale=100,
        lower=False,
    ),
    Column(
        "p",
        _SETS,
        "p over sets",
        "Wilcoxon’s signed-rank test of the accuracies over the sets against random, by Holm’s correction.",
        lambda row: Range(NAN if row.test is None else row.test.p_holm),
        digits=3,
        least=0.001,
    ),
    Column(
        "seconds",
        "Cost",
        "seconds",
        "Seconds that one selection with its figures took to compute, mean over the sets.",
        lambda row: Range(row.seconds),
        digits=2,
    ),
)
