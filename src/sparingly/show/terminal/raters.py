"""Raters and what was handed out to them, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from sparingly.base.format import counted
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number, percent

if TYPE_CHECKING:
    from sparingly.infer.estimate.rater_effects import Severity
    from sparingly.run.raters.agreement import RaterAgreement
    from sparingly.run.raters.assignment import Assignment
    from sparingly.run.raters.controls import ControlReport
    from sparingly.run.raters.predictability import Predictability
    from sparingly.run.raters.report import RaterReport

_MOST_PAIRS = 15


def show_raters(report: RaterReport, console: Console | None = None) -> None:
    """Print severity, agreement, predictability, control items and flags."""
    console = console or make_console()
    severe = report.severity
    line(console, f"{counted(len(severe.raters), 'rater')} of {severe.aspect}", style="bold")
    _show_by_rater(severe, report.predictability, report.agreement, console)
    _show_variances(severe, console)
    _show_agreement(report.agreement, console)
    _show_slopes(report.predictability, console)
    if report.controls is not None:
        _show_controls(report.controls, console)
    for flag in report.flags:
        line(console, f"flag: {flag.sentence} (p {_p(flag.p)}, corrected)", style="bold")
    if not report.flags:
        line(console, "no rater is far from the rest")
    notes(console, report.notes)


def show_assignment(assignment: Assignment, path: Path | None = None, console: Console | None = None) -> None:
    """Print how much every rater has to judge, and whether raters can be compared."""
    console = console or make_console()
    line(console, assignment.headline, style="bold")
    shared = {name: sum(task.shared for task in assignment.of(name)) for name in assignment.raters}
    rows = [
        (name, str(assignment.loads[name]), str(shared[name]), str(assignment.controls[name]))
        for name in assignment.raters
    ]
    console.print(make_table(("rater", "items", "of them shared", "control items"), rows, numbers=3))
    if len(assignment.raters) > 1:
        connected = "all raters are" if assignment.is_connected else "not all raters are"
        line(console, f"{connected} connected through shared {assignment.unit}s")
    notes(console, assignment.notes)
    if path is not None:
        line(console, f"written to {path}")


def _show_by_rater(
    severe: Severity, predicted: Predictability, agreed: RaterAgreement, console: Console
) -> None:
    predictions = {rater.rater: rater for rater in predicted.raters}
    repeats = {rater.rater: rater for rater in agreed.own}
    rows = []
    for place, name in enumerate(severe.raters):
        prediction = predictions.get(name)
        rows.append(
            (
                name,
                str(int(severe.judgements[place])),
                f"{severe.severity[place]:+.3g} ± {number(severe.standard_errors[place], 2)}",
                number(prediction.error if prediction else None, 3),
                percent(prediction.share if prediction else None, 0),
                fixed(repeats[name].alpha if name in repeats else None),
            )
        )
    columns = ("rater", "outputs", "severity", "error from others", "own share that beats it", "α with self")
    console.print(make_table(columns, rows, numbers=5))


def _show_variances(severe: Severity, console: Console) -> None:
    total = sum(severe.variances.values())
    if total > 0:
        parts = [
            f"{name} {percent(value / total, 0)}"
            for name, value in sorted(severe.variances.items(), key=lambda part: -part[1])
        ]
        line(console, f"variance of a rating: {', '.join(parts)}")
    if len(severe.components) > 1:
        groups = "; ".join(", ".join(names) for names in severe.components)
        line(console, f"raters connected through shared items: {groups}")


def _show_agreement(agreed: RaterAgreement, console: Console) -> None:
    alpha = agreed.alpha
    if not alpha.units:
        return
    line(
        console,
        f"Krippendorff's α ({agreed.level}): {fixed(alpha.alpha, 3)} [{fixed(alpha.low, 3)}, "
        f"{fixed(alpha.high, 3)}] over {alpha.units} outputs with two or more raters",
    )
    columns = ("pair", "outputs", "Pearson", "Spearman", "Kendall", "same score", "difference")
    pairs = sorted(agreed.pairs, key=lambda pair: (-pair.n, pair.first, pair.second))[:_MOST_PAIRS]
    rows = [
        (
            f"{pair.first}, {pair.second}",
            str(pair.n),
            fixed(pair.pearson),
            fixed(pair.spearman),
            fixed(pair.kendall),
            percent(pair.exact, 0),
            f"{pair.difference:+.3g}",
        )
        for pair in pairs
    ]
    console.print(make_table(columns, rows, numbers=6))
    if len(agreed.pairs) > len(pairs):
        line(console, f"… and {len(agreed.pairs) - len(pairs)} pairs more")


def _show_slopes(predicted: Predictability, console: Console) -> None:
    if predicted.metric is None:
        return
    models = sorted({one.model for one in predicted.slopes})
    raters = sorted({one.rater for one in predicted.slopes})
    slope = {(one.rater, one.model): one.slope for one in predicted.slopes}
    rows = [(model, *(number(slope.get((rater, model)), 3) for rater in raters)) for model in models]
    title = f"points of {predicted.aspect} for one of {predicted.metric}, by rater"
    console.print(make_table(("model", *raters), rows, title=title, numbers=len(raters)))


def _show_controls(report: ControlReport, console: Console) -> None:
    rows = [
        (
            score.rater,
            score.kind,
            str(score.n),
            f"{score.right} / {score.tied} / {score.wrong}",
            number(score.difference, 3),
            _p(score.sign_p),
            _p(score.wilcoxon_p),
        )
        for score in report.scores
    ]
    columns = ("control items", "kind", "n", "right / tied / wrong", "difference", "sign test", "Wilcoxon")
    console.print(make_table(columns, rows, numbers=5))


def _p(value: float) -> str:
    return "-" if value != value else "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")
