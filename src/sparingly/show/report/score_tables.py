"""Scores and rankings as tables for a paper: Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sparingly.base.errors import UnknownNameError
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.report.markup import cell, code, latex

TableFormat = Literal["markdown", "latex"]
_RANKING = ("ranks", "model", "score", "standardised", "P(best)", "group")
_SCORES = ("model", "score", "standard error", "low", "high")


def ranking_table(ranking: Ranking, format: TableFormat = "markdown") -> str:
    """Return the table of a ranking as the shared tasks print it: rank range, score, standardised score.

    Groups of models that are not told apart are set off by a rule. Below the table stands what it speaks
    about and what to mind.
    """
    rows = [
        (
            model.ranks,
            code(model.model),
            _number(model.score),
            _number(model.standardised),
            "-" if model.chance_of_best is None else f"{model.chance_of_best:.2f}",
            "" if model.group is None else str(model.group),
        )
        for model in ranking.models
    ]
    breaks = [
        place
        for place in range(1, len(rows))
        if ranking.models[place].group != ranking.models[place - 1].group
    ]
    return _table(
        _RANKING, rows, (f"{_sentence(ranking.headline)} {_how(ranking)}", *ranking.notes), format, breaks
    )


def _how(ranking: Ranking) -> str:
    """Say how ranks and groups were found, and whether they hold."""
    if ranking.groups_by == "algorithm1":
        return "Groups by Algorithm 1 of Zouhar et al. (2025), without correction for many tests."
    if ranking.groups_by == "mt_metrics_eval":
        return "Groups by the rule of mt-metrics-eval, without correction for many tests."
    if ranking.target == "chosen":
        return "Ranks and groups by max-t, as if the items had been drawn at random."
    level = f"{100 * (1 - ranking.alpha):g} %"
    return f"Ranks and groups hold for all models at once with {level} confidence (max-t)."


def score_table(estimate: Estimate, format: TableFormat = "markdown") -> str:
    """Return the table of estimated scores with their intervals, best first."""
    rows = [
        (
            code(estimate.models[place]),
            *(
                _number(float(part[place]))
                for part in (estimate.scores, estimate.standard_errors, estimate.low, estimate.high)
            ),
        )
        for place in estimate.order
    ]
    what = f"{_sentence(estimate.headline)} {100 * estimate.level:g} % intervals."
    return _table(_SCORES, rows, (what, *estimate.notes), format, [])


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
    return (
        "\n".join([*lines, "\\hline", "\\end{tabular}", "", *(latex(_sentence(text)) for text in below)])
        + "\n"
    )


def _latex_row(row: Sequence[str]) -> str:
    return " & ".join(map(latex, row)) + r" \\"


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.4g}"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
