"""A column of the leaderboard's tables: how a figure of a row is written, and whether it beats random's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.leaderboard.board import BoardRow
from benchmarks.leaderboard.ranges import Range


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
