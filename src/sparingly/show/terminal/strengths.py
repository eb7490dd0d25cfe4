"""Strengths from comparisons in the terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from sparingly.base.format import counted
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, percent


def show_strengths(found: BradleyTerry, console: Console | None = None) -> None:
    """Print the models from the strongest on, what else sways people, and what to mind."""
    console = console or make_console()
    line(
        console,
        f"strengths of {counted(len(found.models), 'model')} from {counted(found.comparisons, 'comparison')} "
        "(Bradley–Terry)",
        style="bold",
    )
    level = percent(found.level, 0)
    rows = [
        (
            found.models[at],
            fixed(found.strengths[at]),
            fixed(found.standard_errors[at]),
            fixed(found.low[at]),
            fixed(found.high[at]),
        )
        for at in np.argsort(-np.nan_to_num(found.strengths, nan=-np.inf), kind="stable")
    ]
    console.print(make_table(("model", "strength", "standard error", f"{level} from", "to"), rows, numbers=4))
    for name, (effect, error) in found.effects.items():
        line(console, f"{name}: one standard deviation more adds {fixed(effect)} ± {fixed(error)}")
    notes(console, found.notes)
