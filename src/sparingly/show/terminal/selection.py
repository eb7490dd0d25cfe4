"""Selections and their verification in the terminal."""

from __future__ import annotations

from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.data.selection import Selection
from sparingly.show.terminal.console import line, notes, number, show_path, show_table

if TYPE_CHECKING:
    from sparingly.run.verify import Verification, VerifiedResult


def show_selection(selection: Selection, out: Path | None = None, limit: int = 8) -> None:
    """Print the first rows, the notes and the signature."""
    signature = selection.signature
    line(f"{len(selection)} of {signature.of} items chosen", style="bold")
    if selection.why:
        line(selection.why)
    if signature.crowd:
        line(f"computed on: {listing(signature.crowd)}")
    if signature.crowd or signature.judged:
        line(f"to judge: {listing(selection.judged or ['all models'])}")
    rows = [
        (str(place), row.item, number(row.utility), number(row.probability), number(row.cost), row.reason)
        for place, row in enumerate(islice(selection, limit), 1)
    ]
    columns = ("", "item", "utility", "probability", "cost", "reason")
    is_filled = [any(row[place] not in ("-", "") for row in rows) for place in range(len(columns))]
    show_table(list(compress(columns, is_filled)), [list(compress(row, is_filled)) for row in rows])
    if len(selection) > len(rows):
        line(f"… and {len(selection) - len(rows)} more")
    notes((selection.meaning, *selection.notes))
    line(f"signature: {signature}")
    show_path(out)


def show_verification(result: Verification, verified: VerifiedResult) -> None:
    """Print whether a selection, estimate or ranking is what its signature says, and what differs."""
    if result.ok and result.partial:
        verdict = "verified in part: scores and standard errors follow from the signature"
        line(verdict, style="bold yellow")
    elif result.ok:
        from sparingly.infer.estimate.result import Estimate

        if isinstance(verified, Selection):
            subject = "the 1 row follows" if len(verified) == 1 else f"the {len(verified)} rows follow"
        elif isinstance(verified, Estimate):
            subject = f"the scores of {counted(len(verified.models), 'model')} follow"
        else:
            subject = f"the ranking of {counted(len(verified.models), 'model')} follows"
        line(f"verified: {subject} from the signature", style="bold green")
    else:
        line("NOT verified", style="bold red")
    for problem in result.problems:
        line(f"- {problem}")
    notes(result.notes)
    line(f"signature: {verified.signature}")
