"""Scores and rankings as tables for a paper: Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sparingly.base.errors import UnknownNameError
from sparingly.base.format import number_text, percent
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.report.markup import cell, code, latex

TableFormat = Literal["markdown", "latex"]


def ranking_table(ranking: Ranking, format: TableFormat = "markdown") -> str:
    """Return the table of a ranking as the shared tasks print it: rank range, score, standardised score.

    Groups are set off by a rule. Below the table stands who is best, what the numbers describe and what to
    mind.
    """
    grouped = len(ranking.groups) > 1
    rows = [
        (
            model.ranks,
            code(model.model),
            ranking.score_text(model),
            model.interval or "-",
            number_text(model.standardised),
            percent(model.chance_of_best),
            *(("" if model.group is None else str(model.group),) if grouped else ()),
        )
        for model in ranking.models
    ]
    breaks = [
        place
        for place in range(1, len(rows))
        if ranking.models[place].group != ranking.models[place - 1].group
    ]
    columns = [ranking.ranks_head, "model", ranking.scores_head, ranking.level_head, "standardised"]
    columns += ["P(best)", *(["group"] if grouped else [])]
    holds = f"Ranks hold for all models at once with {100 * (1 - ranking.alpha):g} % confidence."
    if ranking.target == "chosen":
        holds = "Ranks as if the items had been sampled at random, which they were not."
    below = (ranking.answer(code), ranking.headline, holds, *ranking.notes)
    return _table(columns, rows, below, format, breaks)


def score_table(estimate: Estimate, format: TableFormat = "markdown") -> str:
    """Return the table of estimated scores with their intervals, best first."""
    rows = [
        (
            code(estimate.models[place]),
            estimate.score_text(place),
            estimate.error_text(place),
            estimate.interval_text(place),
        )
        for place in estimate.order
    ]
    score, interval = f"score ({target_text(estimate.target)})", f"{100 * estimate.level:g} % interval"
    columns = ("model", score, "standard error", interval)
    return _table(columns, rows, (estimate.headline, *estimate.notes), format, [])


def _table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    below: Sequence[str],
    format: TableFormat,
    breaks: Sequence[int],
) -> str:
    if format == "markdown":
        lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        lines += [f"| {' | '.join(map(cell, row))} |" for row in rows]
        return "\n".join([*lines, "", *map(_sentence, below)]) + "\n"
    if format != "latex":
        raise UnknownNameError("format of a table", format, ("markdown", "latex"))
    lines = [f"\\begin{{tabular}}{{{'l' * len(columns)}}}", "\\hline", _latex_row(columns), "\\hline"]
    for place, row in enumerate(rows):
        lines += ["\\hline"] if place in breaks else []
        lines.append(_latex_row(row))
    lines += ["\\hline", "\\end{tabular}", "", *(latex(_sentence(text)) for text in below)]
    return "\n".join(lines) + "\n"


def _latex_row(row: Sequence[str]) -> str:
    return " & ".join(map(latex, row)) + r" \\"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
