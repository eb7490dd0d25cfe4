"""The leaderboard as a block of Markdown for the documentation, and as CSV for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence

from benchmarks.leaderboard.board import Board, BoardRow
from benchmarks.leaderboard.column import Column
from benchmarks.leaderboard.columns import (
    ALL_COLUMNS,
    COLUMNS,
    OTHER_COLUMNS,
    OTHERS_TITLE,
    STOP_COLUMNS,
    STOPS_TITLE,
)
from benchmarks.leaderboard.origin import Origin
from benchmarks.leaderboard.ranges import Range
from benchmarks.leaderboard.results import Results
from benchmarks.papers.markdown import WORSE, bold, folded, table
from sparingly.show.report.markup import cell, code

# The part of a page of the documentation that the block fills.
MARKER = "leaderboard"
# Shorter heads than the page's: Markdown has no groups of columns.
_HEADS = {
    "gain": "points",
    "parity": "labels, %",
    "parity_strong": "strong",
    "parity_worst": "worst",
    "parity_same": "same estimate",
    "error": "error",
    "error_strong": "strong",
    "error_worst": "worst",
    "coverage_lowest": "lowest",
    "p": "p",
    "width": "width",
}


def block(results: Results, found: Board, origin: Origin) -> str:
    """Return the tables with what they were made from, as Markdown."""
    apart = [name for name, info in results.sets.items() if not info.counts]
    notes = [origin.sentence(results)]
    if apart:
        notes.append(f"Sets that do not count: {', '.join(map(code, apart))}.")
    parts = [_table(COLUMNS, found.rows), " ".join(notes)]
    parts.append(folded(OTHERS_TITLE, _table(OTHER_COLUMNS, found.rows)))
    if stopping := found.stopping:
        parts.append(folded(STOPS_TITLE, _table(STOP_COLUMNS, stopping)))
    parts.append(folded("The grid", f"```toml\n{origin.grid.strip()}\n```"))
    return "\n\n".join(parts)


def _table(columns: Sequence[Column], rows: Sequence[BoardRow]) -> str:
    head = ["entry", "sets", *(_HEADS.get(column.key, column.head) for column in columns)]
    lines = [
        [cell(code(row.info.entry)), str(row.sets), *(_figure(column, row) for column in columns)]
        for row in rows
    ]
    return table(head, lines)


def _figure(column: Column, row: BoardRow) -> str:
    text, verdict = column.text(row), column.verdict(row)
    interval = column.interval(row)
    marked = f"{text} {WORSE}" if verdict == "worse" else bold(text, verdict == "better")
    return f"{marked} ({interval})" if interval else marked


def csv_text(found: Board) -> str:
    """Return one line per entry with every figure and its interval; what is not known is empty."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    figures = [f"{name}{end}" for name, _ in _figures() for end in ("", "_low", "_high")]
    about = ["entry", "method", "estimator", "p_values", "rounds", "stop", "kind"]
    about += ["sets", "same_entry"]
    rest = ["parity_worst_set", "error_worst_set", "coverage_lowest_set"]
    rest += ["extrapolated", "better_on", "tested_on"]
    writer.writerow([*about, *figures, *rest])
    for row in found.rows:
        writer.writerow([_plain(value) for value in _values(row)])
    return target.getvalue()


def _figures() -> Iterator[tuple[str, Callable[[BoardRow], Range]]]:
    """Yield every figure of the CSV with its name; after one that is not set beside random, how it is."""
    for column in ALL_COLUMNS:
        yield column.key, column.figure
        if column.beside is not None:
            yield f"{column.key}_above_random", column.beside


def _values(row: BoardRow) -> list[object]:
    info, test = row.info, row.test
    ranges = [figure(row) for _, figure in _figures()]
    return [
        *(info.entry, info.method, info.estimator, info.p_values, info.rounds, info.stop, info.kind),
        *(row.sets, row.same_entry),
        *(value for one in ranges for value in (one.value, one.low, one.high)),
        *(row.parity.worst_set, row.error.worst_set, "" if row.trust.lowest is None else row.trust.lowest[0]),
        row.extrapolated,
        *((None, None) if test is None else (test.better, test.sets)),
    ]


def _plain(value: object) -> object:
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
