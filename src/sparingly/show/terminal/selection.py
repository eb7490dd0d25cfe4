"""Selections and verifications in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.data.selection import Selection
from sparingly.show.terminal.console import line, notes, show_summary, wrapped

if TYPE_CHECKING:
    from sparingly.run.verify import Verification, VerifiedResult


def show_selection(
    selection: Selection, out: Path | None = None, typed: str = "DATA", *, verbose: bool = False
) -> None:
    """Print how many items are chosen and why, and the first of them; the signature if ``verbose``."""
    show_summary(selection.summary(), typed, verbose=verbose, out=out)


def show_verification(result: Verification, verified: VerifiedResult, *, verbose: bool = False) -> None:
    """Print whether a selection, estimate or ranking is what its signature says, and what differs."""
    if result.ok and result.partial:
        numbers = ": scores and standard errors follow from the signature"
        line(f"verified in part{'' if isinstance(verified, Selection) else numbers}", style="bold yellow")
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
        wrapped(f"- {problem}")
    notes(result.notes)
    if verbose:
        line(f"signature: {verified.signature}", style="dim")
