"""A campaign in the terminal: where it stands, its hours and releases, exports and imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.format import counted
from sparingly.run.exchange.tool import PHRASES, AnnotationTool
from sparingly.run.rounds.auto import CHANCE
from sparingly.show.terminal.console import line, notes, show_path, show_summary, show_table, wrapped

if TYPE_CHECKING:
    from sparingly.run.campaign.answers import RecordedCounts
    from sparingly.run.campaign.reader import Status
    from sparingly.run.campaign.release import Release
    from sparingly.run.campaign.rounds import NextStep
    from sparingly.run.exchange.export_import import ExportReport
    from sparingly.run.exchange.reading import ImportReport
    from sparingly.run.verification import Verification

_MOST_SENTENCES = 20
_HOURS_FORMATS = {
    "answers": "g",
    "corrections": "g",
    "without_time": "g",
    "hours": ".2f",
    "other_seconds": "g",
}
_HOURS_FORMATS |= {"seconds_per_answer": "g", "days": "g", "amount": ".2f"}


def show_status(
    status: Status, why: Mapping[str, str] | None = None, typed: str = "CAMPAIGN", *, verbose: bool = False
) -> None:
    """Print what was asked for, what came back, and what to do next; then why it is done so."""

    def show_reasons() -> None:
        for name, sentences in (why or {}).items():
            wrapped(sentences if len(status.sets) == 1 else f"{name}: {sentences}")

    show_summary(status.summary(), typed, verbose=verbose, details=show_reasons)


def show_steps(steps: tuple[NextStep, ...], path: str | None, *, verbose: bool = False) -> None:
    """Print what is to be judged now."""
    for step in steps:
        outstanding = counted(step.outstanding, "answer")
        if step.finished is not None:
            sentence = f"finished: {step.finished.reason}"
            if step.outstanding:
                sentence += f" {outstanding} {'is' if step.outstanding == 1 else 'are'} still to come."
        elif step.selection is None:
            sentence = "no round was drawn: the campaign is closed or paused"
        else:
            state, rows = "drawn" if step.new else "waiting", counted(len(step.selection), "row")
            sentence = f"round {step.number} {state}: {rows}, {outstanding} to come"
        line(f"{step.data}: {sentence}", style="bold")
        if step.new and step.selection is not None:
            # What always holds for a method is for those who ask.
            notes(note for note in step.selection.notes if verbose or note != CHANCE)
            if verbose:
                line(f"signature: {step.selection.signature}", style="dim")
    if path is not None:
        line(f"written: {path}")


def show_recorded(recorded: RecordedCounts) -> None:
    """Print what became of the answers."""
    line(
        f"{recorded.new} new, {counted(recorded.correction, 'correction')}, {recorded.same} there already, "
        f"{recorded.refused} refused",
        style="bold",
    )
    for sentence in recorded.sentences[:_MOST_SENTENCES]:
        line(f"- {sentence}")
    if (more := len(recorded.sentences) - _MOST_SENTENCES) > 0:
        line(f"- … and {more} more")
    if not (recorded.new or recorded.correction or recorded.same or recorded.refused):
        line("No row has a score: fill in the column score, and record the file again.")


def show_campaign_verification(result: Verification, status: Status) -> None:
    """Print whether every round of a campaign follows from what was known before it."""
    if result.ok:
        from sparingly.run.verification import EARLIER_RULE

        rounds = sum(set_status.rounds for set_status in status.sets)
        rounds -= sum(EARLIER_RULE in note for note in result.notes)
        entries = counted(status.last_seq, "entry", "entries")
        line(
            f"verified{' in part' if result.partial else ''}: {entries} are as they were written, and "
            f"{counted(rounds, 'round')} {'follows' if rounds == 1 else 'follow'}",
            style="bold green",
        )
    else:
        line("NOT verified", style="bold red")
    for problem in result.problems:
        line(f"- {problem}")
    notes(result.notes)


def show_hours(rows: Sequence[Mapping[str, Any]], path: str | None) -> None:
    """Print how long every rater worked."""
    if not rows:
        line("nobody has answered yet")
    else:
        columns = [name for name in _HOURS_FORMATS if name in rows[0]]
        if not any(row["other_seconds"] for row in rows):
            columns.remove("other_seconds")
        cells = []
        for row in rows:
            texts = ["-" if row[name] is None else f"{row[name]:{_HOURS_FORMATS[name]}}" for name in columns]
            cells.append((row["rater"], *texts))
        heads = ("rater", *(name.replace("_", " ") for name in columns))
        show_table(heads, cells, numbers=len(columns))
        if untimed := sum(row["without_time"] for row in rows):
            line(f"note: {counted(untimed, 'answer')} came without a time, so the hours are too few.")
    if path is not None:
        line(f"written: {path}")


def show_release(release: Release) -> None:
    """Print what was written, and what to keep to oneself."""
    line(
        f"{counted(release.answers, 'judgement')} by {counted(release.raters, 'rater')}, "
        f"{counted(len(release.files), 'file')}",
        style="bold",
    )
    line(f"seed of the raters' numbers: {release.seed}. Keep it private.")
    line(f"written: {release.path}")


def show_tools(tools: Sequence[AnnotationTool]) -> None:
    """Print the tools that tasks can be exchanged with, and what they can ask for."""
    rows = [
        (tool.name, ", ".join(PHRASES[kind] for kind in tool.kinds) if tool.reads else "items", tool.summary)
        for tool in tools
    ]
    show_table(("tool", "asks for", "what it is"), rows, numbers=0)


def show_exported(exported: ExportReport) -> None:
    """Print what was written, and where the key is."""
    line(exported.headline, style="bold")
    for path in exported.files:
        line(f"written: {path}")
    if exported.key is not None:
        line(f"key file (keep private): {exported.key}")
    notes(exported.notes)


def show_imported(imported: ImportReport, path: Path | None = None) -> None:
    """Print how many answers were taken, and why the others were left out."""
    line(imported.headline, style="bold")
    if imported.left_out:
        rows = [
            (str(count), reason, "; ".join(imported.examples[reason]))
            for reason, count in imported.left_out.items()
        ]
        show_table(("left out", "because", "such as"), rows, numbers=0)
    if imported.same:
        line(f"{len(imported.same)} ties of equal outputs, which nobody was asked about")
    notes(imported.notes)
    show_path(path)
