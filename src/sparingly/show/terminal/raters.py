"""Raters and what was handed out to them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.show.terminal.console import fixed, line, notes, number, percent, show_path, show_table

if TYPE_CHECKING:
    from sparingly.run.raters.agreement import RaterAgreement
    from sparingly.run.raters.assignment import Assignment
    from sparingly.run.raters.controls import ControlReport
    from sparingly.run.raters.report import RaterReport

_MOST_PAIRS = 15


def show_raters(report: RaterReport, drift: Sequence[str] = ()) -> None:
    """Print whether raters have changed, severity, agreement, predictability, control items and flags."""
    severity, predicted = report.severity, report.predictability
    for sentence in drift:
        line(sentence, style="bold")
    line(report.headline, style="bold")
    predictions = {rater.rater: rater for rater in predicted.raters}
    alphas = {rater.rater: rater.alpha for rater in report.agreement.own}
    rows = []
    for place, name in enumerate(severity.raters):
        prediction = predictions.get(name)
        rows.append(
            (
                name,
                str(int(severity.judgements[place])),
                f"{severity.severity[place]:+.3g} ± {number(severity.standard_errors[place], 2)}",
                number(prediction.error if prediction else None, 3),
                percent(prediction.share if prediction else None, 0),
                fixed(alphas.get(name)),
            )
        )
    columns = ("rater", "outputs", "severity", "error from others", "own share that beats it", "α with self")
    show_table(columns, rows, numbers=5)
    total = sum(severity.variances.values())
    if total > 0:
        largest_first = sorted(severity.variances.items(), key=lambda part: -part[1])
        parts = [f"{name} {percent(value / total, 0)}" for name, value in largest_first]
        line(f"variance of a rating: {', '.join(parts)}")
    if len(severity.components) > 1:
        groups = "; ".join(", ".join(names) for names in severity.components)
        line(f"raters connected through shared items: {groups}")
    if report.agreement.alpha.units:
        _show_agreement(report.agreement)
    if predicted.metric is not None:
        models = sorted({one.model for one in predicted.slopes})
        raters = sorted({one.rater for one in predicted.slopes})
        slope = {(one.rater, one.model): one.slope for one in predicted.slopes}
        slopes = [(model, *(number(slope.get((rater, model)), 3) for rater in raters)) for model in models]
        title = f"points of {predicted.aspect} for one of {predicted.metric}, by rater"
        show_table(("model", *raters), slopes, title=title, numbers=len(raters))
    if report.controls is not None:
        _show_controls(report.controls)
    for flag in report.flags:
        line(f"flag: {flag.sentence} (p {_p(flag.p)}, corrected)", style="bold")
    if not report.flags:
        line("no rater is far from the rest")
    notes(report.notes)


def _show_agreement(agreement: RaterAgreement) -> None:
    alpha = agreement.alpha
    line(
        f"Krippendorff's α ({agreement.level}): {fixed(alpha.alpha, 3)} [{fixed(alpha.low, 3)}, "
        f"{fixed(alpha.high, 3)}] over {alpha.units} outputs with two or more raters"
    )
    pairs = sorted(agreement.pairs, key=lambda pair: (-pair.n, pair.first, pair.second))[:_MOST_PAIRS]
    rows = [
        (
            f"{pair.first}, {pair.second}",
            str(pair.n),
            *map(fixed, (pair.pearson, pair.spearman, pair.kendall)),
            percent(pair.exact, 0),
            f"{pair.difference:+.3g}",
        )
        for pair in pairs
    ]
    columns = ("pair", "outputs", "Pearson", "Spearman", "Kendall", "same score", "difference")
    show_table(columns, rows, numbers=6)
    if (hidden := len(agreement.pairs) - len(pairs)) > 0:
        line(f"… and {hidden} pairs more")


def _show_controls(report: ControlReport) -> None:
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
    show_table(columns, rows, numbers=5)


def _p(value: float) -> str:
    return "-" if value != value else "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")


def show_assignment(assignment: Assignment, path: Path | None = None) -> None:
    """Print how much every rater has to judge, and whether raters can be compared."""
    line(assignment.headline, style="bold")
    shared = {name: sum(task.shared for task in assignment.of(name)) for name in assignment.raters}
    rows = [
        (name, str(assignment.loads[name]), str(shared[name]), str(assignment.controls[name]))
        for name in assignment.raters
    ]
    show_table(("rater", "items", "of them shared", "control items"), rows, numbers=3)
    if len(assignment.raters) > 1:
        connected = "all raters are" if assignment.is_connected else "not all raters are"
        line(f"{connected} connected through shared {assignment.unit}s")
    notes(assignment.notes)
    show_path(path)
