"""Agreement with the full set, curves and parity, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
)

if TYPE_CHECKING:
    from sparingly.infer.rank.compare import Comparison, CurveComparison
    from sparingly.infer.rank.curve import Parity
    from sparingly.infer.rank.stability import Draws

_SHARES = {"soft_pairwise_accuracy", "pairwise_accuracy", "top1_percentile", "top_group_dice"}
_SHARES |= {"significance_retained_05", "significance_retained_001"}
_NAMES = {
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
_CURVE_NAMES = {
    **_NAMES,
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
    for name, title in _NAMES.items():
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
    line(f"\n{_CURVE_NAMES.get(curve.measure, curve.measure)} by share of items judged", style="bold")
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
