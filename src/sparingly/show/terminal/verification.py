"""The outcome of a verification in the terminal."""

from __future__ import annotations

from rich.console import Console

from sparingly.data.selection import Selection
from sparingly.run.verify import Verification
from sparingly.show.terminal.console import line, make_console, notes


def show_verification(result: Verification, selection: Selection, console: Console | None = None) -> None:
    """Print whether the selection is what its signature says, and what differs."""
    console = console or make_console()
    if result.ok:
        line(console, f"verified: the {len(selection)} rows follow from the signature", style="bold green")
    else:
        line(console, "NOT verified", style="bold red")
    for problem in result.problems:
        line(console, f"- {problem}")
    notes(console, result.notes)
    line(console, f"signature: {selection.signature}")
