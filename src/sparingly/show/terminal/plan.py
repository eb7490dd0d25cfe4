"""A plan in the terminal: the answer first, then what budgets buy, then what was learned."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparingly.base.format import error_text
from sparingly.show.terminal.console import fixed, line, notes, percent, show_table

if TYPE_CHECKING:
    from sparingly.infer.plan.plan import Plan
    from sparingly.infer.plan.sample_size import SampleSize


def show_plan(plan: Plan, data: str | Sequence[str] = "DATA", limit: int = 5) -> None:
    """Print what to do, what budgets buy, and what the pilot tells; ``data`` names the files in commands."""
    first, *further = plan.advice.sentences
    line(first, style="bold")
    for sentence in (*further, plan.headline):
        line(sentence)
    _show_budgets(plan)
    # The metrics that agree best with what was judged come first.
    rows = [
        (correlation.metric, *map(fixed, (correlation.pooled, correlation.within, correlation.differences)))
        for correlation in plan.correlations[:limit]
    ]
    if rows:
        columns = ("metric", "over all outputs", "within items", "differences")
        show_table(columns, rows, title=f"Correlation with {plan.truth}", numbers=3)
    if (hidden := len(plan.correlations) - limit) > 0:
        line(f"… and {hidden} weaker ones (--json shows all)")
    for fact in plan.facts():
        line(fact)
    line("Next:")
    for command in plan.advice.commands(data):
        line(f"  {command}")
    notes(plan.notes)


def _show_budgets(plan: Plan) -> None:
    """Print what budgets buy; of one model there is only the width of its interval."""

    def size(value: float) -> str:
        # The unit stands below the table.
        return error_text(value, is_rate=plan.is_rate).removesuffix(" points")

    rows = []
    several = len(plan.models) > 1
    for row in plan.table:
        cells = [f"{row.n}{' *' if row.n == plan.needed else ''}", percent(row.share, 0)]
        cells.append(f"± {size(row.half_width)}")
        if several:
            cells.append(size(row.detectable))
            cells += [percent(share, 0) for share in (row.right_winner, row.right_pairs, row.right_order)]
        rows.append([*cells, fixed(row.hours, 1)])
    compared = ("difference", "right winner", "right pairs", "right order") if several else ()
    columns = ("items", "share", "scores", *compared, "hours")
    show_table(columns, rows, title="What a budget buys", numbers=len(columns))
    level, power = percent(plan.wanted.level, 0), percent(plan.wanted.power, 0)
    target = "on inputs like these" if plan.wanted.target == "population" else "on this set"
    model = "a middle model" if several else "the model"
    unit = ", in points" if plan.is_rate else ""
    line(f"scores: half-width of the {level} interval of {model}, on this set{unit}")
    if several:
        pairs = "" if len(plan.models) == 2 else ", corrected for all pairs"
        smallest = f"the smallest that is significant with a probability of {power} {target}{pairs}"
        line(f"difference: {smallest}{unit}")


def show_sample_size(size: SampleSize, data: str = "DATA") -> None:
    """Print how many labels a question needs, other goals, and what to do; ``data`` names the file."""
    line(size.answer, style="bold")
    rows = [(row.goal, f"{row.n:,}{' *' if row.goal == size.goal else ''}") for row in size.alternatives]
    show_table(("goal", size.unit), rows, numbers=1)
    for note in size.notes:
        line(note)
    line("Next, with your outputs in DATA:" if data == "DATA" else "Next:")
    for command in size.commands:
        line(f"  {command.replace('DATA', shlex.quote(data))}")
