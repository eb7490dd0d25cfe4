"""What is said in the terminal when a picture has been written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from sparingly.show.terminal.console import line, make_console, notes


def show_figure(
    found: Iterable[str], path: Path, mind: Iterable[str], console: Console | None = None
) -> None:
    """Print what was found, one line each, where its picture is, and what to mind."""
    console = console or make_console()
    for text in found:
        line(console, text)
    notes(console, mind)
    line(console, f"written to {path}")
