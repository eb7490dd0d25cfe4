"""Soft pairwise accuracy of the paper's selectors: Figures 4 and 7, Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import points, table
from benchmarks.papers.settings import SUMMEVAL_ASPECTS, WMT23, Setting
from benchmarks.papers.work import Work
from benchmarks.papers.zouhar.beside import (
    BY_NOISE,
    NO_SOURCE_MODELS,
    NOISE,
    OTHER_METHODS,
    OTHER_SETS,
    SOURCE_BASED,
    beside,
    noise,
    page,
    random_note,
    selectors,
    why,
    with_options,
)
from benchmarks.papers.zouhar.spa import mark
from sparingly.infer.rank.compare import curve

_BOTH = ("published, output-based", SOURCE_BASED)
_WMT23_SETS = tuple(dict.fromkeys(setting.file for setting in WMT23))

PUBLISHED_FIG4 = {
    "random": (91.6,),
    "metric_avg": (92.5,),
    "metric_var": (93.0,),
    "metric_cons": (93.3,),
    "diversity": (93.0,),
    "irt": (92.7,),
}
# The legend of Figure 7 is a picture; its figures are the means of five rows of Table 10.
PUBLISHED_FIG7 = {
    "random": (92.9,),
    "metric_avg": (94.7,),
    "metric_var": (93.9,),
    "metric_cons": (94.7,),
    "diversity": (93.7,),
    "irt": (93.4,),
}
PUBLISHED_TABLE1 = {
    "random": (91.3, 91.3),
    "metric_avg": (92.4, 91.8),
    "metric_var": (92.6, 91.9),
    "metric_cons": (93.2, 93.0),
    "diversity": (92.9, 92.6),
    "irt": (92.4, 92.1),
}
PUBLISHED_TABLE2 = {
    "random": (87.2, 87.2),
    "metric_avg": (90.5, 88.2),
    "metric_var": (89.5, 88.7),
    "metric_cons": (89.3, 89.2),
    "diversity": (89.6, 89.0),
    "irt": (90.1, 89.2),
}
BALANCED, BY_DOCUMENT = "balance=domain", "unit=document"


def _seeing(settings: tuple[Setting, ...], *columns: str) -> tuple[Setting, ...]:
    return tuple(replace(setting, columns=columns) for setting in settings)


def _curves(computed: Figures) -> str:
    """Return what the figure draws: every selector at the budgets that are shown one by one."""
    parts = []
    for one in computed["settings"]:
        shown = list(one["random"]["at"])
        rows = [
            [
                f"`{row['method']}`",
                *(points(row["at"][share]) for share in shown),
                _marked(row, one["random"]),
            ]
            for row in (one["random"], *one["methods"])
        ]
        heads = [share.replace("%", " %") for share in shown]
        parts.append(f"{one['title']}, at some budgets:\n\n{table(['method', *heads, 'mean'], rows)}")
    return "\n\n".join(parts)


def _marked(row: Mapping[str, Any], random: Mapping[str, Any]) -> str:
    return f"{points(row['mean'])} {mark(row, random)}".strip()


def _fig4(work: Work) -> Figures:
    return selectors(work, work.settings(WMT23))


def _fig4_text(computed: Figures) -> str:
    return page(
        random_note(computed),
        beside(computed, PUBLISHED_FIG4),
        _curves(computed),
        why(OTHER_SETS, OTHER_METHODS),
    )


def _fig7(work: Work) -> Figures:
    return selectors(work, work.settings(SUMMEVAL_ASPECTS))


def _fig7_text(computed: Figures) -> str:
    return page(
        f"{random_note(computed)} Budgets are 25 to 75 % of the items. The numbers in the figure's legend "
        "are not in the text of the paper: shown as published are the means of its Table 10 over the same "
        "five.",
        beside(computed, PUBLISHED_FIG7),
        _curves(computed),
        why(
            "SummEval has 12 models here and 11 there, and the metric is GPT-4 asked for a rating where "
            "the paper has G-Eval, whose scores are not public.",
            OTHER_METHODS,
        ),
    )


def _table1(work: Work) -> Figures:
    return selectors(work, _seeing(work.settings(WMT23), "domain"), BALANCED)


def _table1_text(computed: Figures) -> str:
    return page(
        random_note(computed),
        beside(computed, PUBLISHED_TABLE1, _BOTH),
        why(
            OTHER_SETS,
            "As many items of every domain are taken while they last: of the smallest domains (58 and 123 "
            "items) all are taken before the budget is spent, and the others share what is left.",
            NO_SOURCE_MODELS,
        ),
    )


def _table2(work: Work) -> Figures:
    settings = _seeing(work.settings(WMT23), "document", "position")
    by_chance = work.each(lambda setting: _by_chance(work, setting), settings)
    return {**selectors(work, settings, BY_DOCUMENT), "by_chance": by_chance}


def _by_chance(work: Work, setting: Setting) -> float:
    """Return soft pairwise accuracy of the documents that are best by utilities drawn at random."""
    runs, method = work.effort.seeds, with_options(BY_NOISE, BY_DOCUMENT)

    def make() -> float:
        data = work.evalset(setting)
        found = (
            curve(
                data.with_metric("noise", noise(data, seed)),
                method,
                setting.truth,
                shares=setting.shares,
                seed=seed,
                runs=1,
            )
            for seed in range(runs)
        )
        return float(np.mean([one.curve.average for one in found]))

    key = {"what": NOISE, "method": method, "runs": runs, "shares": setting.shares}
    return round(float(work.cell(setting, key, make)), 6)


def _table2_text(computed: Figures) -> str:
    return page(
        random_note(computed),
        beside(computed, PUBLISHED_TABLE2, _BOTH),
        f"The same knapsack, filled by {NOISE}: "
        + "; ".join(
            f"{one['title']} {points(value)}"
            for one, value in zip(computed["settings"], computed["by_chance"], strict=True)
        )
        + ".",
        why(
            OTHER_SETS,
            "A document has the mean utility of its items and costs as many as it has. The best set of "
            "documents that fits the budget is one of many short documents, and most of what selectors "
            "gain over random documents they gain by that: see the line below the table.",
            NO_SOURCE_MODELS,
        ),
    )


FIG4 = PaperTable(
    "s0-fig4",
    "Zouhar et al. 2025, Figure 4: soft pairwise accuracy of output-based selectors, machine translation",
    _WMT23_SETS,
    _fig4,
    _fig4_text,
)
FIG7 = PaperTable(
    "s0-fig7",
    "Zouhar et al. 2025, Figure 7: soft pairwise accuracy of output-based selectors, summaries",
    ("summeval_llm12",),
    _fig7,
    _fig7_text,
)
TABLE1 = PaperTable(
    "s0-table1",
    "Zouhar et al. 2025, Table 1: selection with balanced domains",
    _WMT23_SETS,
    _table1,
    _table1_text,
)
TABLE2 = PaperTable(
    "s0-table2",
    "Zouhar et al. 2025, Table 2: selection of whole documents",
    _WMT23_SETS,
    _table2,
    _table2_text,
)
