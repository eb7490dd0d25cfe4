"""Selection under a cost in seconds: Table 3.

max Σ_i z_i u_i subject to Σ_i z_i c_i ≤ B (Zouhar et al. 2025, eq. 2) with c_i = 0.15·|source| + 33.7
seconds. Whether to count seconds in place of items when a budget is given is what the table decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import points, signed, table
from benchmarks.papers.settings import WMT23, Setting
from benchmarks.papers.work import Work, averages, rounded
from benchmarks.papers.zouhar.beside import (
    BY_NOISE,
    METHODS,
    NO_SOURCE_MODELS,
    NOISE,
    OTHER_SETS,
    SELECTORS,
    SOURCE_BASED,
    noise,
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


def _figures(work: Work) -> Figures:
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
        part = _with_costs(judged_part(work.evalset(setting), setting.truth)[0])
        found = [_points(part, setting, method, cost, seed) for seed in range(runs)]
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
        theirs = [f"{mean:.1f} ({signed(gain / 100)})" for mean, gain in PUBLISHED.get(name, ())]
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
    _figures,
    _text,
)
