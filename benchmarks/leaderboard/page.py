"""The leaderboard as one page of HTML that needs nothing else, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import IO

import numpy as np

from benchmarks.leaderboard.board import Board, BoardRow, board
from benchmarks.leaderboard.columns import (
    ALL_COLUMNS,
    COLUMNS,
    OTHER_COLUMNS,
    OTHERS_TITLE,
    STOP_COLUMNS,
    STOPS_TITLE,
    Column,
)
from benchmarks.leaderboard.ranges import Range
from benchmarks.leaderboard.results import RANDOM, SPA, Results, SetInfo, read_results
from benchmarks.pages import WORSE, bold, folded, table
from sparingly._version import __version__
from sparingly.base.arrays import Floats
from sparingly.base.format import counted
from sparingly.bench.replay import FAILED, NOT_APPLICABLE
from sparingly.data.files import write_atomically
from sparingly.show.report.markup import cell, code

# --- Markdown and CSV ------------------------------------------------------------------------------------


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


def block(results: Results, board: Board, origin: Origin) -> str:
    """Return the tables with what they were made from, as Markdown."""
    apart = [name for name, info in results.sets.items() if not info.counts]
    notes = [origin.sentence(results)]
    if apart:
        notes.append(f"Sets that do not count: {', '.join(map(code, apart))}.")
    parts = [_table(COLUMNS, board.rows), " ".join(notes)]
    parts.append(folded(OTHERS_TITLE, _table(OTHER_COLUMNS, board.rows)))
    if stopping := board.stopping:
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


def csv_text(board: Board) -> str:
    """Return one line per entry with every figure and its interval; what is not known is empty."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    figures = [f"{name}{end}" for name, _ in _figures() for end in ("", "_low", "_high")]
    about = ["entry", "method", "estimator", "p_values", "rounds", "stop", "kind"]
    about += ["sets", "same_entry"]
    rest = ["parity_worst_set", "error_worst_set", "coverage_lowest_set"]
    rest += ["extrapolated", "better_on", "tested_on"]
    writer.writerow([*about, *figures, *rest])
    for row in board.rows:
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


# --- the leaderboard as one page of HTML that needs nothing else, with its Markdown and CSV --------------


# --- the tables of the page ------------------------------------------------------------------------------


_STATUS = {NOT_APPLICABLE: "does not apply", FAILED: "failed"}


def board_table(board: Board, numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    """Return the board as a table whose heads are buttons that sort it."""
    names = {row.info.entry: _named_box(row.info.entry, numbers, drawn) for row in board.rows}
    return _sortable("board", "Leaderboard", COLUMNS, board.rows, names)


def other_tables(board: Board) -> str:
    """Return what else is measured, folded away: of all entries, and of those that a rule may end."""
    parts = []
    for key, title, columns, rows in (
        ("others", OTHERS_TITLE, OTHER_COLUMNS, board.rows),
        ("stops", STOPS_TITLE, STOP_COLUMNS, board.stopping),
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


def matrix(results: Results, board: Board) -> str:
    """Return the labels that every entry needs on every set, in percent of random's."""
    names = sorted(results.sets, key=lambda name: (not results.sets[name].counts, name))
    heads = "".join(f'<th scope="col"><span>{escape(_named(results, name))}</span></th>' for name in names)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row.info.entry)}</th>'
        + "".join(_share(board.by_set.get((name, row.info.entry))) for name in names)
        + "</tr>"
        for row in board.rows
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


# --- curves of agreement, one picture for every set ------------------------------------------------------


_WIDTH, _HEIGHT = 260.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 30.0, 8.0, 6.0, 20.0
_BAND = (0.05, 0.95)
_PAD = 0.004
_TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_TICKS = 5
COLOURS = 7


