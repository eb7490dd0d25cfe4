"""Parity: the share of random selection's labels that a method needs for the same soft pairwise accuracy.

``sparingly.parity`` answers this for one method. Here random selection's own curves, which are most of the
work, are drawn once for all methods; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.pages import WORSE, bold, table
from benchmarks.papers.work import MAIN, SUMMEVAL_ASPECTS, SUMMEVAL_JUDGE, WMT23, Setting, Work, rounded
from sparingly.base.arrays import Ints
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.compare import full_set, judged_part
from sparingly.infer.rank.curve import ParityRule, RandomParity, random_parity

Figures = dict[str, Any]

# The methods whose smaller choices lie inside their larger ones.
METHODS = (
    "metric_avg",
    "metric_var",
    "metric_cons",
    "metric_cons:correlation=kendall",
    "metric_cons:correlation=pairwise",
    "diversity",
    "diversity:similarity=unigram",
    "diversity:similarity=chrf",
    "diversity:similarity=bleu",
    "irt",
    "irt:utility=difficulty",
    "irt:utility=discrimination",
    "irt:utility=feasibility",
    "irt:utility=information",
    "mix:of=(metric_var)+(metric_cons)",
    "mix:of=(metric_var)+(diversity)",
    "max_norm",
)
RULES: tuple[ParityRule, ...] = ("stays", "first_crossing")
# Zouhar et al. 2025: Table 5 (WMT23, output-based), Table 6 (SummEval by people and by G-Eval).
PUBLISHED = {
    "metric_avg": (0.850, 0.737, 0.840),
    "metric_var": (0.810, 0.828, 0.847),
    "metric_cons": (0.714, 0.706, 0.875),
    "diversity": (0.768, 0.887, 0.892),
    "irt": (0.872, 0.995, 0.786),
}
SETTINGS = (*MAIN, SUMMEVAL_JUDGE, *SUMMEVAL_ASPECTS[1:])


def figures(work: Work) -> Figures:
    """Compute what every method needs in every setting, by both rules."""
    return {"settings": [setting_figures(work, setting) for setting in work.settings(SETTINGS)]}


def setting_figures(work: Work, setting: Setting, methods: Sequence[str] = METHODS) -> Figures:
    """Return the share of random's labels, by rule and method, and the range of single random orders."""
    runs = work.effort.parity_runs
    data = cache(lambda: judged_part(work.evalset(setting), setting.truth)[0])

    def orders(method: str, seed: int) -> Ints:
        seen, text = work.given(setting, method)
        part = judged_part(seen, setting.truth)[0]
        return data().positions(select(part, text, "100%", seed=seed).items)

    randoms = {rule: cache(_shared(data, setting, rule, runs)) for rule in RULES}

    def share(rule: ParityRule, method: str, seed: int = 0) -> float:
        return float(randoms[rule]().of(orders(method, seed)).share)

    def all_shares() -> Figures:
        needed: Figures = {
            rule: {method: rounded(share(rule, method)) for method in methods} for rule in RULES
        }
        # Seeds of their own, far from those of the targets and of the curves.
        found = [share("stays", "random", seed=100_000 + run) for run in range(runs)]
        return {**needed, "random": [rounded(float(end)) for end in np.quantile(found, [0.05, 0.95])]}

    key = {"what": "parity", "methods": methods, "runs": runs}
    found = work.cell(setting, key, all_shares)
    return {"name": setting.name, "title": setting.title, **work.about(setting), "runs": runs, **found}


def _shared(
    data: Callable[[], EvalSet], setting: Setting, rule: ParityRule, runs: int
) -> Callable[[], RandomParity]:
    def make() -> RandomParity:
        full = full_set(data(), setting.truth)
        return random_parity(full, shares=setting.shares, rule=rule, runs=runs)

    return make


def blocks(computed: Figures) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    by_name = {one["name"]: one for one in computed["settings"]}
    shown = [by_name[one.name] for one in (*MAIN, SUMMEVAL_JUDGE) if one.name in by_name]
    return {"parity": _needed(shown or computed["settings"]), "parity-published": _beside(by_name)}


def _needed(settings: Sequence[Figures]) -> str:
    rows = [["`random`", *["100 %"] * len(settings)]]
    ranges = ["–".join(f"{100 * end:.0f}" for end in setting["random"]) + " %" for setting in settings]
    rows.append(["`random`, 5–95 % of single orders", *ranges])
    for method in METHODS:
        rows.append([f"`{method}`", *(_share(setting["stays"], method) for setting in settings)])
    return table(["method", *(setting["title"] for setting in settings)], rows)


def _share(shares: Mapping[str, float], method: str) -> str:
    value = shares[method]
    text = bold(f"{100 * value:.0f} %", value == min(*shares.values(), 1.0))
    return f"{text} {WORSE}" if value > 1.0 else text


def _beside(by_name: Mapping[str, Figures]) -> str:
    """Return the published figures beside the means over our settings that are nearest to theirs."""
    columns = (
        ("WMT23", 0, [one.name for one in WMT23]),
        ("SummEval, people", 1, [one.name for one in SUMMEVAL_ASPECTS]),
        ("SummEval, LLM judge", 2, [SUMMEVAL_JUDGE.name]),
    )
    head = ["method"]
    for title, _, _ in columns:
        head += [f"{title}: published", "first crossing", "stays"]
    rows = []
    for method, published in PUBLISHED.items():
        cells = [f"`{method}`"]
        for _, place, names in columns:
            cells.append(f"{100 * published[place]:.1f} %")
            cells += [_mean_share(by_name, names, rule, method) for rule in ("first_crossing", "stays")]
        rows.append(cells)
    return table(head, rows)


def _mean_share(by_name: Mapping[str, Figures], names: Sequence[str], rule: str, method: str) -> str:
    found = [by_name[name][rule][method] for name in names if name in by_name]
    return f"{100 * sum(found) / len(found):.1f} %" if found else "–"
