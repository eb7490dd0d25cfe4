"""Hours and releases of a campaign, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from sparingly.base.format import counted
from sparingly.run.campaign.release import Release
from sparingly.show.terminal.console import line, make_console, make_table

_SHOWN = ("answers", "corrections", "without_time", "hours", "seconds_per_answer", "days", "amount")


def show_hours(
    rows: Sequence[Mapping[str, Any]], written: str | None, console: Console | None = None
) -> None:
    """Print how long every rater worked."""
    console = console or make_console()
    if not rows:
        line(console, "nobody has answered yet")
    else:
        columns = [name for name in _SHOWN if name in rows[0]]
        cells = [(row["rater"], *(_cell(name, row[name]) for name in columns)) for row in rows]
        heads = ("rater", *(name.replace("_", " ") for name in columns))
        console.print(make_table(heads, cells, numbers=len(columns)))
        if untimed := sum(row["without_time"] for row in rows):
            line(
                console, f"note: {counted(untimed, 'answer')} came without a time, so the hours are too few."
            )
    if written is not None:
        line(console, f"written: {written}")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return {"hours": f"{value:.2f}", "amount": f"{value:.2f}"}.get(name, f"{value:g}")


def show_release(made: Release, console: Console | None = None) -> None:
    """Print what was written, and what to keep to oneself."""
    console = console or make_console()
    line(
        console,
        f"{counted(made.answers, 'judgement')} by {counted(made.raters, 'rater')}, "
        f"{counted(len(made.files), 'file')}",
        style="bold",
    )
    line(console, f"seed of the raters' numbers: {made.seed}. Keep it, and publish it nowhere.")
    line(console, f"written: {made.path}")