class _Axes:
    """Where shares and accuracies lie in the picture."""

    def __init__(self, shares: Floats, low: float) -> None:
        self.first, self.last = float(shares.min()), float(shares.max())
        self.low, self.high = max(0.0, low - _PAD), 1.0

    def x(self, share: float) -> float:
        inside = _WIDTH - _LEFT - _RIGHT
        span = self.last - self.first
        return inside * ((share - self.first) / span if span > 0.0 else 0.5)

    def y(self, value: float) -> float:
        return (_HEIGHT - _TOP - _BOTTOM) * (self.high - value) / max(self.high - self.low, 1e-9)

    def points(self, shares: Iterable[float], values: Iterable[float]) -> str:
        places = zip(shares, values, strict=True)
        return " ".join(
            f"{self.x(share):.1f},{self.y(value):.1f}" for share, value in places if value == value
        )

    def ticks(self) -> list[float]:
        """Return round accuracies, at most five."""
        span = self.high - self.low
        step = next((tick for tick in _TICKS if span / tick <= _MOST_TICKS), _TICKS[-1])
        first = int(np.ceil(round(self.low / step, 6)))
        return [count * step for count in range(first, round(self.high / step) + 1)]


def picture(results: Results, name: str, numbers: Mapping[str, int], shown: Sequence[str]) -> str:
    """Return the picture of a set as a figure of HTML.

    Every entry's line carries its number; those that are not ``shown`` are hidden until they are asked for.
    The scale fits random's band and the entries that are shown.
    """
    curves = {entry: found for entry in numbers if (found := _curve(results, name, entry)) is not None}
    visible = [values for entry, (_, values) in curves.items() if entry in (*shown, RANDOM)]
    band = _band_of(results, name)
    lowest = [float(np.nanmin(values)) for values in visible] + ([] if band is None else [float(band.min())])
    shares = np.concatenate([found[0] for found in curves.values()]) if curves else np.array([0.0, 1.0])
    axes = _Axes(shares, min(lowest, default=0.5))
    parts = [] if band is None else [_band(axes, curves[RANDOM][0], band)]
    for entry, (places, values) in curves.items():
        points = axes.points(places, values)
        if entry == RANDOM:
            parts.append(f'<polyline class="random" points="{points}"/>')
        else:
            kind = line_kind(entry, numbers[entry], shown)
            parts.append(f'<polyline {kind} points="{points}"/>')
    inside = (
        f'<svg x="{_LEFT:g}" y="{_TOP:g}" width="{_WIDTH - _LEFT - _RIGHT:g}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM:g}">{"".join(parts)}</svg>'
    )
    spoken = escape(_spoken(name, curves, shown))
    start = f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{spoken}">'
    return f"<figure>{_caption(results.sets[name])}{start}{_frame(axes)}{inside}</svg></figure>"


def _curve(results: Results, name: str, entry: str) -> tuple[Floats, Floats] | None:
    """Return the budgets and the mean accuracies of an entry on a set, None where it has none."""
    runs = results.runs.get((name, entry))
    if runs is None or np.isnan(runs.curve(SPA)).all():
        return None
    return runs.shares, runs.curve(SPA)


def _band_of(results: Results, name: str) -> Floats | None:
    """Return between which accuracies 90 % of random's runs lie, at every budget."""
    runs = results.runs.get((name, RANDOM))
    if runs is None:
        return None
    whole = runs.whole(SPA)
    whole = whole[~np.isnan(whole).any(axis=1)]
    return np.quantile(whole, _BAND, axis=0) if len(whole) else None


def _band(axes: _Axes, shares: Floats, band: Floats) -> str:
    there = axes.points(shares, band[0]).split()
    back = axes.points(shares, band[1]).split()[::-1]
    return f'<polygon class="band" points="{" ".join([*there, *back])}"/>'


def line_kind(entry: str, number: int, shown: Sequence[str]) -> str:
    """Return the attributes of an entry's line: its number, and its colour if it is shown at first."""
    if entry in shown:
        return f'class="line c{shown.index(entry) % COLOURS}" data-entry="{number}"'
    return f'class="line" data-entry="{number}" hidden'


