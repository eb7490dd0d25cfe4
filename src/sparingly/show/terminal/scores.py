"""Estimated scores and rankings in the terminal."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from rich.console import Console

from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import EVERY_LABEL, Expected
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number, percent

_MOST_PAIRS = 12


def show_estimate(estimate: Estimate, out: Path | None = None, console: Console | None = None) -> None:
    """Print the scores with their intervals, those of parts of the set, what to mind, and the signature."""
    console = console or make_console()
    line(console, estimate.headline, style="bold")
    _show_scores(console, estimate)
    for name, part in estimate.groups.items():
        line(console, f"{name}: {part.n} judged items", style="bold")
        _show_scores(console, part)
    notes(console, estimate.notes)
    _show_origin(console, estimate, out)


def _show_scores(console: Console, estimate: Estimate) -> None:
    level = percent(estimate.level, 0)
    rows = [
        (
            estimate.models[place],
            number(estimate.scores[place]),
            number(estimate.standard_errors[place], 3),
            estimate.interval_text(place),
        )
        for place in estimate.order
    ]
    columns = ("model", "score", "standard error", f"{level} interval")
    console.print(make_table(columns, rows, numbers=3))


def show_ranking(ranking: Ranking, out: Path | None = None, console: Console | None = None) -> None:
    """Print the models in order with their possible ranks and groups, pairs, and the answer to a claim."""
    console = console or make_console()
    line(console, ranking.headline, style="bold")
    rows = [
        (
            model.ranks,
            model.model,
            number(model.score),
            number(model.standard_error, 3),
            fixed(model.standardised),
            percent(model.chance_of_best, 0),
            "-" if model.group is None else str(model.group),
        )
        for model in ranking.models
    ]
    columns = ("ranks", "model", "score", "standard error", "standardised", "best", "group")
    console.print(make_table(columns, rows, numbers=5))
    _show_pairs(console, ranking)
    if ranking.expected is not None:
        _show_expected(console, ranking, ranking.expected)
    notes(console, ranking.notes)
    _show_origin(console, ranking, out)
    if ranking.claim is not None:
        line(console, str(ranking.claim), style="bold")


def _show_pairs(console: Console, ranking: Ranking) -> None:
    """Print neighbours in the order: whether each is told apart from the next."""
    rows = []
    for place in range(min(len(ranking.models) - 1, _MOST_PAIRS)):
        better, worse = ranking.models[place], ranking.models[place + 1]
        full = None if ranking.full_set is None else float(ranking.full_set[place, place + 1])
        rows.append(
            (
                f"{better.model} over {worse.model}",
                number(float(ranking.p_values[place, place + 1]), 2),
                number(float(ranking.corrected[place, place + 1]), 2),
                number(full, 2),
            )
        )
    columns = (f"neighbours ({ranking.test} test)", "p", "p, corrected", "p of all items, predicted")
    console.print(make_table(columns, rows, numbers=3))


def show_expected(expected: Expected) -> None:
    """Print what judging everything is expected to say: the order, and neighbours with expected p-values."""
    _show_expected(make_console(), None, expected)


def _show_expected(console: Console, ranking: Ranking | None, expected: Expected) -> None:
    """Print neighbours in the expected order; beside a ranking, with the p-values of its test, too."""
    line(console, f"expected of judging everything: {' > '.join(expected.order)}", style="bold")
    tested = {} if ranking is None else {model.model: place for place, model in enumerate(ranking.models)}
    order, told = expected.order, expected.two_sided
    rows = []
    for better, worse in pairwise(order[: _MOST_PAIRS + 1]):
        own = None
        if ranking is not None and better in tested and worse in tested:
            own = float(ranking.p_values[tested[better], tested[worse]])
        told_p = number(float(told[expected.models.index(better), expected.models.index(worse)]), 2)
        rows.append((f"{better} over {worse}", told_p, *(() if ranking is None else (number(own, 2),))))
    heads = ("neighbours, as expected", "p, expected", *(() if ranking is None else ("p",)))
    console.print(make_table(heads, rows, numbers=len(heads) - 1))
    line(console, EVERY_LABEL)


def _show_origin(console: Console, result: Estimate | Ranking, out: Path | None) -> None:
    if result.signature is not None:
        line(console, f"signature: {result.signature}", style="dim")
    if out is not None:
        line(console, f"written to {out}")
