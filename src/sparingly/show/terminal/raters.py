"""Raters and what was handed out to them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparingly.show.terminal.console import (
    fixed,
    line,
    number,
    percent,
    show_summary,
    show_table,
    wrapped,
)

if TYPE_CHECKING:
    from sparingly.run.raters.agreement import RaterAgreement
    from sparingly.run.raters.controls import ControlReport
    from sparingly.run.raters.report import RaterReport

_MOST_PAIRS = 15


def show_raters(
    report: RaterReport, drift: Sequence[str] = (), typed: str = "DATA", *, verbose: bool = False
) -> None:
    """Print whether raters stand out or have changed, their severity and agreement; all if ``verbose``."""
    for sentence in drift:
        wrapped(sentence, style="bold")

    def show_details() -> None:
        _show_details(report, verbose=verbose)

    show_summary(report.summary(), typed, verbose=verbose, details=show_details)


def _show_details(report: RaterReport, *, verbose: bool) -> None:
    """Print control items; variances, pairs of raters, slopes and p-values of flags if ``verbose``."""
    if report.controls is not None:
        _show_controls(report.controls)
    if not verbose and report.predictability.metric is None:
        return
    severity, predicted = report.severity, report.predictability
    total = sum(severity.variances.values())
    if total > 0:
        largest_first = sorted(severity.variances.items(), key=lambda part: -part[1])
        parts = [f"{name} {percent(value / total, 0)}" for name, value in largest_first]
        wrapped(f"variance of a rating: {', '.join(parts)}")
    if len(severity.components) > 1:
        groups = "; ".join(", ".join(names) for names in severity.components)
        wrapped(f"raters connected through shared items: {groups}")
    if report.agreement.alpha.units:
        _show_agreement(report.agreement)
    if predicted.metric is not None:
        models = sorted({line.model for line in predicted.slopes})
        raters = sorted({line.rater for line in predicted.slopes})
        slope = {(line.rater, line.model): line.slope for line in predicted.slopes}
        slopes = [(model, *(number(slope.get((rater, model)), 3) for rater in raters)) for model in models]
        title = f"points of {predicted.aspect} for one of {predicted.metric}, by rater"
        show_table(("model", *raters), slopes, title=title, numbers=len(raters))
    for flag in report.flags:
        wrapped(f"flag: {flag.sentence} (p {_p(flag.p)}, corrected)", style="bold")


def _show_agreement(agreement: RaterAgreement) -> None:
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
