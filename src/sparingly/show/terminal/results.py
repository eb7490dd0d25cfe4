"""Results in the terminal, and what of them is printed beside their summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.format import counted
from sparingly.base.format import percent as chance_text
from sparingly.data.selection import Selection
from sparingly.show.terminal.console import (
    Series,
    chart,
    fixed,
    line,
    notes,
    number,
    percent,
    show_summary,
    show_table,
    wrapped,
)

if TYPE_CHECKING:
    from sparingly.infer.compare.strengths import WinMatrix
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.expect.expect import Expected
    from sparingly.infer.plan.plan import Plan
    from sparingly.infer.rank.compare import Comparison, CurveComparison, Draws
    from sparingly.infer.rank.curve import Parity
    from sparingly.infer.rank.ranking import Ranking
    from sparingly.run.raters.agreement import RaterAgreement
    from sparingly.run.raters.controls import ControlReport
    from sparingly.run.raters.report import RaterReport
    from sparingly.run.verify import Verification, VerifiedResult

_MOST_PAIRS = 12


def show_estimate(
    estimate: Estimate, out: Path | None = None, typed: str = "DATA", *, verbose: bool = False
) -> None:
    """Print the scores with their intervals, and those of parts of the set."""

    def show_groups() -> None:
        for name, part in estimate.groups.items():
            line(f"\n{name}: {counted(part.n, 'judged item')}", style="bold")
            table = part.summary()
            show_table(table.columns, table.rows, numbers=len(table.columns) - table.texts)

    show_summary(estimate.summary(), typed, verbose=verbose, out=out, details=show_groups)


def show_ranking(
    ranking: Ranking, out: Path | None = None, typed: str = "DATA", *, verbose: bool = False
) -> None:
    """Print who is best, the models with their possible ranks, and what is expected; pairs if ``verbose``."""

    def show_details() -> None:
        if ranking.expected is not None:
            line("")
            show_expected(ranking.expected, ranking)
        if verbose:
            _show_pairs(ranking)

    show_summary(ranking.summary(), typed, verbose=verbose, out=out, details=show_details)


def _show_pairs(ranking: Ranking) -> None:
    """Print neighbours in the order: whether each is significantly better than the next."""
    better, shows = ranking.decisions.better, ranking.would_be_significant
    rows = []
    for place, (first, second) in enumerate(pairwise(ranking.models[: _MOST_PAIRS + 1])):
        pair = place, place + 1
        tied = first.score is not None and first.score == second.score
        name = f"{first.model} and {second.model}, tied" if tied else f"{first.model} over {second.model}"
        row = [name, number(float(ranking.p_values[pair]), 2), number(float(ranking.corrected[pair]), 2)]
        row.append("yes" if better[pair] else "no")
        rows.append(row if shows is None else [*row, chance_text(float(shows[pair]))])
    columns = [f"neighbours ({ranking.test} test)", "p", "p, corrected", "significant"]
    columns += [] if shows is None else ["judging everything would show it"]
    line("")
    show_table(columns, rows, numbers=len(columns) - 1)


def show_expected(expected: Expected, ranking: Ranking | None = None) -> None:
    """Print what judging everything is expected to say: scores, and neighbours with expected p-values.

    An expected p-value comes with its 95 % interval; beside a ranking, with the p-value of its test, too.
    """
    from sparingly.infer.expect.expect import EVERY_LABEL

    scores = ", ".join(f"{row['model']} {number(row['score'], 3)}" for row in expected.rows())
    wrapped(f"Expected scores if everything were judged: {scores}", style="bold")
    tested = {} if ranking is None else {model.model: place for place, model in enumerate(ranking.models)}
    middle, (low, high) = expected.two_sided, expected.two_sided_range()
    rows = []
    for better, worse in pairwise(expected.order[: _MOST_PAIRS + 1]):
        at = expected.models.index(better), expected.models.index(worse)
        row = [f"{better} over {worse}", number(float(middle[at]), 2)]
        row.append(f"{number(float(low[at]), 2)} to {number(float(high[at]), 2)}")
        if ranking is not None:
            known = better in tested and worse in tested
            row.append(number(float(ranking.p_values[tested[better], tested[worse]]), 2) if known else "-")
        rows.append(row)
    heads = ["neighbours, as expected", "p, expected", "95 % interval"]
    heads += [] if ranking is None else ["p, now"]
    show_table(heads, rows, numbers=len(heads) - 1)
    wrapped(EVERY_LABEL)


# --- Agreement with the full set, curves and parity ---


_SHARES = {"soft_pairwise_accuracy", "pairwise_accuracy", "top1_percentile", "top_group_dice"}
_SHARES |= {"significance_retained_05", "significance_retained_001"}
_MEASURES = {
    "soft_pairwise_accuracy": "soft pairwise accuracy",
    "pairwise_accuracy": "pairwise accuracy",
    "pearson": "Pearson of the means",
    "spearman": "Spearman",
    "kendall_b": "Kendall b",
    "kendall_c": "Kendall c",
    "top1_match": "best model found",
    "top1_percentile": "percentile of the chosen best",
    "groups": "significance groups",
    "top_group_dice": "top group, Dice",
    "mean_absolute_error": "mean absolute error of scores",
    "root_mean_squared_error": "root mean squared error",
    "rank_changes": "models with another rank",
    "significance_retained_05": "significant pairs preserved (p<.05)",
    "significance_retained_001": "significant pairs preserved (p<.001)",
}
_CURVE_MEASURES = {
    **_MEASURES,
    "winner_success": "winner found, over pairs of models",
    "winner_bias": "bias of the winning distance",
}


def show_comparison(comparison: Comparison, typed: str = "DATA", *, verbose: bool = False) -> None:
    """Print how close the chosen items come to all, models' means and ranks; every measure if ``verbose``."""
    details = (lambda: _show_measures(comparison)) if verbose else None
    show_summary(comparison.summary(), typed, verbose=verbose, details=details)


