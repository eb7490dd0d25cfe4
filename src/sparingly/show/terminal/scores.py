"""Estimated scores, rankings and expectations in the terminal."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.base.format import counted
from sparingly.base.format import percent as chance_text
from sparingly.infer.expect.expect import EVERY_LABEL, Expected
from sparingly.show.terminal.console import line, number, show_summary, show_table, wrapped

if TYPE_CHECKING:
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.ranking import Ranking

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
