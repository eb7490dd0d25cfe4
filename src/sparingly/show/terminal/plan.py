"""A plan in the terminal: the answer first, then what budgets buy, then what was learned."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.console import Console

from sparingly.base.format import error_text
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, percent

if TYPE_CHECKING:
    from sparingly.infer.plan.outlook import Precision
    from sparingly.infer.plan.plan import Plan
    from sparingly.infer.plan.sample_size import SampleSize


def show_plan(plan: Plan, data: str = "DATA", console: Console | None = None, limit: int = 5) -> None:
    """Print what to do, what budgets buy, and what the pilot tells; ``data`` names the file in commands."""
    console = console or make_console()
    first, *further = plan.advice.sentences
    line(console, first, style="bold")
    for sentence in (*further, plan.headline):
        line(console, sentence)
    _show_table(console, plan)
    _show_correlations(console, plan, limit)
    for fact in plan.facts():
        line(console, fact)
    line(console, "Next:")
    for command in plan.advice.commands(data):
        line(console, f"  {command}")
    notes(console, plan.notes)


def show_sample_size(size: SampleSize, data: str = "DATA", console: Console | None = None) -> None:
    """Print how many labels a question needs, other goals, and what to do; ``data`` names the file."""
    console = console or make_console()
    line(console, size.answer, style="bold")
    rows = [(row.goal, f"{row.n:,}{' *' if row.goal == size.goal else ''}") for row in size.alternatives]
    console.print(make_table(("goal", size.unit), rows, numbers=1))
    for note in size.notes:
        line(console, note)
    line(console, "Next, with your outputs in DATA:" if data == "DATA" else "Next:")
    for command in size.commands:
        line(console, f"  {command.replace('DATA', shlex.quote(data))}")


def _show_correlations(console: Console, plan: Plan, limit: int) -> None:
    """Print how the metrics agree with what was judged, the best by differences first."""
    rows = [
        (
            correlation.metric,
            fixed(correlation.pooled),
            fixed(correlation.within),
            fixed(correlation.differences),
        )
        for correlation in plan.correlations[:limit]
    ]
    if rows:
        columns = ("metric", "over all outputs", "within items", "differences")
        console.print(make_table(columns, rows, title=f"Correlation with {plan.truth}", numbers=3))
    if (hidden := len(plan.correlations) - limit) > 0:
        line(console, f"… and {hidden} weaker ones (--json shows all)")


def _show_table(console: Console, plan: Plan) -> None:
    """Print what budgets buy; of one model there is only the width of its interval."""
    several = len(plan.models) > 1
    rows = [
        (
            f"{row.n}{' *' if row.n == plan.needed else ''}",
            percent(row.share, 0),
            f"± {_size(row.half_width, plan.is_rate)}",
            *(_comparisons(row, plan.is_rate) if several else ()),
            fixed(row.hours, 1),
        )
        for row in plan.table
    ]
    compared = ("difference", "right winner", "right pairs", "right order") if several else ()
    columns = ("items", "share", "scores", *compared, "hours")
    console.print(make_table(columns, rows, title="What a budget buys", numbers=len(columns)))
    level, power = percent(plan.wanted.level, 0), percent(plan.wanted.power, 0)
    target = "on inputs like these" if plan.wanted.target == "population" else "on this set"
    model = "a middle model" if several else "the model"
    unit = ", in points" if plan.is_rate else ""
    line(console, f"scores: half-width of the {level} interval of {model}, on this set{unit}")
    if several:
        pairs = "" if len(plan.models) == 2 else ", corrected for all pairs"
        smallest = f"the smallest that is significant with a probability of {power} {target}{pairs}"
        line(console, f"difference: {smallest}{unit}")


def _comparisons(row: Precision, is_rate: bool) -> tuple[str, ...]:
    return (
        _size(row.detectable, is_rate),
        percent(row.right_winner, 0),
        percent(row.right_pairs, 0),
        percent(row.right_order, 0),
    )


def _size(value: float, is_rate: bool) -> str:
    """Return a half-width or a difference without its unit, which stands below the table."""
    return error_text(value, is_rate=is_rate).removesuffix(" points")
