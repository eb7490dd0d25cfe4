"""Exports to annotation tools and imports from them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sparingly.run.exchange.export_import import Exported
from sparingly.run.exchange.report import Taken
from sparingly.run.exchange.tool import PHRASES, Exchange
from sparingly.show.terminal.console import line, make_console, make_table, notes


def show_tools(tools: Sequence[Exchange], console: Console | None = None) -> None:
    """Print the tools that tasks can be exchanged with, and what they can ask for."""
    console = console or make_console()
    rows = [
        (one.name, ", ".join(PHRASES[kind] for kind in one.kinds) if one.reads else "items", one.summary)
        for one in tools
    ]
    console.print(make_table(("tool", "asks for", "what it is"), rows, numbers=0))


def show_exported(exported: Exported, console: Console | None = None) -> None:
    """Print what was written, and where the key is."""
    console = console or make_console()
    line(console, exported.headline, style="bold")
    for path in exported.files:
        line(console, f"written: {path}")
    if exported.key is not None:
        line(console, f"key, to keep at home: {exported.key}")
    notes(console, exported.notes)


def show_taken(taken: Taken, path: Path | None = None, console: Console | None = None) -> None:
    """Print how many answers were taken, and why the others were left out."""
    console = console or make_console()
    line(console, taken.headline, style="bold")
    if taken.left_out:
        rows = [
            (str(count), reason, "; ".join(taken.examples[reason]))
            for reason, count in taken.left_out.items()
        ]
        console.print(make_table(("left out", "because", "such as"), rows, numbers=0))
    if taken.same:
        line(console, f"{len(taken.same)} ties of equal outputs, which nobody was asked about")
    notes(console, taken.notes)
    if path is not None:
        line(console, f"written to {path}")
