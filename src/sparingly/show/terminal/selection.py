"""Selections and their verification in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.data.selection import Selection
from sparingly.show.terminal.console import line, make_console, make_table, notes, number

if TYPE_CHECKING:
    from sparingly.run.verify import Result, Verification

# --- selections -----------------------------------------------------------------------------------


def show_selection(
    selection: Selection, out: Path | None = None, console: Console | None = None, limit: int = 8
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
    first_rows = [selection.row(place) for place in range(min(limit, len(selection)))]
    rows = [
        (str(place + 1), row.item, number(row.utility), number(row.probability), number(row.cost), row.reason)
        for place, row in enumerate(first_rows)
    ]
    columns = ("", "item", "utility", "probability", "cost", "reason")
    filled_columns = [
        place for place in range(len(columns)) if any(row[place] not in ("-", "") for row in rows)
    ]
    console.print(
        make_table(
            [columns[place] for place in filled_columns],
            [[row[place] for place in filled_columns] for row in rows],
        )
    )
    if len(selection) > len(first_rows):
        line(console, f"… and {len(selection) - len(first_rows)} more")
    notes(console, (selection.meaning, *selection.notes))
    line(console, f"signature: {signature}")
    if out is not None:
        line(console, f"written to {out}")


# --- verification ---------------------------------------------------------------------------------


def show_verification(result: Verification, verified: Result, console: Console | None = None) -> None:
    """Print whether a selection, estimate or ranking is what its signature says, and what differs."""
    console = console or make_console()
    if result.ok and result.partial:
        verdict = "verified in part: scores and standard errors follow from the signature"
        line(console, verdict, style="bold yellow")
    elif result.ok:
        line(console, f"verified: {_subject(verified)} from the signature", style="bold green")
    else:
        line(console, "NOT verified", style="bold red")
    for problem in result.problems:
        line(console, f"- {problem}")
    notes(console, result.notes)
    line(console, f"signature: {verified.signature}")


def _subject(verified: Result) -> str:
    if isinstance(verified, Selection):
        return "the 1 row follows" if len(verified) == 1 else f"the {len(verified)} rows follow"
    from sparingly.infer.estimate.result import Estimate

    models = counted(len(verified.models), "model")
    return (
        f"the scores of {models} follow"
        if isinstance(verified, Estimate)
        else f"the ranking of {models} follows"
    )
