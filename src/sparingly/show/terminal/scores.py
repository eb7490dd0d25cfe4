"""Estimated scores, rankings and strengths in the terminal."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.format import counted
from sparingly.base.format import percent as chance_text
from sparingly.infer.expect.expect import EVERY_LABEL, Expected
from sparingly.show.terminal.console import fixed, line, notes, number, percent, show_path, show_table

if TYPE_CHECKING:
    from sparingly.infer.estimate.bradley_terry import BradleyTerry
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.ranking import Ranking

_MOST_PAIRS = 12


def show_estimate(estimate: Estimate, out: Path | None = None) -> None:
    """Print the scores with their intervals, those of parts of the set, what to mind, and the signature."""
    line(estimate.headline, style="bold")
    _show_scores(estimate)
    for name, part in estimate.groups.items():
        line(f"{name}: {counted(part.n, 'judged item')}", style="bold")
        _show_scores(part)
    notes(estimate.notes)
    _show_origin(estimate, out)


def _show_scores(estimate: Estimate) -> None:
    rows = [
        (
            estimate.models[place],
            estimate.score_text(place),
            estimate.error_text(place),
            estimate.interval_text(place),
        )
        for place in estimate.order
    ]
    level = percent(estimate.level, 0)
    show_table(("model", "score", "standard error", f"{level} interval"), rows, numbers=3)


def show_ranking(ranking: Ranking, out: Path | None = None) -> None:
    """Print who is best, the models with their possible ranks, pairs, and the answer to a claim."""
    line(ranking.answer(), style="bold")
    line(ranking.headline)
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
    show_table(columns, rows, numbers=len(columns) - 2)
    _show_pairs(ranking)
    if ranking.expected is not None:
        show_expected(ranking.expected, ranking)
    notes(ranking.notes)
    _show_origin(ranking, out)
    if ranking.claim is not None:
        line(str(ranking.claim), style="bold")


def _broken(head: str) -> str:
    """Return the head of a column in short lines: what it is, and what it speaks of."""
    return head.replace(" (", "\n(", 1).replace("inputs like", "inputs\nlike")


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
    columns += [] if shows is None else ["judging everything\nwould show it"]
    show_table(columns, rows, numbers=len(columns) - 1)


def show_expected(expected: Expected, ranking: Ranking | None = None) -> None:
    """Print what judging everything is expected to say: the order, and neighbours with expected p-values.

    An expected p-value comes with its 95 % interval; beside a ranking, with the p-value of its test, too.
    """
    line(f"Expected order if everything were judged: {', '.join(expected.order)}", style="bold")
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
    line(EVERY_LABEL)


def _show_origin(result: Estimate | Ranking, out: Path | None) -> None:
    if result.signature is not None:
        line(f"signature: {result.signature}", style="dim")
    show_path(out)


def show_strengths(strengths: BradleyTerry) -> None:
    """Print the models from the strongest on, what else sways people, and what to mind."""
    line(strengths.headline, style="bold")
    numbers = (strengths.strengths, strengths.standard_errors, strengths.low, strengths.high)
    rows = [
        (strengths.models[at], *(fixed(column[at]) for column in numbers))
        for at in np.argsort(-np.nan_to_num(strengths.strengths, nan=-np.inf), kind="stable")
    ]
    level = percent(strengths.level, 0)
    show_table(("model", "strength", "standard error", f"{level} from", "to"), rows, numbers=4)
    for name, (effect, error) in strengths.effects.items():
        line(f"{name}: one standard deviation more adds {fixed(effect)} ± {fixed(error)}")
    notes(strengths.notes)
