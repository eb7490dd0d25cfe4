"""How everything is printed: lines, notes, one kind of table, and curves drawn with characters."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sparingly.base.errors import one_line
from sparingly.base.format import number_text as number
from sparingly.base.format import share_text as percent
from sparingly.base.format import unbroken
from sparingly.base.summary import Cell, IntervalCell, Summary, drawn_with_letters

__all__ = [
    "PipedConsole",
    "Series",
    "chart",
    "fixed",
    "line",
    "make_console",
    "notes",
    "number",
    "percent",
    "show_path",
    "show_summary",
    "show_table",
    "wrapped",
]

_PIPE_WIDTH = 120
# The answer, its picture and what to do next take so many lines at most.
_FIRST_LINES = 15
# Room for drawn intervals, in letters.
_NARROWEST, _WIDEST = 9, 32
# Cells of words that are longer are sentences, which may be broken.
_LONGEST_NAME = 24
_GAP = "  "
_DATA = re.compile(r"(?<= )DATA(?= |$)")


class PipedConsole(Console):
    """A console that tells its caller when the reader of a pipe has gone, instead of leaving with code 1."""

    def on_broken_pipe(self) -> None:
        """Raise the error for the command line to settle."""
        raise BrokenPipeError


def make_console() -> Console:
    """Return a console on standard output: as wide as the terminal, or wide enough for tables elsewhere."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return PipedConsole(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, title: str = "", numbers: int = 0
) -> None:
    """Print a table whose last ``numbers`` columns are aligned to the right."""
    printed = ([title] if title else []) + _table_lines(columns, rows, numbers)
    sys.stdout.write("".join(f"{text}\n" for text in printed))


def _table_lines(columns: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: int) -> list[str]:
    """Return the lines of a table.

    It fits the terminal: heads and sentences are broken between words, names never; intervals are drawn in
    the room that is left, if there is enough.
    """
    console, cells = make_console(), [list(row) for row in rows]
    places = range(len(columns))
    has_bar = [any(isinstance(row[place], IntervalCell) for row in cells) for place in places]
    texts = [[_plain_text(str(row[place])).plain for row in cells] for place in places]
    widths = [0 if has_bar[place] else _natural(texts[place], columns[place]) for place in places]
    fixed_room = sum(widths) + len(_GAP) * sum(not is_drawn for is_drawn in has_bar) + 1
    for place in places:
        if has_bar[place] and (room := min(console.width - fixed_room, _WIDEST)) >= _NARROWEST:
            column = [row[place] for row in cells if isinstance(row[place], IntervalCell)]
            marks = iter(
                drawn_with_letters([cell for cell in column if isinstance(cell, IntervalCell)], room)
            )
            texts[place] = [next(marks) if isinstance(row[place], IntervalCell) else "" for row in cells]
            widths[place] = room
    visible = [place for place in places if widths[place]]
    _fit(widths, visible, texts, columns, console.width - 1 - len(_GAP) * (len(visible) - 1))
    right = {place for place in visible if place >= len(columns) - numbers and not has_bar[place]}

    def put(row: Sequence[Sequence[str]]) -> Iterator[str]:
        """Yield the lines of a row of cells, each of which has lines of its own."""
        for at in range(max(map(len, row))):
            parts = []
            for place, lines in zip(visible, row, strict=True):
                text = lines[at] if at < len(lines) else ""
                space = " " * (widths[place] - cell_len(text))
                parts.append(f"{space}{text}" if place in right else f"{text}{space}")
            yield f" {_GAP.join(parts)}".rstrip()

    lines: list[str] = []
    if any(columns[place] for place in visible):
        heads = [_broken(columns[place], widths[place]) for place in visible]
        highest = max(map(len, heads))
        lines += put([[""] * (highest - len(head)) + head for head in heads])
        lines.append(f" {'─' * (sum(widths) + len(_GAP) * (len(visible) - 1))}")
    for place in range(len(cells)):
        lines += put([_broken(texts[column][place], widths[column]) for column in visible])
    return lines


def _natural(column: Sequence[str], head: str) -> int:
    """Return the width of a column whose head may take two lines."""
    words = max(map(cell_len, head.split()), default=0)
    in_two_lines = next(width for width in range(words, len(head) + 1) if len(_broken(head, width)) < 3)
    longest = max((cell_len(line) for cell in column for line in cell.split("\n")), default=0)
    return max(in_two_lines, longest)


