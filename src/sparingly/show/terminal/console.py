"""How everything is printed: lines, notes, one kind of table, and curves drawn with characters."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sparingly.base.errors import one_line
from sparingly.base.format import number_text as number
from sparingly.base.format import share_text as percent

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
    "show_figure",
    "show_path",
    "show_table",
]

_PIPE_WIDTH = 120
_FILLING = re.compile(r" +(?=(\x1b\[0m)?$)", re.MULTILINE)


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
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", numbers: int = 0
) -> None:
    """Print a table whose last ``numbers`` columns are aligned to the right."""
    table = Table(
        box=SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False
    )
    table.show_header = any(columns)
    for place, name in enumerate(columns):
        right = place >= len(columns) - numbers
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_plain_text, row))
    console = make_console()
    with console.capture() as printed:
        console.print(table)
    # Rich fills lines up with spaces, also empty ones.
    sys.stdout.write(_FILLING.sub("", printed.get()))


def line(text: str, style: str = "") -> None:
    """Print one line as it is, however long: signatures must not be broken."""
    make_console().print(_plain_text(text, style), soft_wrap=True)


def _plain_text(text: str, style: str = "") -> Text:
    """Return a text that means nothing to Rich and cannot steer the terminal, whatever names are in it."""
    return Text("\n".join(map(one_line, text.split("\n"))), style)


def notes(texts: Iterable[str]) -> None:
    """Print notes, one a line."""
    for text in texts:
        line(f"note: {text}", style="italic")


def show_path(path: Path | None) -> None:
    """Print where a result was written, where it was."""
    if path is not None:
        line(f"written to {path}")


def show_figure(sentences: Iterable[str], path: Path, mind: Iterable[str]) -> None:
    """Print what was found, one line each, where its picture is, and what to mind."""
    for text in sentences:
        line(text)
    notes(mind)
    show_path(path)


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
