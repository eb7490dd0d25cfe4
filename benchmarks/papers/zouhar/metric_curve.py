"""How good must a metric be? Parity with random selection by the quality of the metric: Figure 6.

Every metric of a set is given to the selectors in turn; the labels they then need, in percent of random's
(Zouhar et al. 2025, eq. 12), are averaged over metrics of about the same correlation with people. It tells
from which correlation on a metric is worth selecting by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import WORSE, table
from benchmarks.papers.settings import SMALL_SET_SHARES, WMT23, Setting
from benchmarks.papers.work import Work, rounded
from benchmarks.papers.zouhar.beside import OTHER_METHODS, page, why
from sparingly.base.text import format_value, text_value
from sparingly.choose.select import select
from sparingly.data.describe.metrics import correlation
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.compare import full_set, judged_part
from sparingly.infer.rank.curve import RandomParity, random_parity

METHODS = ("metric_avg", "metric_var", "metric_cons", "irt")
BY_TEXT = "diversity"
SETTINGS = (
    *WMT23,
    Setting("wmt23_ende_esa", "esa1", "", "WMT23 en–de, ESA"),
    Setting("wmt23_zhen_mqm3", "mqm3", "", "WMT23 zh–en, MQM by three"),
    Setting("wmt23_ende_mqm3", "mqm3", "", "WMT23 en–de, MQM by three", shares=SMALL_SET_SHARES),
)
_WIDTH = 0.1


def _figures(work: Work) -> Figures:
    settings = work.each(lambda setting: _setting(work, setting), work.settings(SETTINGS))
    return {"parity_runs": work.effort.parity_runs, "settings": settings}


def _setting(work: Work, setting: Setting) -> Figures:
    runs = work.effort.parity_runs
    key = {"what": "metric curve", "methods": (*METHODS, BY_TEXT), "runs": runs}

    def make() -> Figures:
        part, _ = judged_part(work.load(setting.file), setting.truth)
        random = random_parity(full_set(part, setting.truth), shares=setting.shares, runs=runs)
        return {
            BY_TEXT: _needed(part, random, BY_TEXT),
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


def _text(computed: Figures) -> str:
    settings = computed["settings"]
    metrics = [{**one, BY_TEXT: setting[BY_TEXT]} for setting in settings for one in setting["metrics"]]
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
    return table(["correlation", "pairs", *(f"`{name}`" for name in (*METHODS, BY_TEXT))], rows)


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
    heads = ["metric", "correlation", "settings", *(f"`{method}`" for method in (*METHODS, BY_TEXT))]
    return "Metric by metric, means over settings:\n\n" + table(heads, rows)


def _means(metrics: Sequence[Figures]) -> list[str]:
    values = (float(np.mean([one[name] for one in metrics])) for name in (*METHODS, BY_TEXT))
    return [f"{100 * value:.0f} {WORSE if value > 1.0 else ''}".strip() for value in values]


FIG6 = PaperTable(
    "s0-fig6",
    "Zouhar et al. 2025, Figure 6: labels needed for random's accuracy, by the quality of the metric",
    tuple(dict.fromkeys(setting.file for setting in SETTINGS)),
    _figures,
    _text,
)
