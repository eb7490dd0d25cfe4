"""What a conversion wrote, and what it could not carry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sparingly.base.format import counted
from sparingly.data.evalset import EvalSet
from sparingly.show.terminal.console import line, make_console


def show_conversion(data: EvalSet, target: Path, lost: Sequence[str], console: Console | None = None) -> None:
    """Print what was written and list what the format cannot carry."""
    console = console or make_console()
    line(console, f"{counted(len(data), 'item')} x {counted(len(data.models), 'model')} written to {target}")
    if lost:
        line(console, f"not carried by this format: {', '.join(lost)}", style="yellow")
    else:
        line(console, "everything was carried over")
