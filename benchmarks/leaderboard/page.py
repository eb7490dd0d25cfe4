"""The leaderboard as one page of HTML that needs nothing else, with its Markdown and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import IO

from benchmarks.leaderboard.board import Board, board
from benchmarks.leaderboard.columns import ALL_COLUMNS
from benchmarks.leaderboard.curves import COLOURS, picture
from benchmarks.leaderboard.markdown import block, csv_text
from benchmarks.leaderboard.origin import Origin, today
from benchmarks.leaderboard.results import RANDOM, Results, read_results
from benchmarks.leaderboard.tables import board_table, matrix, other_tables, refusals
from sparingly.data.files import write_atomically

PAGE, MARKDOWN, CSV = "leaderboard.html", "leaderboard.md", "leaderboard.csv"
_DRAWN = 6


def write(
    table: Path, folder: Path, *, grid_text: str, commit: str | None = None, date: str | None = None
) -> list[Path]:
    """Write the leaderboard of a table of replays into a folder: a page, its Markdown and its CSV.

    Args:
        table: The Parquet table that ``sparingly bench`` wrote.
        folder: Where the files go; it is made where it does not exist.
        grid_text: The grid that the table was made with.
        commit: The commit that it was made from, if it is known.
        date: The day, as 2026-01-31; today unless given.
    """
    results = read_results(Path(table))
    found = board(results)
    origin = Origin(today() if date is None else date, commit, grid_text)
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


def page(results: Results, found: Board, origin: Origin) -> str:
    """Return the page as one text: the table, the pictures of all sets, what it was made from."""
    numbers = {row.info.entry: place for place, row in enumerate(found.rows)}
    drawn = [row.info.entry for row in found.rows if row.info.entry != RANDOM and row.sets][:_DRAWN]
    body = [
        "<main>",
        "<h1>Leaderboard</h1>",
        f"<p>{escape(_LEAD)}</p>",
        f'<p class="soft">{escape(origin.sentence(results))}</p>',
        _CONTROLS.format(count=len(found.rows)),
        board_table(found, numbers, drawn),
        other_tables(found),
        _legend_of_columns(),
        f"<h2>Accuracy over the budgets</h2><p>{escape(_CURVES)}</p>",
        _legend(numbers, drawn),
        *_pictures(results, numbers, drawn),
        matrix(results, found),
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
