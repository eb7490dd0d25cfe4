"""What changed between two results, in the terminal."""

from __future__ import annotations

from rich.console import Console

from sparingly.infer.analysis.changes import Changes, ModelChange
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number


def show_changes(found: Changes, console: Console | None = None) -> None:
    """Print what moved and what was ranked otherwise, and why."""
    console = console or make_console()
    line(console, str(found), style="bold")
    line(console, f"before: {found.before}")
    line(console, f"after: {found.after}")
    columns = ("model", "before", "after", "change", "error", "in errors", "ranks", "group")
    console.print(make_table(columns, [_row(one) for one in found.models], numbers=7))
    for reason in found.reasons:
        line(console, f"why: {reason}")
    notes(console, found.notes)


def _row(one: ModelChange) -> tuple[str, ...]:
    change = "-" if one.change is None else f"{one.change:+.4g}"
    ratio = "-" if one.ratio is None else f"{fixed(one.ratio, 1)}{' ←' if one.moved else ''}"
    return (
        one.model,
        number(one.before),
        number(one.after),
        change,
        number(one.error, 3),
        ratio,
        _both(one.ranks_before, one.ranks_after),
        _both(one.group_before, one.group_after),
    )


def _both(before: object, after: object) -> str:
    """Return what did not change once, and what did with an arrow."""
    texts = ["-" if value is None else str(value) for value in (before, after)]
    return texts[0] if texts[0] == texts[1] else " → ".join(texts)
