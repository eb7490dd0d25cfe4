"""Soft pairwise accuracy of the paper's selectors: Figures 4 and 7, Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.minilm import EMBEDDING, with_minilm
from benchmarks.pages import WORSE, bold, points, table
from benchmarks.papers.catalogue import Figures, PaperTable
from benchmarks.papers.work import SMALL_SET_SHARES, SUMMEVAL_ASPECTS, WMT23, Setting, Work, averages, rounded
from benchmarks.papers.zouhar.sets import (
    BY_MINILM,
    BY_NOISE,
    NO_SOURCE_MODELS,
    NOISE,
    OTHER_METHODS,
    OTHER_SETS,
    PUBLISHED_SELECTORS,
    SELECTORS,
    SOURCE_BASED,
    beside,
    noise,
    page,
    random_note,
    selectors,
    why,
    with_options,
)
from benchmarks.papers.zouhar.spa import RANDOM, mark
from sparingly.base.text import format_value, text_value
from sparingly.choose.select import select
from sparingly.data.describe.metrics import correlation
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.compare import curve, full_set, judged_part
from sparingly.infer.rank.curve import SPA, RandomParity, random_parity

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


# --- how good must a metric be? Parity with random selection by the quality of the metric ----------------
# Every metric of a set is given to the selectors in turn; the labels they then need, in percent of random's
# (Zouhar et al. 2025, eq. 12), are averaged over metrics of about the same correlation with people. It tells
# from which correlation on a metric is worth selecting by.


METHODS = ("metric_avg", "metric_var", "metric_cons", "irt")
BY_TEXT = "diversity"
BY_TEXTS = (BY_TEXT, BY_MINILM)
SETTINGS = (
    *WMT23,
    Setting("wmt23_ende_esa", "esa1", "", "WMT23 en–de, ESA"),
    Setting("wmt23_zhen_mqm3", "mqm3", "", "WMT23 zh–en, MQM by three"),
    Setting("wmt23_ende_mqm3", "mqm3", "", "WMT23 en–de, MQM by three", shares=SMALL_SET_SHARES),
)
_WIDTH = 0.1


def _curve_figures(work: Work) -> Figures:
    settings = work.each(lambda setting: _curve_setting(work, setting), work.settings(SETTINGS))
    return {"parity_runs": work.effort.parity_runs, "settings": settings}


def _curve_setting(work: Work, setting: Setting) -> Figures:
    runs = work.effort.parity_runs
    key = {"what": "metric curve", "methods": (*METHODS, *BY_TEXTS), "runs": runs}

    def make() -> Figures:
        part, _ = judged_part(work.load(setting.file), setting.truth)
        by_minilm = BY_MINILM.replace(EMBEDDING, work.embedding(EMBEDDING))
        seen = part if work.is_demo else with_minilm(part)
        random = random_parity(full_set(part, setting.truth), shares=setting.shares, runs=runs)
        return {
            BY_TEXT: _needed(part, random, BY_TEXT),
            BY_MINILM: _needed(seen, random, by_minilm),
            "metrics": [_metric(part, setting.truth, random, name) for name in part.metrics],
        }

    return {"title": setting.title, **work.cell(setting, key, make)}


def _metric(part: EvalSet, truth: str, random: RandomParity, name: str) -> Figures:
    chosen = format_value(text_value(name))
    return {
        "metric": name,
        "pooled": rounded(correlation(part.metrics[name], part.truth(truth)).pooled),
        **{method: _needed(part, random, f"{method}:metric={chosen}") for method in METHODS},
    }


def _needed(part: EvalSet, random: RandomParity, method: str) -> float | None:
    return rounded(random.of(part.positions(select(part, method, "100%").items)).share)


def _curve_text(computed: Figures) -> str:
    settings = computed["settings"]
    metrics = [
        {**one, **{name: setting[name] for name in BY_TEXTS}}
        for setting in settings
        for one in setting["metrics"]
    ]
    return page(
        "Labels needed for random selection's soft pairwise accuracy, in percent of random's, from where "
        "on the curve stays above it; by the correlation of the metric with people over all outputs. Every "
        "value is a mean over pairs of a metric and a setting (a set by one kind of judgement): "
        f"{len(metrics)} pairs in {len(settings)} settings. Targets are means of {computed['parity_runs']} "
        f"random orders. {WORSE}: more than random.",
        _by_correlation(metrics),
        _by_name(metrics),
        "**Published** as a picture, in bins of 0.1 to 0.5 over 25 metrics. The text says of it: string "
        "matching (BLEU, chrF) is worse than random or no better, BERTScore correlates well enough, and "
        "the better the metric the better the subset.",
        why(
            "The sets and the judgements differ: here are sets of two language pairs with 42 metrics each, "
            "and MQM correlates with the best metrics by 0.7. Bins hold different sets, too: the column of "
            f"`{BY_TEXT}`, which sees no metric, shows how much that matters.",
            OTHER_METHODS,
        ),
    )


def _by_correlation(metrics: Sequence[Figures]) -> str:
    known = [one for one in metrics if one["pooled"] is not None]
    bins = np.floor(np.array([one["pooled"] for one in known]) / _WIDTH + 1e-9).astype(int)
    rows = []
    for place in sorted(set(bins.tolist())):
        inside = [one for one, of in zip(known, bins, strict=True) if of == place]
        low = place * _WIDTH
        rows.append([f"{low:.1f} to {low + _WIDTH:.1f}", str(len(inside)), *_means(inside)])
    return table(["correlation", "pairs", *(f"`{name}`" for name in (*METHODS, *BY_TEXTS))], rows)


def _by_name(metrics: Sequence[Figures]) -> str:
    """Return every metric, the one that follows people best first."""
    known = [one for one in metrics if one["pooled"] is not None]
    by_name = {
        name: [one for one in known if one["metric"] == name] for name in {one["metric"] for one in known}
    }
    pooled = {name: float(np.mean([one["pooled"] for one in inside])) for name, inside in by_name.items()}
    rows = [
        [name, f"{pooled[name]:.2f}", str(len(by_name[name])), *_means(by_name[name])]
        for name in sorted(pooled, key=lambda name: (-pooled[name], name))
    ]
    heads = ["metric", "correlation", "settings", *(f"`{method}`" for method in (*METHODS, *BY_TEXTS))]
    return "Metric by metric, means over settings:\n\n" + table(heads, rows)


def _means(metrics: Sequence[Figures]) -> list[str]:
    values = (float(np.mean([metric[name] for metric in metrics])) for name in (*METHODS, *BY_TEXTS))
    return [f"{100 * value:.0f} {WORSE if value > 1.0 else ''}".strip() for value in values]


FIG6 = PaperTable(
    "s0-fig6",
    "Zouhar et al. 2025, Figure 6: labels needed for random's accuracy, by the quality of the metric",
    tuple(dict.fromkeys(setting.file for setting in SETTINGS)),
    _curve_figures,
    _curve_text,
)


# --- the paper's selectors by other measures than soft pairwise accuracy ---------------------------------
# They tell whether a selector that ranks models well also finds the best model, tells more models apart, or
# gives the scores that judging everything would have given (Zouhar et al. 2025, App. B).


@dataclass(frozen=True)
class Measure:
    """A measure of the table.

    Attributes:
        name: What it is called here.
        title: What it is called in the table.
        published: The published figures, in the order of the selectors; empty where there are none.
        is_error: Whether lower is better; then it is in units of the range of all judgements.
        is_count: Whether it counts things, and is no share.
    """

    name: str
    title: str
    published: tuple[float, ...] = ()
    is_error: bool = False
    is_count: bool = False

    def shown(self, value: float) -> str:
        """Return a value as the table has it."""
        if self.is_error:
            return f"{value:.3f}"
        return f"{value:.2f}" if self.is_count else points(value)

    def line_as_published(self) -> list[str]:
        """Return the published figures, the best in bold."""
        best = (min if self.is_error else max)(self.published)
        unit = 1 if self.is_error or self.is_count else 100
        return [bold(self.shown(value / unit), value == best) for value in self.published]


MEASURES = (
    Measure(SPA, "Soft pairwise accuracy", (91.6, 92.6, 93.0, 93.4, 93.0, 92.6)),
    Measure("pairwise_accuracy", "Pairwise accuracy", (92.7, 93.4, 93.4, 94.3, 93.3, 93.2)),
    Measure("pearson", "Pearson", (96.7, 96.5, 96.5, 97.5, 97.5, 96.9)),
    Measure("spearman", "Spearman", (94.5, 95.0, 95.1, 96.1, 95.3, 95.1)),
    Measure("kendall_b", "Kendall b", (85.3, 86.9, 86.9, 88.6, 86.7, 86.3)),
    Measure("top1_match", "Best model found", (94.6, 95.0, 95.1, 96.4, 95.4, 96.2)),
    Measure("top1_percentile", "Models that the best one found beats"),
    Measure("groups", "Groups", (2.62, 3.47, 3.54, 3.68, 3.23, 3.33), is_count=True),
    Measure("top_group_dice", "First group, Dice", (59.5, 65.6, 60.2, 64.2, 63.3, 65.1)),
    Measure(
        "mean_absolute_error",
        "Mean absolute error ↓",
        (0.008, 0.055, 0.046, 0.031, 0.036, 0.028),
        is_error=True,
    ),
    Measure(
        "root_mean_squared_error",
        "Root mean squared error ↓",
        (0.010, 0.062, 0.059, 0.039, 0.041, 0.034),
        is_error=True,
    ),
)


def _measure_figures(work: Work) -> Figures:
    settings = work.each(lambda setting: _measure_setting(work, setting), work.settings(WMT23))
    return {"random_runs": work.effort.random_runs, "settings": settings}


def _measure_setting(work: Work, setting: Setting) -> Figures:
    truth = work.evalset(setting).truth(setting.truth)
    scale = float(np.nanmax(truth) - np.nanmin(truth))
    found = {}
    for measure in MEASURES:
        unit = scale if measure.is_error else 1.0
        found[measure.name] = {name: _mean(work, setting, name, measure) / unit for name in SELECTORS}
    plain = {name: {key: rounded(value) for key, value in row.items()} for name, row in found.items()}
    return {"title": setting.title, "measures": plain}


def _mean(work: Work, setting: Setting, method: str, measure: Measure) -> float:
    runs = work.effort.random_runs if method == RANDOM else 1
    return float(averages(work.curves(setting, method, runs, measure.name), setting).mean())


def _measure_text(computed: Figures) -> str:
    settings = computed["settings"]
    each = (
        "\n\n".join(f"{setting['title']}:\n\n{_table([setting])}" for setting in settings)
        if len(settings) > 1
        else ""
    )
    return page(
        "Means over budgets and sets; **bold** is the best of a line. Errors are in units of the range of "
        f"all judgements. Random selection is the mean of {computed['random_runs']} runs.",
        f"Ours:\n\n{_table(settings)}",
        f"Published:\n\n{_published()}",
        each,
        why(
            OTHER_SETS,
            "The published figure for the best model seems to be the share of models that the one found "
            "beats (its code divides by the number of models less one), which is ours in the line below.",
            "Groups are told by one-sided Wilcoxon tests against the last member, as there; differences of "
            "zero are left out here, where the published code opens a new group when all are zero.",
            OTHER_METHODS,
        ),
    )


def _table(settings: Sequence[Figures]) -> str:
    rows = []
    for measure in MEASURES:
        values = [
            float(np.mean([setting["measures"][measure.name][name] for setting in settings]))
            for name in SELECTORS
        ]
        best = min(values) if measure.is_error else max(values)
        rows.append([measure.title, *(bold(measure.shown(value), value == best) for value in values)])
    return table(["measure", *(f"`{name}`" for name in SELECTORS)], rows)


def _published() -> str:
    rows = [[measure.title, *measure.line_as_published()] for measure in MEASURES if measure.published]
    return table(["measure", *PUBLISHED_SELECTORS.values()], rows)


TABLE9 = PaperTable(
    "s0-table9",
    "Zouhar et al. 2025, Table 9: output-based selectors by other measures",
    tuple(dict.fromkeys(setting.file for setting in WMT23)),
    _measure_figures,
    _measure_text,
)
