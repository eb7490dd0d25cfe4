"""Soft pairwise accuracy of every selector, beside random selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.pages import CLEARLY_WORSE, WORSE, bold, folded, points, table
from benchmarks.papers.work import MAIN, Interval, Setting, Work, at_marks, averages, rounded
from sparingly.base.arrays import Floats

Figures = dict[str, Any]

RANDOM = "random"


@dataclass(frozen=True)
class Row:
    """A method; one that hangs on its seed is run several times, an oracle is no method that one can use."""

    method: str
    is_seeded: bool = False
    is_oracle: bool = False


ROWS = (
    Row("metric_avg"),
    Row("metric_var"),
    Row("metric_cons"),
    Row("metric_cons:correlation=kendall"),
    Row("metric_cons:correlation=pairwise"),
    Row("diversity"),
    Row("diversity:similarity=unigram"),
    Row("diversity:similarity=chrf"),
    Row("diversity:similarity=bleu"),
    Row("irt"),
    Row("irt:utility=difficulty"),
    Row("irt:utility=discrimination"),
    Row("irt:utility=feasibility"),
    Row("irt:utility=information"),
    Row("mix:of=(metric_var)+(metric_cons)"),
    Row("mix:of=(metric_var)+(diversity)"),
    Row("kmeans", is_seeded=True),
    Row("kmeans:weighted=true", is_seeded=True),
    Row("kmeans:features=output", is_seeded=True),
    Row("kmeans:features=output_mean", is_seeded=True),
    Row("kmeans:features=output_mean,weighted=true", is_seeded=True),
    Row("diffuse"),
    Row("diffuse:weighted=true"),
    Row("diffuse:representative=random", is_seeded=True),
    Row("diffuse:pairs=concat"),
    Row("diffuse:pairs=concat,weighted=true"),
    Row("diffuse:pairs=mean"),
    Row("diffuse:pairs=mean,weighted=true"),
    Row("max_norm"),
    Row("heuristic", is_seeded=True),
    Row("search:n=100", is_seeded=True),
    Row("search:oracle=true,n=100", is_seeded=True, is_oracle=True),
)
# Zouhar et al. 2025, Table 10, in the order of random and the methods below.
PUBLISHED = {
    "wmt23_zhen/da_sqm": (0.914, 0.933, 0.944, 0.903, 0.911, 0.910),
    "wmt23_ende/da_sqm": (0.921, 0.918, 0.921, 0.919, 0.917, 0.923),
    "wmt24_enzh/esa": (0.879, 0.873, 0.867, 0.868, 0.843, 0.867),
    "summeval_llm12/sum": (0.955, 0.964, 0.958, 0.962, 0.960, 0.945),
}
PUBLISHED_METHODS = ("random", "metric_avg", "metric_var", "metric_cons", "diversity", "irt")


def figures(work: Work) -> Figures:
    """Compute the figures of the table."""
    return {"settings": [setting_figures(work, setting, ROWS) for setting in work.settings(MAIN)]}


def setting_figures(work: Work, setting: Setting, rows: Sequence[Row], random_row: str = RANDOM) -> Figures:
    """Return random selection (or a form of it, such as one of whole documents) and every method."""
    curves = work.curves(setting, random_row, work.effort.random_runs)
    random = averages(curves, setting)
    low, high = np.quantile(random, [0.05, 0.95])
    return {
        "name": setting.name,
        "title": setting.title,
        "metric": setting.metric,
        **work.about(setting),
        "random": {
            "method": random_row,
            "runs": len(random),
            **Interval.of(random).figures(),
            "p5": rounded(low),
            "p95": rounded(high),
            "at": at_marks(curves, setting),
        },
        "methods": [_method_figures(work, setting, row, random) for row in rows],
    }


def _method_figures(work: Work, setting: Setting, row: Row, random: Floats) -> Figures:
    runs = work.effort.seeds if row.is_seeded else 1
    curves = work.curves(setting, row.method, runs)
    found = averages(curves, setting)
    return {
        "method": row.method,
        "oracle": row.is_oracle,
        "runs": runs,
        **Interval.of(found).figures(),
        # Run against run: how often this method is better than random where both are drawn once.
        "beats": rounded(float((random < found[:, None]).mean())),
        "at": at_marks(curves, setting),
    }


def mark(found: Mapping[str, Any], random: Mapping[str, Any]) -> str:
    """Return the mark of a method: worse than random's mean, or than the interval of that mean."""
    if found["mean"] >= random["mean"]:
        return ""
    return CLEARLY_WORSE if found["mean"] < random["low"] else WORSE


