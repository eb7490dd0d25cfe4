"""The tables of the page: the board itself, every set by itself, and what could not be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from sparingly.bench.leaderboard.columns import COLUMNS, Column
from sparingly.bench.replay import FAILED, NOT_APPLICABLE
from sparingly.bench.summary.board import Board, BoardRow
from sparingly.bench.summary.ranges import Range
from sparingly.bench.summary.results import RANDOM, Results

_STATUS = {NOT_APPLICABLE: "does not apply", FAILED: "failed"}


def board_table(found: Board, numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    """Return the board as a table whose heads are buttons that sort it."""
    groups = [(name, len([*columns])) for name, columns in groupby(COLUMNS, key=lambda column: column.group)]
    over = "".join(
        f'<th scope="colgroup" colspan="{width}" class="group">{escape(name)}</th>' for name, width in groups
    )
    heads = [_head("entry", "name", "none", "ascending"), _head("sets", "", "none", "descending")]
    starts = _starts()
    for column in COLUMNS:
        sort = "ascending" if column.key == "parity" else "none"
        first = "ascending" if column.lower else "descending"
        heads.append(_head(column.head, "group" if column.key in starts else "", sort, first, column.words))
    rows = "\n".join(_row(row, numbers, drawn) for row in found.rows)
    return (
        '<div class="wide" role="region" aria-label="Leaderboard" tabindex="0"><table id="board">'
        f'<thead><tr><td class="name"></td><td></td>{over}</tr><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _starts() -> set[str]:
    """Return the first column of every group."""
    return {next(columns).key for _, columns in groupby(COLUMNS, key=lambda column: column.group)}


def _head(text: str, kind: str, sort: str, first: str, words: str = "") -> str:
    title = f' title="{escape(words)}"' if words else ""
    return (
        f'<th scope="col" class="sorts {kind}" aria-sort="{sort}" data-first="{first}">'
        f'<button type="button"{title}>{escape(text)}</button></th>'
    )


def _row(row: BoardRow, numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    entry = row.info.entry
    name = escape(entry)
    if entry == RANDOM:
        shown = name
    else:
        checked = " checked" if entry in drawn else ""
        spoken = escape(f"Draw the curves of {entry}")
        box = f'<input type="checkbox" value="{numbers[entry]}" aria-label="{spoken}"{checked}>'
        shown = f"<label>{box}<span>{name}</span></label>"
    starts = _starts()
    cells = "".join(_cell(column, row, column.key in starts) for column in COLUMNS)
    kind = ' class="baseline"' if entry == RANDOM else ""
    return (
        f'<tr{kind}><th scope="row" data-value="{name}">{shown}</th>'
        f'<td data-value="{row.sets}">{row.sets}</td>{cells}</tr>'
    )


def _cell(column: Column, row: BoardRow, starts: bool) -> str:
    value = column.figure(row).value
    below = (
        "" if row.info.entry == RANDOM else _small(column.interval(row)) + _small(column.note(row), "where")
    )
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
