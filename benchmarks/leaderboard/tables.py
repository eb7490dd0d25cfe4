"""The tables of the page: the board, other measures, every set by itself, and what could not be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from benchmarks.leaderboard.board import Board, BoardRow
from benchmarks.leaderboard.column import Column
from benchmarks.leaderboard.columns import (
    COLUMNS,
    OTHER_COLUMNS,
    OTHERS_TITLE,
    STOP_COLUMNS,
    STOPS_TITLE,
)
from benchmarks.leaderboard.ranges import Range
from benchmarks.leaderboard.results import RANDOM, Results
from sparingly.bench.replay import FAILED, NOT_APPLICABLE

_STATUS = {NOT_APPLICABLE: "does not apply", FAILED: "failed"}


def board_table(found: Board, numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    """Return the board as a table whose heads are buttons that sort it."""
    names = {row.info.entry: _named_box(row.info.entry, numbers, drawn) for row in found.rows}
    return _sortable("board", "Leaderboard", COLUMNS, found.rows, names)


def other_tables(found: Board) -> str:
    """Return what else is measured, folded away: of all entries, and of those that a rule may end."""
    parts = []
    for key, title, columns, rows in (
        ("others", OTHERS_TITLE, OTHER_COLUMNS, found.rows),
        ("stops", STOPS_TITLE, STOP_COLUMNS, found.stopping),
    ):
        if rows:
            names = {row.info.entry: escape(row.info.entry) for row in rows}
            inside = _sortable(key, title, columns, rows, names)
            parts.append(f"<details><summary>{title}</summary>{inside}</details>")
    return "\n".join(parts)


def _sortable(
    key: str, title: str, columns: Sequence[Column], rows: Sequence[BoardRow], names: Mapping[str, str]
) -> str:
    """Return a table of some columns; the rows stand as those of the board."""
    groups = [(name, len([*some])) for name, some in groupby(columns, key=lambda column: column.group)]
    over = "".join(
        f'<th scope="colgroup" colspan="{width}" class="group">{escape(name)}</th>' for name, width in groups
    )
    heads = [_head("entry", "name", "none", "ascending"), _head("sets", "", "none", "descending")]
    starts = _starts(columns)
    for column in columns:
        sort = "ascending" if column.key == "parity" else "none"
        first = "ascending" if column.lower else "descending"
        heads.append(_head(column.head, "group" if column.key in starts else "", sort, first, column.words))
    lines = "\n".join(_row(row, columns, names[row.info.entry]) for row in rows)
    return (
        f'<div class="wide" role="region" aria-label="{title}" tabindex="0"><table id="{key}">'
        f'<thead><tr><td class="name"></td><td></td>{over}</tr><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


def _starts(columns: Sequence[Column]) -> set[str]:
    """Return the first column of every group."""
    return {next(some).key for _, some in groupby(columns, key=lambda column: column.group)}


def _head(text: str, kind: str, sort: str, first: str, words: str = "") -> str:
    title = f' title="{escape(words)}"' if words else ""
    return (
        f'<th scope="col" class="sorts {kind}" aria-sort="{sort}" data-first="{first}">'
        f'<button type="button"{title}>{escape(text)}</button></th>'
    )


def _named_box(entry: str, numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    """Return the name of an entry with the box that draws its curves."""
    if entry == RANDOM:
        return escape(entry)
    checked = " checked" if entry in drawn else ""
    spoken = escape(f"Draw the curves of {entry}")
    box = f'<input type="checkbox" value="{numbers[entry]}" aria-label="{spoken}"{checked}>'
    return f"<label>{box}<span>{escape(entry)}</span></label>"


def _row(row: BoardRow, columns: Sequence[Column], shown: str) -> str:
    entry, starts = row.info.entry, _starts(columns)
    cells = "".join(_cell(column, row, column.key in starts) for column in columns)
    kind = ' class="baseline"' if entry == RANDOM else ""
    return (
        f'<tr{kind}><th scope="row" data-value="{escape(entry)}">{shown}</th>'
        f'<td data-value="{row.sets}">{row.sets}</td>{cells}</tr>'
    )


def _cell(column: Column, row: BoardRow, starts: bool) -> str:
    value = column.figure(row).value
    # Random's worst set is any set: it is 1 on all.
    note = "" if row.info.entry == RANDOM else column.note(row)
    below = _small(column.interval(row)) + _small(note, "where")
    verdict = column.verdict(row)
    shown = (
        f'<span class="{verdict}">{escape(column.text(row))}</span>' if verdict else escape(column.text(row))
    )
    kept = "" if value != value else f"{value:.6g}"
    kind = ' class="group"' if starts else ""
    return f'<td data-value="{kept}"{kind}>{shown}{below}</td>'


def _small(text: str, kind: str = "range") -> str:
    # Names of sets are long: a line may end after an underscore.
    return f'<small class="{kind}">{escape(text).replace("_", "_<wbr>")}</small>' if text else ""


def matrix(results: Results, found: Board) -> str:
    """Return the labels that every entry needs on every set, in percent of random's."""
    names = sorted(results.sets, key=lambda name: (not results.sets[name].counts, name))
    heads = "".join(f'<th scope="col"><span>{escape(_named(results, name))}</span></th>' for name in names)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row.info.entry)}</th>'
        + "".join(_share(found.by_set.get((name, row.info.entry))) for name in names)
        + "</tr>"
        for row in found.rows
    )
    return (
        "<h2>Every set by itself</h2>"
        "<p>Labels for random’s accuracy in percent of random’s, against plain random. "
        "In brackets: sets that do not count.</p>"
        '<div class="wide" role="region" aria-label="Every set by itself" tabindex="0"><table class="matrix">'
        f'<thead><tr><th scope="col" class="name">entry</th>{heads}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _named(results: Results, name: str) -> str:
    return name if results.sets[name].counts else f"({name})"


def _share(found: Range | None) -> str:
    if found is None or found.value != found.value:
        return "<td>–</td>"
    text = f"{100 * found.value:.0f}"
    if found.high < 1.0 or found.low > 1.0:
        text = f'<span class="{"better" if found.high < 1.0 else "worse"}">{text}</span>'
    interval = f' title="{100 * found.low:.0f} to {100 * found.high:.0f}"' if found.low < found.high else ""
    return f"<td{interval}>{text}</td>"


def refusals(results: Results) -> str:
    """Return what an entry could not be run on, and why."""
    if not results.refusals:
        return ""
    by_reason: dict[tuple[str, str, str], list[str]] = {}
    for one in results.refusals:
        by_reason.setdefault((one.entry, one.status, one.reason), []).append(one.set)
    items = [
        f"<li><b>{escape(entry)}</b> {_STATUS.get(status, status)} "
        f"on {escape(', '.join(names))}: {escape(reason)}</li>"
        for (entry, status, reason), names in sorted(by_reason.items())
    ]
    inside = f"<summary>{len(items)} cases</summary><ul>{''.join(items)}</ul>"
    return f"<h2>What was not run</h2><details>{inside}</details>"