def _show_measures(comparison: Comparison) -> None:
    agreement = comparison.agreement
    values, measures = agreement.to_dict(), []
    for name, title in _MEASURES.items():
        value = values[name]
        if name == "groups":
            text = f"{value} of {values['groups_full']}"
        elif name == "top1_match":
            text = "yes" if value == 1 else "no" if value == 0 else percent(value)
        elif name == "rank_changes":
            text = str(value)
        else:
            text = percent(value) if name in _SHARES else fixed(value, 3)
        measures.append((title, text))
    pairs = comparison.pairs
    distances = f"{fixed(pairs.distance, 3)}, {fixed(pairs.estimated_distance, 3)}"
    measures.append(("winner found, over pairs of models", percent(pairs.success_rate)))
    measures.append(("winning distance: all, chosen", distances))
    line("")
    show_table(("agreement", ""), measures, numbers=1)


def show_curve(comparison: CurveComparison) -> None:
    """Print a method's curve beside that of random selection."""
    curve, random = comparison.curve, comparison.random
    line(f"\n{_CURVE_MEASURES.get(curve.measure, curve.measure)} by share of items judged", style="bold")
    labels = [f"{100 * share:.0f}%" for share in curve.shares]
    series = [
        Series("random, 90 % interval of its mean", "·", list(random.low)),
        Series("", "·", list(random.high)),
        Series("random", "o", list(random.values)),
        Series(comparison.method, "●", list(curve.values)),
    ]
    line(chart(labels, series))
    averages = f"{number(curve.average)} against {number(random.average)} for random"
    line(f"  average: {averages} ({random.runs} draws)")


def show_parity(parity: Parity) -> None:
    """Print what share of random's labels the method needs."""
    if parity.share != parity.share:
        line("parity: some of random's targets are never reached for good, so there is no figure")
        return
    verdict = f"{'saves' if parity.share < 1 else 'costs'} {percent(abs(1 - parity.share), 0)}"
    line(f"parity: {percent(parity.share, 0)} of random's labels for the same agreement ({verdict})")


def show_draws(draws: Draws) -> None:
    """Print what repeated runs of the method say."""
    stability, success = draws.stability, draws.success
    part = "the items" if draws.share == 1 else f"{percent(draws.share, 0)} of the items"
    line(f"\n{len(stability.changes)} runs of {draws.method}, each on {part}", style="bold")
    changes = f"{stability.best}, {stability.median:g}, {stability.worst}"
    distances = f"{number(success.distance, 3)}, {number(success.estimated_distance, 3)}"
    rows = [
        ("runs with another ranking than the whole set", percent(stability.changed_share)),
        ("models with another rank: best, median, worst run", changes),
        ("pairs of runs that rank differently", percent(stability.differing_pairs)),
        ("winner found, over pairs of models and runs", percent(success.rate)),
        ("no winner in the run", percent(success.inconclusive)),
        ("winning distance: true, estimated", distances),
        ("bias of the estimated distance", number(success.bias, 3)),
        ("pairs without a winner, left out", str(success.tied)),
    ]
    show_table(("", ""), rows, numbers=1)
    notes(draws.notes)


