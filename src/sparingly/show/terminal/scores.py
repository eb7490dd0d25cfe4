"""Estimated scores, rankings and strengths in the terminal."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from sparingly.base.format import counted
from sparingly.base.format import percent as chance_text
from sparingly.infer.expect.expect import EVERY_LABEL, Expected
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number, percent

if TYPE_CHECKING:
    from sparingly.infer.estimate.bradley_terry import BradleyTerry
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.ranking import RankedModel, Ranking

# --- scores and rankings --------------------------------------------------------------------------


_MOST_PAIRS = 12


def show_estimate(estimate: Estimate, out: Path | None = None, console: Console | None = None) -> None:
    """Print the scores with their intervals, those of parts of the set, what to mind, and the signature."""
    console = console or make_console()
    line(console, estimate.headline, style="bold")
    _show_scores(console, estimate)
    for name, part in estimate.groups.items():
        line(console, f"{name}: {counted(part.n, 'judged item')}", style="bold")
        _show_scores(console, part)
    notes(console, estimate.notes)
    _show_origin(console, estimate, out)


def _show_scores(console: Console, estimate: Estimate) -> None:
    level = percent(estimate.level, 0)
    rows = [
        (
            estimate.models[place],
            estimate.score_text(place),
            estimate.error_text(place),
            estimate.interval_text(place),
        )
        for place in estimate.order
    ]
    columns = ("model", "score", "standard error", f"{level} interval")
    console.print(make_table(columns, rows, numbers=3))


def show_ranking(ranking: Ranking, out: Path | None = None, console: Console | None = None) -> None:
    """Print who is best, the models with their possible ranks, pairs, and the answer to a claim."""
    console = console or make_console()
    line(console, ranking.answer(), style="bold")
    line(console, ranking.headline)
    columns = [_broken(ranking.ranks_head), "model", _broken(ranking.scores_head), "standard\nerror"]
    columns += [ranking.level_head, "chance\nof best"]
    rows = [
        [
            model.ranks,
            model.model,
            ranking.score_text(model),
            ranking.error_text(model),
            model.interval or "-",
            chance_text(model.chance_of_best),
        ]
        for model in ranking.models
    ]
    if len(ranking.groups) > 1:
        columns.append("group")
        for row, model in zip(rows, ranking.models, strict=True):
            row.append("-" if model.group is None else str(model.group))
    console.print(make_table(columns, rows, numbers=len(columns) - 2))
    _show_pairs(console, ranking)
    if ranking.expected is not None:
        _show_expected(console, ranking, ranking.expected)
    notes(console, ranking.notes)
    _show_origin(console, ranking, out)
    if ranking.claim is not None:
        line(console, str(ranking.claim), style="bold")


def _broken(head: str) -> str:
    """Return the head of a column in short lines: what it is, and what it speaks of."""
    return head.replace(" (", "\n(", 1).replace("inputs like", "inputs\nlike")


def _show_pairs(console: Console, ranking: Ranking) -> None:
    """Print neighbours in the order: whether each is significantly better than the next."""
    better, shows = ranking.decisions.better, ranking.would_be_significant
    rows = []
    for place in range(min(len(ranking.models) - 1, _MOST_PAIRS)):
        first, second = ranking.models[place], ranking.models[place + 1]
        row = [_pair_name(first, second), number(float(ranking.p_values[place, place + 1]), 2)]
        row.append(number(float(ranking.corrected[place, place + 1]), 2))
        row.append("yes" if better[place, place + 1] else "no")
        rows.append(row if shows is None else [*row, chance_text(float(shows[place, place + 1]))])
    columns = [f"neighbours ({ranking.test} test)", "p", "p, corrected", "significant"]
    columns += [] if shows is None else ["judging everything\nwould show it"]
    console.print(make_table(columns, rows, numbers=len(columns) - 1))


def _pair_name(first: RankedModel, second: RankedModel) -> str:
    """Return two neighbours: which one is over the other, or that their scores are the same."""
    tied = first.score is not None and first.score == second.score
    return f"{first.model} and {second.model}, tied" if tied else f"{first.model} over {second.model}"


def show_expected(expected: Expected) -> None:
    """Print what judging everything is expected to say: the order, and neighbours with expected p-values."""
    _show_expected(make_console(), None, expected)


def _show_expected(console: Console, ranking: Ranking | None, expected: Expected) -> None:
    """Print neighbours in the expected order; beside a ranking, with the p-values of its test, too.

    An expected p-value comes with its 95 % interval.
    """
    line(console, f"Expected order if everything were judged: {', '.join(expected.order)}", style="bold")
    tested = {} if ranking is None else {model.model: place for place, model in enumerate(ranking.models)}
    middle, (low, high) = expected.two_sided, expected.two_sided_range()
    rows = []
    for better, worse in pairwise(expected.order[: _MOST_PAIRS + 1]):
        at = expected.models.index(better), expected.models.index(worse)
        row = [f"{better} over {worse}", number(float(middle[at]), 2)]
        row.append(f"{number(float(low[at]), 2)} to {number(float(high[at]), 2)}")
        if ranking is not None:
            both_tested = better in tested and worse in tested
            row.append(
                number(float(ranking.p_values[tested[better], tested[worse]]), 2) if both_tested else "-"
            )
        rows.append(row)
    heads = ["neighbours, as expected", "p, expected", "95 % interval"]
    heads += [] if ranking is None else ["p, now"]
    console.print(make_table(heads, rows, numbers=len(heads) - 1))
    line(console, EVERY_LABEL)


def _show_origin(console: Console, result: Estimate | Ranking, out: Path | None) -> None:
    if result.signature is not None:
        line(console, f"signature: {result.signature}", style="dim")
    if out is not None:
        line(console, f"written to {out}")


# --- strengths ------------------------------------------------------------------------------------


def show_strengths(strengths: BradleyTerry, console: Console | None = None) -> None:
    """Print the models from the strongest on, what else sways people, and what to mind."""
    console = console or make_console()
    line(
        console,
        f"strengths of {counted(len(strengths.models), 'model')} from "
        f"{counted(strengths.comparisons, 'comparison')} (Bradley–Terry)",
        style="bold",
    )
    level = percent(strengths.level, 0)
    rows = [
        (
            strengths.models[at],
            fixed(strengths.strengths[at]),
            fixed(strengths.standard_errors[at]),
            fixed(strengths.low[at]),
            fixed(strengths.high[at]),
        )
        for at in np.argsort(-np.nan_to_num(strengths.strengths, nan=-np.inf), kind="stable")
    ]
    console.print(make_table(("model", "strength", "standard error", f"{level} from", "to"), rows, numbers=4))
    for name, (effect, error) in strengths.effects.items():
        line(console, f"{name}: one standard deviation more adds {fixed(effect)} ± {fixed(error)}")
    notes(console, strengths.notes)