def _frame(axes: _Axes) -> str:
    right = _WIDTH - _RIGHT
    lines = []
    for value in axes.ticks():
        y = _TOP + axes.y(value)
        lines.append(f'<line class="grid" x1="{_LEFT:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{_LEFT - 4:g}" y="{y + 3:.1f}" text-anchor="end">{_percent(value)}</text>')
    for share, anchor in ((axes.first, "start"), (axes.last, "end")):
        x = _LEFT + axes.x(share)
        lines.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 6:g}" text-anchor="{anchor}">{100 * share:.0f} %</text>'
        )
    return "".join(lines)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}".removesuffix(".0")


def _caption(info: SetInfo) -> str:
    mark = "strong" if info.strong else "weak"
    metric = "" if info.metric is None else f", {info.metric}"
    about = f"{info.items} × {info.models}, {info.truth}{metric}"
    return (
        f'<figcaption><b>{escape(info.set)}</b> <span class="mark {mark}">{mark}</span>'
        f"<small>{escape(about)}</small></figcaption>"
    )


def _spoken(name: str, curves: Mapping[str, tuple[Floats, Floats]], shown: Sequence[str]) -> str:
    told = [
        f"{entry} {100 * float(np.nanmean(curves[entry][1])):.1f}"
        for entry in (RANDOM, *shown)
        if entry in curves
    ]
    return f"Accuracy on {name}, mean over the budgets: {', '.join(told)}"


