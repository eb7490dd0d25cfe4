"""Agreement with the full set, curves, parity, and what changed between two results, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from sparingly.show.terminal.console import (
    Series,
    chart,
    fixed,
    line,
    make_console,
    make_table,
    notes,
    number,
    percent,
)

if TYPE_CHECKING:
    from sparingly.infer.changes import Changes, ModelChange
    from sparingly.infer.rank.compare import Comparison, CurveComparison
    from sparingly.infer.rank.curve import Parity
    from sparingly.infer.rank.stability import Draws

# --- agreement, curves, parity --------------------------------------------------------------------


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
    "significance_retained_05": "significant pairs kept (p<.05)",
    "significance_retained_001": "significant pairs kept (p<.001)",
}
_CURVE_NAMES = {
    **_NAMES,
    "winner_success": "winner found, over pairs of models",
    "winner_bias": "bias of the winning distance",
}


def show_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print the models' means and ranks, and every measure of agreement."""
    console = console or make_console()
    agreement = comparison.agreement
    line(
        console, f"{agreement.n} of {agreement.n_full} items against all, by {comparison.truth}", style="bold"
    )
    rows = [
        (
            model.model,
            str(model.full_rank),
            ("-" if model.rank is None else str(model.rank))
            + (" ←" if model.rank != model.full_rank else "  "),
            number(model.full_mean),
            number(model.mean),
        )
        for model in comparison.models
    ]
    console.print(
        make_table(("model", "rank, all", "rank, chosen", "mean, all", "mean, chosen"), rows, numbers=4)
    )
    console.print(make_table(("agreement", ""), _measures(comparison), numbers=1))
    notes(console, comparison.notes)


def _measures(comparison: Comparison) -> list[tuple[str, str]]:
    values = comparison.agreement.to_dict()
    rows = []
    for name, title in _NAMES.items():
        value = values[name]
        if name == "groups":
            text = f"{value} of {values['groups_full']}"
        elif name == "top1_match":
            text = "yes" if value == 1 else "no" if value == 0 else percent(value)
        else:
            text = percent(value) if name in _SHARES else number(value)
        rows.append((title, text))
    pairs = comparison.pairs
    return [
        *rows,
        ("winner found, over pairs of models", percent(pairs.success_rate)),
        (
            "winning distance: all, chosen",
            f"{number(pairs.distance, 3)}, {number(pairs.estimated_distance, 3)}",
        ),
    ]


def show_curve(comparison: CurveComparison, console: Console | None = None) -> None:
    """Print a method's curve beside that of random selection."""
    console = console or make_console()
    curve, random = comparison.curve, comparison.random
    line(
        console, f"\n{_CURVE_NAMES.get(curve.measure, curve.measure)} by share of items judged", style="bold"
    )
    labels = [f"{100 * share:.0f}%" for share in curve.shares]
    series = [
        Series("random, 90 % interval of its mean", "·", list(random.low)),
        Series("", "·", list(random.high)),
        Series("random", "o", list(random.values)),
        Series(comparison.method, "●", list(curve.values)),
    ]
    line(console, chart(labels, series))
    line(
        console,
        f"  average: {number(curve.average)} against {number(random.average)} for random "
        f"({random.runs} draws)",
    )


def show_parity(parity: Parity, console: Console | None = None) -> None:
    """Print what share of random's labels the method needs."""
    console = console or make_console()
    if parity.share != parity.share:
        line(console, "parity: some of random's targets are never reached and kept, so there is no figure")
        return
    verdict = "saves" if parity.share < 1 else "costs"
    line(
        console,
        f"parity: {percent(parity.share, 0)} of random's labels for the same agreement "
        f"({verdict} {percent(abs(1 - parity.share), 0)})",
    )


def show_draws(draws: Draws, console: Console | None = None) -> None:
    """Print what repeated runs of the method say."""
    console = console or make_console()
    stability, success = draws.stability, draws.success
    part = "the items" if draws.share == 1 else f"{percent(draws.share, 0)} of the items"
    line(console, f"\n{len(stability.changes)} runs of {draws.method}, each on {part}", style="bold")
    rows = [
        ("runs with another ranking than the whole set", percent(stability.changed_share)),
        (
            "models with another rank: best, median, worst run",
            f"{stability.best}, {stability.median:g}, {stability.worst}",
        ),
        ("pairs of runs that rank differently", percent(stability.differing_pairs)),
        ("winner found, over pairs of models and runs", percent(success.rate)),
        ("no winner in the run", percent(success.inconclusive)),
        (
            "winning distance: true, estimated",
            f"{number(success.distance, 3)}, {number(success.estimated_distance, 3)}",
        ),
        ("bias of the estimated distance", number(success.bias, 3)),
        ("pairs without a winner, left out", str(success.tied)),
    ]
    console.print(make_table(("", ""), rows, numbers=1))
    notes(console, draws.notes)


# --- changes --------------------------------------------------------------------------------------


def show_changes(changes: Changes, console: Console | None = None) -> None:
    """Print what moved and what was ranked otherwise, and why."""
    console = console or make_console()
    line(console, str(changes), style="bold")
    line(console, f"before: {changes.before}")
    line(console, f"after: {changes.after}")
    columns = ("model", "before", "after", "change", "error", "in errors", "ranks", "group")
    console.print(make_table(columns, [_row(model) for model in changes.models], numbers=7))
    for reason in changes.reasons:
        line(console, f"why: {reason}")
    notes(console, changes.notes)


def _row(model: ModelChange) -> tuple[str, ...]:
    change = "-" if model.change is None else f"{model.change:+.4g}"
    ratio = "-" if model.ratio is None else f"{fixed(model.ratio, 1)}{' ←' if model.moved else ''}"
    return (
        model.model,
        number(model.before),
        number(model.after),
        change,
        number(model.error, 3),
        ratio,
        _transition(model.ranks_before, model.ranks_after),
        _transition(model.group_before, model.group_after),
    )


def _transition(earlier: object, later: object) -> str:
    """Return what did not change once, and what did with an arrow."""
    texts = ["-" if value is None else str(value) for value in (earlier, later)]
    return texts[0] if texts[0] == texts[1] else " → ".join(texts)
