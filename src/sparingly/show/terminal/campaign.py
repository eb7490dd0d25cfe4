"""A campaign in the terminal: where it stands, its hours and releases, exports and imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sparingly.base.format import counted
from sparingly.run.exchange.tool import PHRASES, AnnotationTool
from sparingly.show.terminal.console import line, make_console, make_table, notes

if TYPE_CHECKING:
    from sparingly.run.campaign.answers import RecordedCounts
    from sparingly.run.campaign.reader import SetStatus, Status
    from sparingly.run.campaign.release import Release
    from sparingly.run.campaign.rounds import NextStep
    from sparingly.run.exchange.export_import import ExportReport
    from sparingly.run.exchange.report import ImportReport
    from sparingly.run.verification import Verification

# --- status ---------------------------------------------------------------------------------------


_MOST_SENTENCES = 20


def show_status(status: Status, console: Console | None = None, why: Mapping[str, str] | None = None) -> None:
    """Print what was asked for, what came back, why it ended where it has, and why it is done so."""
    console = console or make_console()
    then = "" if status.seq == status.last_seq else f" of {status.last_seq}"
    state = ", closed" if status.closed else ", paused" if status.paused else ""
    line(console, f"{status.campaign}: {status.aspect}, at entry {status.seq}{then}{state}", style="bold")
    rows = [
        (
            set_status.data,
            str(set_status.rounds),
            f"{set_status.spent} of {set_status.limit}",
            str(set_status.answers),
            str(set_status.outstanding),
            str(set_status.corrections),
            str(set_status.raters),
        )
        for set_status in status.sets
    ]
    columns = ("data set", "rounds", "outputs asked for", "answers", "outstanding", "corrections", "raters")
    console.print(make_table(columns, rows, numbers=6))
    for set_status in status.sets:
        _show_changes(console, set_status)
    for name, sentences in (why or {}).items():
        line(console, sentences if len(status.sets) == 1 else f"{name}: {sentences}")
    line(console, f"strategy: {status.strategy}", style="dim")
    for rule in status.stops:
        line(console, f"stop: {rule}", style="dim")


def _show_changes(console: Console, set_status: SetStatus) -> None:
    if set_status.late:
        line(console, f"{set_status.data}: came late: {', '.join(set_status.late)}")
    if set_status.withdrawn:
        line(console, f"{set_status.data}: withdrawn: {', '.join(set_status.withdrawn)}")
    if set_status.finished is not None:
        answer = "" if set_status.answer is None else f" Answer: {set_status.answer}."
        line(console, f"{set_status.data}: finished: {set_status.finished}{answer}")


def show_steps(steps: tuple[NextStep, ...], path: str | None, console: Console | None = None) -> None:
    """Print what is to be judged now."""
    console = console or make_console()
    for step in steps:
        line(console, f"{step.data}: {_sentence(step)}", style="bold")
        if step.new and step.selection is not None:
            notes(console, step.selection.notes)
            line(console, f"signature: {step.selection.signature}", style="dim")
    if path is not None:
        line(console, f"written: {path}")


def _sentence(step: NextStep) -> str:
    if step.finished is not None:
        is_one = step.outstanding == 1
        remaining = (
            f" {counted(step.outstanding, 'answer')} {'is' if is_one else 'are'} still to come."
            if step.outstanding
            else ""
        )
        return f"finished: {step.finished.reason}{remaining}"
    if step.selection is None:
        return "no round was drawn: the campaign is closed or paused"
    state = "drawn" if step.new else "waiting"
    rows, answers = counted(len(step.selection), "row"), counted(step.outstanding, "answer")
    return f"round {step.number} {state}: {rows}, {answers} to come"


def show_recorded(recorded: RecordedCounts, console: Console | None = None) -> None:
    """Print what became of the answers."""
    console = console or make_console()
    line(
        console,
        f"{recorded.new} new, {counted(recorded.correction, 'correction')}, {recorded.same} there already, "
        f"{recorded.refused} refused",
        style="bold",
    )
    for sentence in recorded.sentences[:_MOST_SENTENCES]:
        line(console, f"- {sentence}")
    if (more := len(recorded.sentences) - _MOST_SENTENCES) > 0:
        line(console, f"- … and {more} more")


def show_campaign_verification(result: Verification, status: Status, console: Console | None = None) -> None:
    """Print whether every round of a campaign follows from what was known before it."""
    console = console or make_console()
    if result.ok:
        rounds = sum(set_status.rounds for set_status in status.sets)
        line(
            console,
            f"verified: {counted(status.last_seq, 'entry', 'entries')} are as they were written, and "
            f"{counted(rounds, 'round')} {'follows' if rounds == 1 else 'follow'}",
            style="bold green",
        )
    else:
        line(console, "NOT verified", style="bold red")
    for problem in result.problems:
        line(console, f"- {problem}")
    notes(console, result.notes)


# --- hours and releases ---------------------------------------------------------------------------


_COLUMNS = ("answers", "corrections", "without_time", "hours", "seconds_per_answer", "days", "amount")


def show_hours(rows: Sequence[Mapping[str, Any]], path: str | None, console: Console | None = None) -> None:
    """Print how long every rater worked."""
    console = console or make_console()
    if not rows:
        line(console, "nobody has answered yet")
    else:
        columns = [name for name in _COLUMNS if name in rows[0]]
        cells = [(row["rater"], *(_cell(name, row[name]) for name in columns)) for row in rows]
        heads = ("rater", *(name.replace("_", " ") for name in columns))
        console.print(make_table(heads, cells, numbers=len(columns)))
        if untimed := sum(row["without_time"] for row in rows):
            line(
                console, f"note: {counted(untimed, 'answer')} came without a time, so the hours are too few."
            )
    if path is not None:
        line(console, f"written: {path}")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return {"hours": f"{value:.2f}", "amount": f"{value:.2f}"}.get(name, f"{value:g}")


def show_release(release: Release, console: Console | None = None) -> None:
    """Print what was written, and what to keep to oneself."""
    console = console or make_console()
    line(
        console,
        f"{counted(release.answers, 'judgement')} by {counted(release.raters, 'rater')}, "
        f"{counted(len(release.files), 'file')}",
        style="bold",
    )
    line(console, f"seed of the raters' numbers: {release.seed}. Keep it, and publish it nowhere.")
    line(console, f"written: {release.path}")


# --- exports and imports --------------------------------------------------------------------------


def show_tools(tools: Sequence[AnnotationTool], console: Console | None = None) -> None:
    """Print the tools that tasks can be exchanged with, and what they can ask for."""
    console = console or make_console()
    rows = [
        (tool.name, ", ".join(PHRASES[kind] for kind in tool.kinds) if tool.reads else "items", tool.summary)
        for tool in tools
    ]
    console.print(make_table(("tool", "asks for", "what it is"), rows, numbers=0))


def show_exported(exported: ExportReport, console: Console | None = None) -> None:
    """Print what was written, and where the key is."""
    console = console or make_console()
    line(console, exported.headline, style="bold")
    for path in exported.files:
        line(console, f"written: {path}")
    if exported.key is not None:
        line(console, f"key, to keep at home: {exported.key}")
    notes(console, exported.notes)


def show_imported(imported: ImportReport, path: Path | None = None, console: Console | None = None) -> None:
    """Print how many answers were taken, and why the others were left out."""
    console = console or make_console()
    line(console, imported.headline, style="bold")
    if imported.left_out:
        rows = [
            (str(count), reason, "; ".join(imported.examples[reason]))
            for reason, count in imported.left_out.items()
        ]
        console.print(make_table(("left out", "because", "such as"), rows, numbers=0))
    if imported.same:
        line(console, f"{len(imported.same)} ties of equal outputs, which nobody was asked about")
    notes(console, imported.notes)
    if path is not None:
        line(console, f"written to {path}")
