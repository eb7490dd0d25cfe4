"""A selection in the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from sparingly.base.errors import listing
from sparingly.data.selection import Selection
from sparingly.show.terminal.console import line, make_console, make_table, notes, number


def show_selection(
    selection: Selection, out: Path | None = None, console: Console | None = None, most: int = 8
) -> None:
    """Print the first rows, the notes and the signature."""
    console = console or make_console()
    signature = selection.signature
    line(console, f"{len(selection)} of {signature.of} items chosen", style="bold")
    if selection.why:
        line(console, selection.why)
    if signature.crowd:
        line(console, f"computed on: {listing(signature.crowd)}")
    if signature.crowd or signature.judged:
        line(console, f"to judge: {listing(selection.judged or ['all models'])}")
    shown = [selection.row(place) for place in range(min(most, len(selection)))]
    rows = [
        (str(place + 1), row.item, number(row.utility), number(row.probability), number(row.cost), row.reason)
        for place, row in enumerate(shown)
    ]
    columns = ("", "item", "utility", "probability", "cost", "reason")
    kept = [place for place in range(len(columns)) if any(row[place] not in ("-", "") for row in rows)]
    console.print(
        make_table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows])
    )
    if len(selection) > len(shown):
        line(console, f"… and {len(selection) - len(shown)} more")
    notes(console, (selection.meaning, *selection.notes))
    line(console, f"signature: {signature}")
    if out is not None:
        line(console, f"written to {out}")
