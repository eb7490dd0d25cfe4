"""The console that everything is printed on, and the one kind of table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sparingly.base.errors import one_line
from sparingly.base.format import number_text as number
from sparingly.base.format import share_text as percent

__all__ = [
    "PipedConsole",
    "fixed",
    "line",
    "make_console",
    "make_table",
    "notes",
    "number",
    "percent",
    "plain_text",
]

_PIPE_WIDTH = 120


class PipedConsole(Console):
    """A console that tells its caller when the reader of a pipe has gone, instead of leaving with code 1."""

    def on_broken_pipe(self) -> None:
        """Raise the error for the command line to settle."""
        raise BrokenPipeError


def make_console(file: IO[str] | None = None, *, record: bool = False) -> Console:
    """Return a console: as wide as the terminal, or wide enough for tables when its output is kept."""
    target = sys.stdout if file is None else file
    fixed = None if target.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return PipedConsole(file=target, width=fixed, highlight=False, record=record, soft_wrap=False)


def make_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", numbers: int = 0
) -> Table:
    """Return a table whose last ``numbers`` columns are aligned to the right."""
    table = Table(
        box=SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False
    )
    table.show_header = any(columns)
    for place, name in enumerate(columns):
        right = place >= len(columns) - numbers
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(plain_text, row))
    return table


def line(console: Console, text: str, style: str | None = None) -> None:
    """Print one line as it is, however long: signatures must not be broken."""
    console.print(plain_text(text, style), soft_wrap=True)


def plain_text(text: str, style: str | None = None) -> Text:
    """Return a text that means nothing to Rich and cannot steer the terminal, whatever names are in it."""
    return Text("\n".join(map(one_line, text.split("\n"))), style or "")


def notes(console: Console, texts: Iterable[str]) -> None:
    """Print notes, one a line."""
    for text in texts:
        line(console, f"note: {text}", style="italic")


def fixed(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed number of decimals, a dash where there is none."""
    return "-" if value is None or value != value else f"{round(value, digits) + 0.0:.{digits}f}"
