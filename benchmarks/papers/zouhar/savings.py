"""The share of random selection's labels that a selector needs: Tables 5 and 6.

Ĉ/B with Ĉ = min{C | SPA(Y_C) ≥ SPA(Y_B random)} (Zouhar et al. 2025, eq. 12), mean over budgets B: what a
selector saves, or costs, where random selection would do as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import WORSE, table
from benchmarks.papers.settings import SUMMEVAL_ASPECTS, SUMMEVAL_JUDGE, WMT23, Setting
from benchmarks.papers.work import Work
from benchmarks.papers.zouhar.beside import (
    METHODS,
    NO_SOURCE_MODELS,
    OTHER_METHODS,
    OTHER_SETS,
    SELECTORS,
    SOURCE_BASED,
    page,
    why,
)
from benchmarks.papers.zouhar.parity import setting_figures
from benchmarks.papers.zouhar.spa import RANDOM

# Output-based, and source-based.
PUBLISHED_TABLE5 = {
    RANDOM: (100.0, 100.0),
    "metric_avg": (85.0, 106.9),
    "metric_var": (81.0, 97.2),
    "metric_cons": (71.4, 90.1),
    "diversity": (76.8, 78.7),
    "irt": (87.2, 91.5),
}
# Against people, and against G-Eval.
PUBLISHED_TABLE6 = {
    RANDOM: (100.0, 100.0),
    "metric_avg": (73.7, 84.0),
    "metric_var": (82.8, 84.7),
    "metric_cons": (70.6, 87.5),
    "diversity": (88.7, 89.2),
    "irt": (99.5, 78.6),
}
_RULES = ("first_crossing", "stays")
_TITLES = {"first_crossing": "first crossing", "stays": "from there on"}
_HOW = (
    "Labels needed for random selection's soft pairwise accuracy, in percent of random's, mean over "
    "budgets. *First crossing*, as published: the smallest size at which the selector reaches random's "
    "mean. *From there on*: the smallest size from which it never falls below it again. Both are divided "
    "by what held-out random orders need; targets are means of {runs} random orders. ▼: more than random."
)
_LUCK = (
    "A first crossing flatters curves that go up and down. Either way one set is one draw: single random "
    "orders lie between the two ends in the last line."
)


def _figures(work: Work, settings: Sequence[Setting]) -> Figures:
    found = work.each(lambda setting: setting_figures(work, setting, METHODS), settings)
    return {"parity_runs": work.effort.parity_runs, "settings": found}


def _share(value: float) -> str:
    return f"{100 * value:.0f} {WORSE if value > 1.0 else ''}".strip()


def _columns(settings: Sequence[Figures], name: str) -> list[str]:
    """Return a selector's means over settings by both rules."""
    if name == RANDOM:
        return ["100", "100"]
    return [_share(sum(one[rule][name] for one in settings) / len(settings)) for rule in _RULES]


def _each(settings: Sequence[Figures]) -> str:
    """Return every setting by itself, from there on."""
    rows = [[f"`{name}`", *(_share(one["stays"][name]) for one in settings)] for name in METHODS]
    ranges = ("–".join(f"{100 * end:.0f}" for end in one["random"]) for one in settings)
    rows.append([f"`{RANDOM}`, 5–95 % of single orders", *ranges])
    return "Set by set, from there on:\n\n" + table(["method", *(one["title"] for one in settings)], rows)


def _lines(published: Mapping[str, Sequence[float]], *parts: Sequence[Figures]) -> list[list[str]]:
    return [
        [
            f"`{name}`",
            SELECTORS[name],
            *(f"{value:.1f}" for value in published[name]),
            *(cell for part in parts for cell in _columns(part, name)),
        ]
        for name in SELECTORS
    ]


def _table5(work: Work) -> Figures:
    return _figures(work, work.settings(WMT23))


def _table5_text(computed: Figures) -> str:
    settings = computed["settings"]
    head = ["method", "published as", "published, output-based", SOURCE_BASED]
    head += [f"ours, {_TITLES[rule]}" for rule in _RULES]
    return page(
        _HOW.format(runs=computed["parity_runs"]),
        table(head, _lines(PUBLISHED_TABLE5, settings), texts=2),
        _each(settings),
        why(_LUCK, OTHER_SETS, OTHER_METHODS, NO_SOURCE_MODELS),
    )


def _table6(work: Work) -> Figures:
    people = _figures(work, work.settings(SUMMEVAL_ASPECTS))
    judge = _figures(work, work.settings((SUMMEVAL_JUDGE,)))
    return {**people, "judge": judge["settings"]}


def _table6_text(computed: Figures) -> str:
    settings, judge = computed["settings"], computed["judge"]
    head = ["method", "published as", "published, people", "published, G-Eval"]
    head += [f"ours, {who}, {_TITLES[rule]}" for who in ("people", "GPT-4") for rule in _RULES]
    return page(
        _HOW.format(runs=computed["parity_runs"]),
        table(head, _lines(PUBLISHED_TABLE6, settings, judge), texts=2),
        _each([*settings, *judge]),
        why(
            "SummEval has 12 models here and 11 there. The judge is GPT-4 asked for ratings where the "
            "paper has G-Eval, whose scores are not public; where GPT-4 is the truth, selectors see the "
            "very scores that are compared later, as it seems there too.",
            _LUCK,
            OTHER_METHODS,
        ),
    )


TABLE5 = PaperTable(
    "s0-table5",
    "Zouhar et al. 2025, Table 5: labels needed for random's accuracy, machine translation",
    tuple(dict.fromkeys(setting.file for setting in WMT23)),
    _table5,
    _table5_text,
)
TABLE6 = PaperTable(
    "s0-table6",
    "Zouhar et al. 2025, Table 6: labels needed for random's accuracy, summaries by people and by a judge",
    (SUMMEVAL_JUDGE.file,),
    _table6,
    _table6_text,
)
