"""A plan in the terminal: the answer first, then what budgets buy, then what was learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparingly.show.terminal.console import fixed, line, percent, show_summary, show_table, wrapped

if TYPE_CHECKING:
    from sparingly.infer.plan.plan import Plan


def show_plan(
    plan: Plan, typed: str = "DATA", limit: int = 5, *, in_campaign: bool = False, verbose: bool = False
) -> None:
    """Print what to do and what budgets buy; metrics and what the columns mean if ``verbose``.

    A campaign draws its own rounds, so there the next step is to go on.
    """
    summary = plan.summary()
    show_summary(
        replace(summary, next_steps=("sparingly serve DATA",)) if in_campaign else summary,
        typed,
        verbose=verbose,
        details=(lambda: _show_details(plan, limit)) if verbose else None,
    )


def _show_details(plan: Plan, limit: int) -> None:
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
