"""The share of random selection's labels that a selector needs: Tables 5 and 6.

Ĉ/B with Ĉ = min{C | SPA(Y_C) ≥ SPA(Y_B random)} (Zouhar et al. 2025, eq. 12), mean over budgets B: what a
selector saves, or costs, where random selection would do as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.pages import WORSE, points, signed, table
from benchmarks.papers.catalogue import Figures, PaperTable
from benchmarks.papers.work import SUMMEVAL_ASPECTS, SUMMEVAL_JUDGE, WMT23, Setting, Work, averages, rounded
from benchmarks.papers.zouhar.parity import setting_figures
from benchmarks.papers.zouhar.sets import (
    BY_MINILM,
    BY_NOISE,
    METHODS,
    NO_SOURCE_MODELS,
    NOISE,
    OTHER_METHODS,
    OTHER_SETS,
    SELECTORS,
    SOURCE_BASED,
    noise,
    of_published,
    page,
    why,
    with_options,
)
from benchmarks.papers.zouhar.spa import RANDOM
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import full_set, judged_part
from sparingly.infer.rank.curve import curve
from sparingly.signals.cost import LENGTH, item_costs

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
    return [_share(sum(setting[rule][name] for setting in settings) / len(settings)) for rule in _RULES]


def _each(settings: Sequence[Figures]) -> str:
    """Return every setting by itself, from there on."""
    rows = [[f"`{name}`", *(_share(setting["stays"][name]) for setting in settings)] for name in METHODS]
    ranges = ("–".join(f"{100 * end:.0f}" for end in setting["random"]) for setting in settings)
    rows.append([f"`{RANDOM}`, 5–95 % of single orders", *ranges])
    return "Set by set, from there on:\n\n" + table(
        ["method", *(setting["title"] for setting in settings)], rows
    )


def _lines(published: Mapping[str, Sequence[float]], *parts: Sequence[Figures]) -> list[list[str]]:
    return [
        [
            f"`{name}`",
            SELECTORS[name],
            *(f"{value:.1f}" for value in of_published(name, published)),
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


# --- Selection under a cost in seconds -------------------------------------------------------------------
# max Σ_i z_i u_i subject to Σ_i z_i c_i ≤ B (Zouhar et al. 2025, eq. 2) with c_i = 0.15·|source| + 33.7
# seconds. Whether to count seconds in place of items when a budget is given is what the table decides.


# Zouhar et al. 2025, Table 3: accuracy and its gain over selection by count, output-based and source-based.
PUBLISHED = {
    RANDOM: ((93.9, 2.3), (93.9, 2.3)),
    "metric_avg": ((94.6, 2.1), (93.7, 1.2)),
    "metric_var": ((94.8, 1.8), (93.9, 0.9)),
    "metric_cons": ((94.5, 1.2), (94.3, 1.0)),
    "diversity": ((94.4, 1.4), (94.2, 1.2)),
    "irt": ((94.7, 1.9), (94.2, 1.5)),
}
SECONDS, EXCESS = "seconds", "excess"
COSTS = {
    SECONDS: "Costs in seconds, 0.15 · words + 33.7",
    EXCESS: "Costs as the published code has them: the same less those of the cheapest item, which is free",
}


def _cost_figures(work: Work) -> Figures:
    return {
        "random_runs": work.effort.random_runs,
        "settings": work.each(lambda setting: _setting(work, setting), work.settings(WMT23)),
    }


def _setting(work: Work, setting: Setting) -> Figures:
    runs = dict.fromkeys(METHODS, 1) | {RANDOM: work.effort.random_runs, NOISE: work.effort.seeds}
    methods = {}
    for name in (*SELECTORS, NOISE):
        known = RANDOM if name == NOISE else name
        count = averages(work.curves(setting, known, runs[known]), setting).mean()
        found = {cost: _mean(work, setting, name, cost, runs[name]) for cost in COSTS}
        methods[name] = {**found, "count": rounded(float(count))}
    return {"title": setting.title, "methods": methods}


def _mean(work: Work, setting: Setting, method: str, cost: str, runs: int) -> Figures:
    """Return soft pairwise accuracy and the share of items that are judged, means over budgets and runs."""
    key = {"what": "cost", "method": method, "cost": cost, "runs": runs, "shares": setting.shares}

    def make() -> list[float]:
        data, text = (work.evalset(setting), method) if method == NOISE else work.given(setting, method)
        part = _with_costs(judged_part(data, setting.truth)[0])
        found = [_points(part, setting, text, cost, seed) for seed in range(runs)]
        return [float(value) for value in np.mean(found, axis=(0, 1))]

    accuracy, items = work.cell(setting, key, make)
    return {"accuracy": rounded(accuracy), "items": rounded(items)}


def _with_costs(part: EvalSet) -> EvalSet:
    costs, _ = item_costs(part, LENGTH)
    return part.with_column(SECONDS, costs).with_column(EXCESS, costs - costs.min())


def _points(part: EvalSet, setting: Setting, method: str, cost: str, seed: int) -> list[tuple[float, float]]:
    """Return soft pairwise accuracy, and the share of items judged, at every share of the whole cost."""
    full = full_set(part, setting.truth, seed=seed)
    if method == NOISE:
        part, method = part.with_metric("noise", noise(part, seed)), BY_NOISE
    total = float(np.sum(item_costs(part, cost)[0]))
    text = with_options(method, f"cost={cost}")
    return [_point(part, full, text, Budget("cost", share * total), seed) for share in setting.shares]


def _point(part: EvalSet, full: FullSet, method: str, budget: Budget, seed: int) -> tuple[float, float]:
    rows = part.positions(select(part, method, budget, seed=seed).items)
    return float(curve(full, rows, [len(rows)]).values[0]), len(rows) / len(part)


def _text(computed: Figures) -> str:
    parts = [f"{title}:\n\n{_table(computed['settings'], cost)}" for cost, title in COSTS.items()]
    return page(
        "Soft pairwise accuracy in percent at 5 to 50 % of the whole cost, mean over budgets; in brackets "
        "the gain over as large a share of the items, and the mean share of the items that are judged. "
        f"Random selection is the mean of {computed['random_runs']} runs.",
        *parts,
        why(
            "The published costs are shifted so that the cheapest item is free. The 33.7 seconds that "
            "every item takes are gone, a budget holds far more items than it can pay for, and all "
            "selectors gain, the random one too: a knapsack filled by random utilities takes cheap items "
            "first (the last lines). With the costs as fitted a knapsack gains nothing to speak of, and "
            "loses where short items tell models apart less.",
            OTHER_SETS,
            NO_SOURCE_MODELS,
        ),
    )


def _table(settings: Sequence[Figures], cost: str) -> str:
    rows = []
    for name in (*SELECTORS, NOISE):
        pairs = () if name == NOISE else PUBLISHED["diversity" if name == BY_MINILM else name]
        theirs = [f"{mean:.1f} ({signed(gain / 100)})" for mean, gain in pairs]
        found = [one["methods"][name] for one in settings]
        accuracy, items = (np.mean([one[cost][what] for one in found]) for what in ("accuracy", "items"))
        mean = _cell(accuracy, accuracy - np.mean([one["count"] for one in found]), items)
        cells = (
            _cell(one[cost]["accuracy"], one[cost]["accuracy"] - one["count"], one[cost]["items"])
            for one in found
        )
        method = f"*{NOISE}*" if name == NOISE else f"`{name}`"
        rows.append([method, SELECTORS.get(name, "–"), *(theirs or "––"), mean, *cells])
    head = ["method", "published as", "published, output-based", SOURCE_BASED, "ours, mean"]
    return table([*head, *(one["title"] for one in settings)], rows, texts=2)


def _cell(accuracy: float, gain: float, items: float) -> str:
    return f"{points(accuracy)} ({signed(gain)}; {100 * items:.0f} %)"


TABLE3 = PaperTable(
    "s0-table3",
    "Zouhar et al. 2025, Table 3: selection under a cost in seconds",
    tuple(dict.fromkeys(setting.file for setting in WMT23)),
    _cost_figures,
    _text,
)