# --- where a leaderboard comes from ----------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """When a leaderboard was made, from what and with which grid.

    Attributes:
        date: The day, as 2026-01-31.
        commit: The commit of the code, if it is known.
        grid: The grid as it was written.
        note: What else a reader of the figures must know.
    """

    date: str
    commit: str | None
    grid: str
    note: str = ""

    def sentence(self, results: Results) -> str:
        """Return what was run, when and by which version."""
        counting = len(results.counting())
        others = len(results.sets) - counting
        apart = f" and {others} more that {'do' if others > 1 else 'does'} not count" if others else ""
        commit = f", commit {self.commit}" if self.commit else ""
        return (
            f"Made on {self.date} by sparingly {__version__}{commit}: "
            f"{counted(len(results.entries), 'entry', 'entries')} on {counted(counting, 'set')}{apart}."
            f"{self.note and ' '}{self.note}"
        )


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()


# --- the leaderboard as one page of HTML that needs nothing else, with its Markdown and CSV --------------


PAGE, MARKDOWN, CSV = "leaderboard.html", "leaderboard.md", "leaderboard.csv"
_DRAWN = 6


def write(
    table: Path,
    folder: Path,
    *,
    grid_text: str,
    commit: str | None = None,
    date: str | None = None,
    note: str = "",
) -> list[Path]:
    """Write the leaderboard of a table of replays into a folder: a page, its Markdown and its CSV.

    Args:
        table: The Parquet table that ``sparingly bench`` wrote.
        folder: Where the files go; it is made where it does not exist.
        grid_text: The grid that the table was made with.
        commit: The commit that it was made from, if it is known.
        date: The day, as 2026-01-31; today unless given.
        note: What else a reader of the figures must know.
    """
    results = read_results(Path(table))
    found = board(results)
    origin = Origin(today() if date is None else date, commit, grid_text, note)
    texts = {
        PAGE: page(results, found, origin),
        MARKDOWN: block(results, found, origin) + "\n",
        CSV: csv_text(found),
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [_written(Path(folder) / name, text) for name, text in texts.items()]


def _written(path: Path, text: str) -> Path:
    def put(file: IO[bytes]) -> None:
        file.write(text.encode("utf-8", "backslashreplace"))

    write_atomically(path, put)
    return path


def page(results: Results, board: Board, origin: Origin) -> str:
    """Return the page as one text: the table, the pictures of all sets, what it was made from."""
    numbers = {row.info.entry: place for place, row in enumerate(board.rows)}
    drawn = [row.info.entry for row in board.rows if row.info.entry != RANDOM and row.sets][:_DRAWN]
    body = [
        "<main>",
        "<h1>Leaderboard</h1>",
        f"<p>{escape(_LEAD)}</p>",
        f'<p class="soft">{escape(origin.sentence(results))}</p>',
        _CONTROLS.format(count=len(board.rows)),
        board_table(board, numbers, drawn),
        other_tables(board),
        _legend_of_columns(),
        f"<h2>Accuracy over the budgets</h2><p>{escape(_CURVES)}</p>",
        _legend(numbers, drawn),
        *_pictures(results, numbers, drawn),
        matrix(results, board),
        refusals(results),
        f"<h2>The grid</h2><pre>{escape(origin.grid)}</pre>",
        "</main>",
    ]
    return _FRAME.format(style=_part("page.css"), body="\n".join(body), script=_part("page.js"))


def _pictures(results: Results, numbers: Mapping[str, int], drawn: Sequence[str]) -> list[str]:
    parts = []
    for counts in (True, False):
        names = [name for name, info in results.sets.items() if info.counts is counts]
        # Sets with a strong metric stand first.
        names.sort(key=lambda name: (not results.sets[name].strong, name))
        if names and not counts:
            parts.append(f"<h2>Shown, and not counted</h2><p>{escape(_APART)}</p>")
        if names:
            figures = "\n".join(picture(results, name, numbers, drawn) for name in names)
            parts.append(f'<div class="figures">\n{figures}\n</div>')
    return parts


def _legend(numbers: Mapping[str, int], drawn: Sequence[str]) -> str:
    def item(entry: str, attributes: str, line: str) -> str:
        sample = f'<svg viewBox="0 0 28 10" aria-hidden="true">{line}</svg>'
        return f"<li{attributes}>{sample}{escape(entry)}</li>"

    band = '<rect class="band" width="28" height="10"/><polyline class="random" points="0,5 28,5"/>'
    items = [item("random: mean, and 5–95 % of single draws", "", band)]
    for entry, number in numbers.items():
        if entry != RANDOM:
            colour = f" c{drawn.index(entry) % COLOURS}" if entry in drawn else ""
            hidden = "" if entry in drawn else " hidden"
            line = f'<polyline class="line{colour}" points="0,5 28,5"/>'
            items.append(item(entry, f' data-entry="{number}"{hidden}', line))
    return f'<ul class="legend">{"".join(items)}</ul>'


def _legend_of_columns() -> str:
    rows = [
        f"<dt>{escape(column.group)}: {escape(column.head)}</dt><dd>{escape(column.words)}</dd>"
        for column in ALL_COLUMNS
    ]
    return f"<details><summary>What the columns say</summary><dl>{''.join(rows)}</dl></details>"


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


_LEAD = (
    "Every method on every fully judged set, replayed: which outputs it would have had judged, and how near "
    "that comes to judging everything. Means are over the sets that count; small figures are 95 % intervals. "
    "Bold and green: better than random selection with its whole interval. ▼: worse. The heads sort the "
    "table; a tick at an entry draws its curves below."
)
_CURVES = (
    "Soft pairwise accuracy against the share of the outputs that are judged, in percent. “strong” marks the "
    "sets whose one metric is a strong one; items × models, the truth and the metric stand below the name."
)
_APART = "Sets with fewer than 60 items or 5 models are in no mean above."
_CONTROLS = (
    '<div class="controls" id="controls" hidden><label>Filter entries '
    '<input id="filter" type="search" autocomplete="off" placeholder="such as greg or metric_"></label>'
    '<span id="count" class="soft" role="status">{count} entries</span></div>'
)
_FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Leaderboard of sparingly</title>
<style>
{style}</style>
</head>
<body>
{body}
<script>
{script}</script>
</body>
</html>
"""
