"""The figures of ``auto`` from a table of replays: labels, errors, coverage and wrong signs.

    python -m benchmarks.auto_figures .bench/leaderboard/table.parquet
    python -m benchmarks.auto_figures .bench/leaderboard/table.parquet --docs   also into coverage.md

The table is that of ``benchmarks/leaderboard/``; every figure has its 95 % interval.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.leaderboard.board import BoardRow, Span, board
from benchmarks.leaderboard.ranges import Range
from benchmarks.leaderboard.results import read_results
from benchmarks.pages import replaced, write_whole

PAGE = Path(__file__).resolve().parent.parent / "docs" / "research" / "coverage.md"
MARKER = "auto"
HEADS = ("", "mean", "sets with a strong metric", "worst set")


def shown(one: Range | None, scale: float = 1.0, digits: int = 0) -> str:
    """Return a figure with its interval."""
    if one is None or one.value != one.value:
        return "–"
    value, low, high = (f"{scale * part:.{digits}f}" for part in (one.value, one.low, one.high))
    return value if one.low != one.low else f"{value} ({low}–{high})"


def of_span(title: str, span: Span | None, scale: float, digits: int) -> list[str]:
    """Return a line of the table: a figure over all sets, over the strong ones, and on the worst one."""
    if span is None:
        return [title, "–", "–", "–"]
    where = f" {span.worst_set}" if span.worst_set else ""
    return [
        title,
        shown(span.mean, scale, digits),
        shown(span.strong, scale, digits),
        shown(span.worst, scale, digits) + where,
    ]


def lines_of(row: BoardRow) -> list[list[str]]:
    """Return the lines of an entry."""
    honest = row.trust
    covered = None if honest.coverage is None else honest.coverage.rate
    lowest = "" if honest.lowest is None else f"{shown(honest.lowest[1].rate, 100, 1)} {honest.lowest[0]}"
    wrong = None if honest.wrong_sign is None else honest.wrong_sign.rate
    name = f"**{row.info.entry}**"
    return [
        of_span(f"{name}: labels for random's accuracy, %", row.parity, 100, 0),
        of_span("… for that of random draws with the same estimate and p-values, %", row.same, 100, 0),
        of_span("error of the scores, as a multiple of random's", row.error, 1, 2),
        ["95 % intervals that hold, %", shown(covered, 100, 1), "", lowest],
        ["significant pairs with the wrong sign, %", shown(wrong, 100, 2), "", ""],
    ]


def block_of(table: Path) -> str:
    """Return the figures of all entries of ``auto`` as a Markdown table."""
    results = read_results(table)
    # A stop ends before the budget is spent: what that costs and saves is on the leaderboard.
    rows = [
        row for row in board(results).rows if row.info.method.startswith("auto") and row.info.stop is None
    ]
    lines = [line for row in sorted(rows, key=lambda row: row.info.entry) for line in lines_of(row)]
    whole = [list(HEADS), ["---", "---:", "---:", "---:"], *lines]
    sets = len(results.counting())
    text = "\n".join(f"| {' | '.join(line)} |" for line in whole)
    return f"{text}\n\n{sets} sets count; intervals are 95 %, over seeds; the worst set has its own interval."


def main(arguments: list[str] | None = None) -> int:
    """Print the figures, and write them into the page where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--docs", action="store_true")
    args = parser.parse_args(arguments)
    block = block_of(args.table)
    print(block)
    if args.docs:
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {MARKER: block}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