def _fit(
    widths: list[int], visible: Sequence[int], texts: Sequence[Sequence[str]], heads: Sequence[str], room: int
) -> None:
    """Narrow columns of sentences until the table fits; then give heads what room there is."""
    smallest = {}
    for place in visible:
        words = [word for cell in texts[place] for word in cell.split()]
        is_text = any(" " in cell and len(cell) > _LONGEST_NAME for cell in texts[place])
        smallest[place] = (
            max(map(cell_len, [*words, *heads[place].split(), ""])) if is_text else widths[place]
        )
    while sum(widths) > room and (wide := [place for place in visible if widths[place] > smallest[place]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    for place in sorted(visible, key=lambda place: len(heads[place])):
        if 0 < (longer := cell_len(heads[place]) - widths[place]) <= room - sum(widths):
            widths[place] += longer


def _broken(text: str, width: int) -> list[str]:
    """Return a text as lines, broken between words; what does not fit stays whole."""
    if cell_len(text) <= width and "\n" not in text:
        return [text]
    wrapper = textwrap.TextWrapper(max(width, 1), break_long_words=False, break_on_hyphens=False)
    lines = [line for part in unbroken(text).split("\n") for line in wrapper.wrap(part) or [""]]
    return [line.replace("\u00a0", " ") for line in lines]


def show_summary(
    summary: Summary,
    typed: str = "DATA",
    *,
    verbose: bool = False,
    out: Path | None = None,
    details: Callable[[], None] | None = None,
) -> None:
    """Print a result: the answer, its table, and what to do next.

    Where that is too long for a screen, notes or the table come last. ``typed`` stands after a command: the
    files, with what is needed to mean the same result. ``details`` prints more; method and signature come
    last, and only if ``verbose``.
    """
    first, *further = summary.sentences
    wrapped(first, style="bold")
    for sentence in further:
        wrapped(sentence)
    table = []
    if summary.rows:
        table = ["", *_table_lines(summary.columns, summary.rows, len(summary.columns) - summary.texts)]
    if summary.more:
        table.append(f"… and {summary.more:,} more")
    of_answer, of_notes = (
        sum(len(_lines_of(text)) for text in texts) for texts in (summary.sentences, summary.notes)
    )
    # What comes before is a screen at most: else notes come last, or the table.
    room = _FIRST_LINES - of_answer - 1 - len(summary.next_steps)
    is_last = len(table) > room
    notes_last = not is_last and len(table) + of_notes > room
    if not is_last:
        for text in (*table, ""):
            line(text)
    notes(() if notes_last else summary.notes)
    for step in summary.next_steps:
        line(f"Next: {_DATA.sub(lambda _: typed, step)}")
    for text in table if is_last else ():
        line(text)
    notes(summary.notes if notes_last else ())
    if details is not None:
        details()
    if verbose:
        for sentence in summary.method:
            wrapped(sentence, style="dim")
        if summary.signature:
            line(f"signature: {summary.signature}", style="dim")
    show_path(out)


def wrapped(text: str, style: str = "") -> None:
    """Print a sentence, on a terminal broken between words."""
    indent = " " * (len(text) - len(text.lstrip()))
    parts = (f"{'' if number == 0 else indent}{part}" for number, part in enumerate(_lines_of(text)))
    make_console().print(_plain_text("\n".join(parts), style), soft_wrap=True)


def _lines_of(text: str) -> list[str]:
    """Return a sentence in the lines that it takes; in a pipe it is one."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return _broken(text, make_console().width)
    return [text]


def line(text: str, style: str = "") -> None:
    """Print one line as it is, however long: signatures must not be broken."""
    make_console().print(_plain_text(text, style), soft_wrap=True)


def _plain_text(text: str, style: str = "") -> Text:
    """Return a text that means nothing to Rich and cannot steer the terminal, whatever names are in it."""
    return Text("\n".join(map(one_line, text.split("\n"))), style)


def notes(texts: Iterable[str]) -> None:
    """Print notes, one a line."""
    for text in texts:
        wrapped(f"note: {text}", style="italic")


def show_path(path: Path | None) -> None:
    """Print where a result was written, where it was."""
    if path is not None:
        line(f"written to {path}")


def fixed(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed number of decimals, a dash where there is none."""
    return "-" if value is None or value != value else f"{round(value, digits) + 0.0:.{digits}f}"


@dataclass(frozen=True)
class Series:
    """One curve: its name (none: not in the legend), the sign it is drawn with, and its values."""

    name: str
    sign: str
    values: Sequence[float]


def chart(labels: Sequence[str], series: Sequence[Series], *, height: int = 12, column: int = 6) -> str:
    """Draw curves over common places on the x axis; the later series covers the earlier where they meet."""
    values = np.concatenate([np.asarray(curve.values, np.float64) for curve in series])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.5, 0.5)
    margin = 0.05 * (high - low) if high > low else 0.5
    low, high = low - margin, high + margin
    grid = [[" "] * (column * len(labels)) for _ in range(height)]
    for curve in series:
        for place, value in enumerate(curve.values):
            if np.isfinite(value):
                row = round((high - value) / (high - low) * (height - 1))
                grid[row][place * column + column // 2] = curve.sign
    lines = []
    for row, cells in enumerate(grid):
        value = high - (high - low) * row / (height - 1)
        label = f"{value:8.3f}" if row % 3 == 0 or row == height - 1 else " " * 8
        lines.append(f"{label} ┤{''.join(cells).rstrip()}")
    axis = "".join(f"{label:^{column}}" for label in labels)
    legend = "   ".join(f"{curve.sign} {curve.name}" for curve in series if curve.name)
    lines += [" " * 9 + "└" + "─" * (column * len(labels)), " " * 10 + axis.rstrip(), f"  {legend}"]
    return "\n".join(lines)
