"""The leaderboard as a block of Markdown for the documentation, and as CSV for other programs."""

from __future__ import annotations

import csv
import io

from sparingly.bench.leaderboard.columns import COLUMNS, Column
from sparingly.bench.leaderboard.origin import Origin
from sparingly.bench.papers.markdown import WORSE, bold, folded, table
from sparingly.bench.summary.board import Board, BoardRow
from sparingly.bench.summary.results import RANDOM, Results
from sparingly.show.report.markup import cell, code

# The part of a page of the documentation that the block fills.
MARKER = "leaderboard"
_HEADS = {
    "gain": "points",
    "parity": "labels, %",
    "parity_strong": "strong",
    "parity_worst": "worst",
    "parity_same": "same estimate",
    "error": "error",
    "error_strong": "strong",
    "error_worst": "worst",
    "coverage": "coverage, %",
    "wrong_sign": "wrong signs, %",
    "first": "first, %",
}


def block(results: Results, found: Board, origin: Origin) -> str:
    """Return the table with what it was made from, as Markdown."""
    columns = [column for column in COLUMNS if column.key in _HEADS]
    head = ["entry", "sets", *(_HEADS[column.key] for column in columns)]
    rows = [
        [cell(code(row.info.entry)), str(row.sets), *(_figure(column, row) for column in columns)]
        for row in found.rows
    ]
    apart = [name for name, info in results.sets.items() if not info.counts]
    notes = [origin.sentence(results)]
    if apart:
        notes.append(f"Sets that do not count: {', '.join(map(code, apart))}.")
    grid = folded("The grid", f"```toml\n{origin.grid.strip()}\n```")
    return "\n\n".join([table(head, rows), " ".join(notes), grid])


def _figure(column: Column, row: BoardRow) -> str:
    text, verdict = column.text(row), column.verdict(row)
    interval = column.interval(row)
    marked = f"{text} {WORSE}" if verdict == "worse" else bold(text, verdict == "better")
    return f"{marked} ({interval})" if interval and row.info.entry != RANDOM else marked


def csv_text(found: Board) -> str:
    """Return one line per entry with every figure and its interval; what is not known is empty."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    figures = [f"{column.key}{end}" for column in COLUMNS for end in ("", "_low", "_high")]
    about = ["entry", "method", "estimator", "p_values", "rounds", "stop", "kind"]
    about += ["sets", "same_entry"]
    rest = ["parity_worst_set", "error_worst_set", "extrapolated", "width", "bias", "better_on", "tested_on"]
    writer.writerow([*about, *figures, *rest])
    for row in found.rows:
        writer.writerow([_plain(value) for value in _values(row)])
    return target.getvalue()


def _values(row: BoardRow) -> list[object]:
    info, test = row.info, row.test
    ranges = [column.figure(row) for column in COLUMNS]
    return [
        *(info.entry, info.method, info.estimator, info.p_values, info.rounds, info.stop, info.kind),
        *(row.sets, row.same_entry),
        *(value for one in ranges for value in (one.value, one.low, one.high)),
        *(row.parity.worst_set, row.error.worst_set, row.extrapolated, row.trust.width, row.trust.bias.value),
        *((None, None) if test is None else (test.better, test.sets)),
    ]


def _plain(value: object) -> object:
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
