"""What the leaderboard's tables show of a row, on the page, in Markdown and in the CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.leaderboard.board import BoardRow
from benchmarks.leaderboard.ranges import NAN, Range
from benchmarks.leaderboard.scores import Rate

# --- a column of the leaderboard's tables ----------------------------------------------------------------


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
        signed: Whether a plus stands before what is above 0.
        beside: What is compared with ``neutral``, where it is not the figure itself: a mean over the sets of
            an entry is no answer to random's over other sets, the difference on the same sets is.
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
    signed: bool = False
    beside: Callable[[BoardRow], Range] | None = None
    note: Callable[[BoardRow], str] = lambda row: ""
    least: float = float("-inf")

    def number(self, value: float) -> str:
        """Return a number as it is shown, with a real minus; a dash where there is none."""
        if value != value:
            return "–"
        sign = "+" if self.signed else ""
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
        found = (self.beside or self.figure)(row)
        if self.neutral is None or not found.low <= found.high:
            return ""
        below, above = found.high < self.neutral, found.low > self.neutral
        if not (below or above):
            return ""
        return "better" if below == self.lower else "worse"


# --- what the leaderboard's tables show of a row, on the page, in Markdown and in the CSV ----------------


def _lowest(row: BoardRow) -> tuple[str, Range]:
    found = row.trust.lowest
    return ("", Range(NAN)) if found is None else (found[0], found[1].rate)


def _stops(row: BoardRow, part: str) -> Range:
    if row.stops is None:
        return Range(NAN)
    return row.stops.ended.rate if part == "ended" else getattr(row.stops, part)


def _rate(rate: Rate | None) -> Range:
    return Range(NAN) if rate is None else rate.rate


_NEEDS, _ERROR = "Labels for random’s accuracy, % of random’s", "Error of scores, × random’s"
_HONEST, _RANKING = "What is printed holds", "The ranking"
_SCORES, _PLACES, _STOPS = "The scores", "Share of the sets", "When the rule ended"

# The table itself: what decides between methods.
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
        signed=True,
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
        "coverage_without",
        _HONEST,
        "sets without intervals",
        "Sets on which too few documents are judged to print an interval: they are not in the coverage.",
        lambda row: Range(float(len(row.trust.without))),
        digits=0,
    ),
    Column(
        "coverage_lowest",
        _HONEST,
        "lowest coverage, %",
        "The same on the set where it is lowest, with the interval of that set.",
        lambda row: _lowest(row)[1],
        scale=100,
        digits=1,
        lower=False,
        note=lambda row: _lowest(row)[0],
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
        "p",
        "Over the sets",
        "p against random",
        "Wilcoxon’s signed-rank test of the accuracies over the sets against random, by Holm’s correction.",
        lambda row: Range(NAN if row.test is None else row.test.p_holm),
        digits=3,
        least=0.001,
    ),
)
# What else is measured, folded away.
OTHER_COLUMNS = (
    Column(
        "pairwise_accuracy",
        _RANKING,
        "pairs, %",
        "Pairs of models in the full set’s order.",
        lambda row: row.others["pairwise_accuracy"].mean,
        scale=100,
        digits=1,
        lower=False,
        neutral=0.0,
        beside=lambda row: row.others["pairwise_accuracy"].above,
    ),
    Column(
        "pairwise_accuracy_tied",
        _RANKING,
        "pairs with ties, %",
        "The same with ties, calibrated (Deutsch et al. 2023).",
        lambda row: row.others["pairwise_accuracy_tied"].mean,
        scale=100,
        digits=1,
        lower=False,
        neutral=0.0,
        beside=lambda row: row.others["pairwise_accuracy_tied"].above,
    ),
    Column(
        "kendall_b",
        _RANKING,
        "Kendall b",
        "Kendall’s tau-b with the full set’s ranking.",
        lambda row: row.others["kendall_b"].mean,
        digits=3,
        lower=False,
        neutral=0.0,
        beside=lambda row: row.others["kendall_b"].above,
    ),
    Column(
        "top1_match",
        _RANKING,
        "best found, %",
        "How often the best model is the full set’s.",
        lambda row: row.others["top1_match"].mean,
        scale=100,
        digits=1,
        lower=False,
        neutral=0.0,
        beside=lambda row: row.others["top1_match"].above,
    ),
    Column(
        "rank_changes",
        _RANKING,
        "rank changes",
        "Models whose rank is another one than on the full set.",
        lambda row: row.others["rank_changes"].mean,
        digits=1,
        neutral=0.0,
        beside=lambda row: row.others["rank_changes"].above,
    ),
    Column(
        "parity_seconds",
        "Cost",
        "annotation time, %",
        "Seconds of annotation for random’s accuracy, % of random’s, on the sets with sources.",
        lambda row: row.parity_seconds.mean,
        scale=100,
        neutral=1.0,
    ),
    Column(
        "seconds",
        "Cost",
        "computing, s",
        "Seconds that one selection with its figures took to compute, mean over the sets.",
        lambda row: Range(row.seconds),
        digits=2,
    ),
    Column(
        "bias",
        _SCORES,
        "bias",
        "The mean signed error of the models’ scores, in standard deviations of their true scores.",
        lambda row: row.trust.bias,
        digits=3,
        signed=True,
    ),
    Column(
        "width",
        _SCORES,
        "width, × random’s",
        "Width of the 95 % intervals, relative to those of plain means of random draws.",
        lambda row: row.trust.width,
        digits=2,
        neutral=1.0,
    ),
    Column(
        "first",
        _PLACES,
        "first, %",
        "The share of the sets on which no entry has a higher accuracy; ties are shared.",
        lambda row: Range(row.first.first),
        scale=100,
        lower=False,
    ),
    Column(
        "first_or_second",
        _PLACES,
        "first or second, %",
        "The same for the first two places.",
        lambda row: Range(row.first.first_or_second),
        scale=100,
        lower=False,
    ),
)
# Of entries that a rule may end.
STOP_COLUMNS = (
    Column(
        "stop_ended",
        _STOPS,
        "runs ended, %",
        "How many runs the rule ended before their largest budget was spent.",
        lambda row: _stops(row, "ended"),
        scale=100,
        lower=False,
    ),
    Column(
        "stop_labels",
        _STOPS,
        "labels, % of all",
        "Labels at the end, in percent of judging everything, of the runs that it ended.",
        lambda row: _stops(row, "share"),
        scale=100,
        digits=1,
    ),
    Column(
        "stop_accuracy",
        _STOPS,
        "accuracy, %",
        "Soft pairwise accuracy at the end.",
        lambda row: _stops(row, "accuracy"),
        scale=100,
        digits=1,
        lower=False,
    ),
    Column(
        "stop_matched",
        _STOPS,
        "labels, % of random’s",
        "Labels at the end, in percent of those that random needs for the accuracy at the end.",
        lambda row: _stops(row, "matched"),
        scale=100,
        neutral=1.0,
    ),
)
OTHERS_TITLE, STOPS_TITLE = "Other measures", "Labels to stop"
ALL_COLUMNS = (*COLUMNS, *OTHER_COLUMNS, *STOP_COLUMNS)