# --- Many models compared: strengths, and a matrix of wins ---


# A matrix of more models fits no terminal.
_MOST_COLUMNS = 8


def show_win_matrix(matrix: WinMatrix, typed: str = "DATA", *, verbose: bool = False) -> None:
    """Print who may be best, the strengths with their intervals, and who won against whom."""
    is_small = len(matrix.models) <= _MOST_COLUMNS
    show = (lambda: _show_matrix(matrix)) if is_small else None
    show_summary(matrix.summary(), typed, verbose=verbose, details=show)


def _show_matrix(matrix: WinMatrix) -> None:
    """Print wins and ties of every model against every other."""
    rows = []
    for row, name in enumerate(matrix.models):
        cells = [
            "·"
            if row == column
            else f"{_count_text(matrix.wins[row, column])}+{_count_text(matrix.ties[row, column])}"
            for column in range(len(matrix.models))
        ]
        rows.append((f"{row + 1} {name}", *cells))
    numbers = [str(number) for number in range(1, len(matrix.models) + 1)]
    line("")
    show_table(("wins+ties against", *numbers), rows, numbers=len(numbers))


def _count_text(value: float) -> str:
    return str(round(value)) if np.isclose(value, round(value)) else f"{value:.1f}"


# --- A plan: the answer first, then what budgets buy, then what was learned ---


def show_plan(
    plan: Plan,
    typed: str = "DATA",
    limit: int = 5,
    *,
    in_campaign: bool = False,
    has_selection: bool = False,
    verbose: bool = False,
) -> None:
    """Print what to do and what budgets buy; metrics and what the columns mean if ``verbose``.

    A campaign draws its own rounds, so there the next step is to go on; a selection is not written over.
    """
    out = f"chosen-{plan.advice.budget}.json" if has_selection else "chosen.json"
    steps = ("sparingly serve DATA",) if in_campaign else plan.advice.commands(selection=out)
    show_summary(
        replace(plan.summary(), next_steps=steps),
        typed,
        verbose=verbose,
        details=(lambda: _show_plan_details(plan, limit)) if verbose else None,
    )


def _show_plan_details(plan: Plan, limit: int) -> None:
    # The metrics that agree best with what was judged come first.
    rows = [
        (correlation.metric, *map(fixed, (correlation.pooled, correlation.within, correlation.differences)))
        for correlation in plan.correlations[:limit]
    ]
    line("")
    if rows:
        columns = ("metric", "over all outputs", "within items", "differences")
        show_table(columns, rows, title=f"Correlation with {plan.truth}", numbers=3)
    if (hidden := len(plan.correlations) - limit) > 0:
        line(f"… and {hidden} weaker ones (--json shows all)")
    level, power = percent(plan.wanted.level, 0), percent(plan.wanted.power, 0)
    target = "on inputs like these" if plan.wanted.target == "population" else "on this set"
    several = len(plan.models) > 1
    model = "a middle model" if several else "the model"
    unit = ", in points" if plan.is_rate else ""
    wrapped(f"scores: half-width of the {level} interval of {model}, on this set{unit}")
    if several:
        pairs = "" if len(plan.models) == 2 else ", corrected for all pairs"
        smallest = f"the smallest that is significant with a probability of {power} {target}{pairs}"
        wrapped(f"difference: {smallest}{unit}")


# --- Raters ---


_MOST_RATER_PAIRS = 15


def show_raters(
    report: RaterReport, drift: Sequence[str] = (), typed: str = "DATA", *, verbose: bool = False
) -> None:
    """Print whether raters stand out or have changed, their severity and agreement; all if ``verbose``."""
    for sentence in drift:
        wrapped(sentence, style="bold")

    def show_details() -> None:
        _show_rater_details(report, verbose=verbose)

    show_summary(report.summary(), typed, verbose=verbose, details=show_details)


def _show_rater_details(report: RaterReport, *, verbose: bool) -> None:
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
    pairs = sorted(agreement.pairs, key=lambda pair: (-pair.n, pair.first, pair.second))[:_MOST_RATER_PAIRS]
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


# --- Selections and verifications ---


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