def blocks(computed: Figures) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    settings = computed["settings"]
    return {
        "spa": _overview(settings),
        "spa-worse": _worse(settings),
        "spa-published": _beside(settings),
        "spa-sets": "\n\n".join(folded(_heading(setting), _details(setting)) for setting in settings),
    }


def _overview(settings: Sequence[Figures]) -> str:
    rows = [
        ["*how well the metric separates models*", *(_correlation(setting) for setting in settings)],
        ["`random`", *(_best_in_bold(setting, setting["random"]) for setting in settings)],
        [
            "`random`, 90 % interval of the mean",
            *(_range(setting["random"], "low", "high") for setting in settings),
        ],
        [
            "`random`, 5–95 % of single runs",
            *(_range(setting["random"], "p5", "p95") for setting in settings),
        ],
    ]
    for place, row in enumerate(settings[0]["methods"]):
        cells = (_best_in_bold(setting, setting["methods"][place]) for setting in settings)
        rows.append([_named(row), *cells])
    return table(["method", *(setting["title"] for setting in settings)], rows)


def _correlation(setting: Mapping[str, Any]) -> str:
    return "–" if setting["differences"] is None else f"{setting['differences']:.2f}"


def _named(row: Mapping[str, Any]) -> str:
    return f"`{row['method']}`" + (" (oracle)" if row["oracle"] else "")


def _range(random: Mapping[str, Any], low: str, high: str) -> str:
    return f"{points(random[low])}–{points(random[high])}"


def _best_in_bold(setting: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    usable = [setting["random"], *(row for row in setting["methods"] if not row["oracle"])]
    is_best = found["mean"] == max(row["mean"] for row in usable)
    text = bold(points(found["mean"]), is_best and not found.get("oracle", False))
    return f"{text} {mark(found, setting['random'])}".strip()


def _heading(setting: Mapping[str, Any]) -> str:
    items = f"{setting['items']} items"
    if setting["items"] < setting["of_items"]:
        items += f" that have the truth, of {setting['of_items']}"
    return f"{setting['title']}: {items}; {setting['models']} models; metric {setting['metric']}"


def _details(setting: Mapping[str, Any]) -> str:
    random = setting["random"]
    shown = list(random["at"])
    rows = [
        [
            _named(row) if row is not random else "`random`",
            _with_interval(row, random),
            *(points(row["at"][share]) for share in shown),
            f"{100 * row['beats']:.0f} %" if row is not random else "–",
        ]
        for row in (random, *setting["methods"])
    ]
    budgets = (share.replace("%", " %") for share in shown)
    return table(["method", "average", *budgets, "better than so many runs of random"], rows)


def _with_interval(row: Mapping[str, Any], random: Mapping[str, Any]) -> str:
    text = points(row["mean"])
    if row["low"] is not None:
        text += f" ± {points(row['high'] - row['mean'], 2)}"
    return f"{text} {mark(row, random)}".strip()


def _worse(settings: Sequence[Figures]) -> str:
    lines, never = [], []
    for place, row in enumerate(settings[0]["methods"]):
        if row["oracle"]:
            continue
        marks = [
            (setting["title"], mark(setting["methods"][place], setting["random"])) for setting in settings
        ]
        found = [f"{title} {sign}" for title, sign in marks if sign]
        if not found:
            never.append(f"`{row['method']}`")
        elif len(found) == len(settings):
            lines.append(f"- `{row['method']}`: everywhere.")
        else:
            lines.append(f"- `{row['method']}` ({len(found)} of {len(settings)}): {'; '.join(found)}.")
    return "\n".join([*lines, f"\nNever below random's mean here: {', '.join(never) or 'no method'}."])


def _beside(settings: Sequence[Figures]) -> str:
    """Return the published figures of single sets beside ours."""
    shown = [one for one in settings if one["name"] in PUBLISHED]
    rows = []
    for place, method in enumerate(PUBLISHED_METHODS):
        cells = [f"`{method}`"]
        for one in shown:
            ours = next(row for row in (one["random"], *one["methods"]) if row["method"] == method)
            cells += [points(PUBLISHED[one["name"]][place]), points(ours["mean"])]
        rows.append(cells)
    heads = (title for one in shown for title in (f"{one['title']}: published", "ours"))
    return table(["method", *heads], rows)
