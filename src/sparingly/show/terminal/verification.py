"""The outcome of a verification in the terminal."""

from __future__ import annotations

from rich.console import Console

from sparingly.base.format import counted
from sparingly.data.selection import Selection
from sparingly.infer.estimate.result import Estimate
from sparingly.run.verify import Result, Verification
from sparingly.show.terminal.console import line, make_console, notes


def show_verification(result: Verification, verified: Result, console: Console | None = None) -> None:
    """Print whether a selection, estimate or ranking is what its signature says, and what differs."""
    console = console or make_console()
    if result.ok and result.partial:
        said = "verified in part: scores and standard errors follow from the signature"
        line(console, said, style="bold yellow")
    elif result.ok:
        line(console, f"verified: {_what(verified)} from the signature", style="bold green")
    else:
        line(console, "NOT verified", style="bold red")
    for problem in result.problems:
        line(console, f"- {problem}")
    notes(console, result.notes)
    line(console, f"signature: {verified.signature}")


def _what(verified: Result) -> str:
    if isinstance(verified, Selection):
        return "the 1 row follows" if len(verified) == 1 else f"the {len(verified)} rows follow"
    count = len(verified.models)
    return (
        f"the scores of {counted(count, 'model')} follow"
        if isinstance(verified, Estimate)
        else (f"the ranking of {counted(count, 'model')} follows")
    )
