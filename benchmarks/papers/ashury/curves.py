"""Figs 3, 4, 5 and 11: how often the winner of a pair is found over budgets, and the bias of its lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.pages import signed, table
from benchmarks.papers.ashury.iterative import runs_text
from benchmarks.papers.ashury.sets import (
    BUDGETS,
    FILES,
    HUMAN,
    METHODS,
    METRICS,
    MOST_PAIRS,
    SUMMEVAL,
    Figures,
    metric_curves,
    pair_figures,
    sources,
)
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import Work
from sparingly.base.arrays import Floats
from sparingly.infer.rank.winners import PairWinner, winners

MARKS = (5, 10, 20, 30, 50, 100, 150, 200)
_TITLES = {"random": "random", "diffuse": "DiffUse", "diffuse minilm": "DiffUse, MiniLM"}
# The two panels of Fig. 3 are a pair that is far apart and one that is close.
_FAR, _CLOSE = 0.5, 0.1
_RUNS_PER_SEED = 10
_PICTURE = "The paper has a picture without numbers."


def figures(work: Work, most_pairs: int | None = MOST_PAIRS) -> Figures:
    """Compute the curves of both methods on every set, by the human scores and by every metric."""
    seeds = range(work.effort.seeds)
    sets = [pair_figures(work, source, seeds=seeds, most_pairs=most_pairs) for source in sources(work)]
    return {"seeds": work.effort.seeds, "sets": [_without_ends(data_set) for data_set in sets]}


def summeval_figures(work: Work) -> Figures:
    """Compute the curves on summaries of CNN/DailyMail."""
    seeds = range(work.effort.seeds)
    sets = [pair_figures(work, source, seeds=seeds) for source in sources(work, (SUMMEVAL,))]
    return {"seeds": work.effort.seeds, "sets": [_without_ends(data_set) for data_set in sets]}


def two_pairs_figures(work: Work) -> Figures:
    """Compute the curves of two pairs of models: one far apart, one close."""
    source = sources(work, (SUMMEVAL,))[0]
    found = winners(work.load(source.file), truth=source.truth).pairs
    seeds = range(_RUNS_PER_SEED * work.effort.seeds)
    panels = []
    for distance in (_FAR, _CLOSE):
        pair = min(found, key=lambda one: (abs(one.distance - distance), one.first, one.second))
        curves = pair_figures(work, source, seeds=seeds, pairs=[(pair.first, pair.second)])
        panels.append({**_named(pair), **_without_ends(curves)})
    return {"seeds": len(seeds), "title": source.title, "panels": panels}


def _named(pair: PairWinner) -> Figures:
    return {"first": pair.first, "second": pair.second, "distance": pair.distance}


def _without_ends(figures: Figures) -> Figures:
    """Return what the figures show: curves without ends, and of metrics the hits alone."""
    curves = {
        truth: some if truth == HUMAN else {method: _hits(one) for method, one in some.items()}
        for truth, some in figures["curves"].items()
    }
    return {**{name: part for name, part in figures.items() if name != "ends"}, "curves": curves}


def _hits(curve: Figures) -> Figures:
    return {name: curve[name] for name in ("runs", "hits")}


def rates(curves: Mapping[str, Any], method: str) -> Floats:
    """Return the success rate of a method at every budget."""
    return np.asarray(curves[method]["hits"], np.float64) / float(curves[method]["runs"])


def _of_kind(figures: Figures, kind: str) -> Mapping[str, Any] | None:
    curves: Mapping[str, Any] | None = (
        figures["curves"].get(HUMAN) if kind == HUMAN else metric_curves(figures)
    )
    return curves


def _marks(items: int) -> list[int]:
    """Return the budgets that are shown: those that leave items out."""
    return [mark for mark in MARKS if mark < items]


def _average(curve: Floats, items: int) -> float:
    """Return the mean over the budgets that leave items out."""
    inside = np.array([budget < items for budget in BUDGETS])
    return float(curve[inside].mean()) if inside.any() else float(curve[0])


def text_of_two_pairs(computed: Figures) -> str:
    """Return Fig. 3 as numbers."""
    rows, marks = [], _marks(computed["panels"][0]["items"])
    for one in computed["panels"]:
        curves = one["curves"][HUMAN]
        for method in METHODS:
            rate, runs = rates(curves, method), curves[method]["runs"]
            errors = np.sqrt(rate * (1.0 - rate) / runs)
            cells = [f"{100 * rate[at]:.0f} ± {100 * errors[at]:.0f}" for at in map(BUDGETS.index, marks)]
            pair = f"{one['first']} / {one['second']}, {one['distance']:.2f} apart"
            rows.append([pair, _TITLES[method], *cells])
    return "\n\n".join(
        [
            table(["pair", "method", *(f"at {mark}" for mark in marks)], rows, texts=2),
            f"{computed['title']}: how often the winner is found, in percent ± a standard error, over "
            f"{computed['seeds']} seeds with 80 % of the items each.",
            f"{_PICTURE} Its two pairs (CNN/DailyMail by ROUGE-2) are not here; these are the pairs of "
            f"summarisers of CNN/DailyMail whose winning distances are nearest to {_FAR:g} and to "
            f"{_CLOSE:g}. As there, random needs many more labels for the close pair than for the other.",
        ]
    )


def text_of_summeval(computed: Figures) -> str:
    """Return Fig. 4 as numbers."""
    rows = []
    one = computed["sets"][0]
    marks = _marks(one["items"])
    for kind in (HUMAN, METRICS):
        curves = _of_kind(one, kind)
        if curves is None:
            continue
        for method in METHODS:
            rate = rates(curves, method)
            cells = [f"{100 * rate[BUDGETS.index(mark)]:.1f}" for mark in marks]
            rows.append([kind, _TITLES[method], *cells, f"{100 * _average(rate, one['items']):.1f}"])
    return "\n\n".join(
        [
            table(["oracle", "method", *(f"at {mark}" for mark in marks), "mean"], rows, texts=2),
            f"{one['title']} (summaries of CNN/DailyMail): how often the winner is found, in percent, over "
            f"all pairs. {runs_text(computed)}",
            f"{_PICTURE} It shows DiffUse above random at every budget on CNN/DailyMail by metrics; so it "
            "is here at nearly all of them, by the human scores and by the metrics, with 12 models and 80 "
            "items in place of 37 and 800.",
        ]
    )


def text_of_bias(computed: Figures) -> str:
    """Return Fig. 5 as numbers."""
    rows = []
    for one in computed["sets"]:
        marks = _marks(one["items"])
        for method in METHODS:
            found = one["curves"][HUMAN][method]
            mean = np.array(found["bias"]) / found["runs"]
            spread = np.sqrt(
                np.maximum(np.array(found["squares"]) / found["runs"] - mean**2, 0.0) / found["runs"]
            )
            cells = [
                f"{mean[at]:+.3f} ± {spread[at]:.3f}".replace("-", "−") if mark in marks else "–"
                for mark in MARKS
                for at in [BUDGETS.index(mark)]
            ]
            rows.append([one["title"], _TITLES[method], *cells])
    return "\n\n".join(
        [
            table(["set", "method", *(f"at {mark}" for mark in MARKS)], rows, texts=2),
            "The winning distance on the sample, signed towards the winner, minus that on the full set; "
            "mean ± a standard error, by human scores. 0 is unbiased. The errors take runs for independent, "
            "but the pairs of a seed share one sample, so they are too small.",
            runs_text(computed),
            f"{_PICTURE} It shows a bias of DiffUse towards the winner on XSum that is large with few "
            "labels and shrinks as they are added, and none of random. Here random errs to both sides, as "
            "it should, and DiffUse leans towards the winner on most sets; on AlpacaEval it leans to the "
            "loser, and there it finds the winner later than random.",
        ]
    )


def text_of_all(computed: Figures) -> str:
    """Return Fig. 11 as numbers."""
    rows = [row for one in computed["sets"] for row in _all_rows(one)]
    heads = ["set", "oracle", "runs", *(f"at {mark}" for mark in MARKS if mark != 5)]
    means = [f"mean, {name}" for name in _TITLES.values()]
    return "\n\n".join(
        [
            table([*heads, *means, "metrics where ahead"], rows, texts=2),
            "How often the winner of a pair is found, in percent, random / DiffUse by character n-grams / by "
            "MiniLM; the oracle is the human "
            "(or judge's) score, or every metric in its turn. The last column counts the metrics by which "
            "DiffUse is ahead on average, and the smallest and largest difference in points.",
            runs_text(computed),
            f"{_PICTURE} It has three metrics for each of HELM's six sets, and DiffUse ahead in nearly all "
            "of them. Here it is ahead by human scores on SummEval, WMT23 zh–en and the sets of three "
            "raters, and behind on AlpacaEval, WMT23 en–de and by most metrics of WMT23: other sets, other "
            "models. By the encoder of the paper it is also ahead on WMT23 en–de by human scores.",
        ]
    )


def _all_rows(figures: Figures) -> list[list[str]]:
    rows, marks = [], _marks(figures["items"])
    for kind in (HUMAN, METRICS):
        curves = _of_kind(figures, kind)
        if curves is None:
            continue
        found = [rates(curves, method) for method in METHODS]
        cells = [
            " / ".join(f"{100 * rate[at]:.1f}" for rate in found) if mark in marks else "–"
            for mark in MARKS
            if mark != 5
            for at in [BUDGETS.index(mark)]
        ]
        means = [f"{100 * _average(rate, figures['items']):.1f}" for rate in found]
        runs = f"{curves['diffuse']['runs']:,}".replace(",", " ")
        rows.append(
            [figures["title"], kind, runs, *cells, *means, _ahead(figures) if kind == METRICS else "–"]
        )
    return rows


def _ahead(figures: Figures) -> str:
    gaps = [
        _average(rates(curves, "diffuse") - rates(curves, "random"), figures["items"])
        for truth, curves in figures["curves"].items()
        if truth != HUMAN
    ]
    return f"{sum(gap > 0 for gap in gaps)} of {len(gaps)} ({signed(min(gaps))} to {signed(max(gaps))})"


def curve_table(sets: Sequence[Figures]) -> str:
    """Return the mean success rate over budgets, and at four of them, for the page about pairs."""
    marks, rows = (10, 30, 100, 200), []
    for data_set in sets:
        for kind in (HUMAN, METRICS):
            curves = _of_kind(data_set, kind)
            if curves is None:
                continue
            both = [rates(curves, method) for method in ("random", "diffuse")]
            cells = [" / ".join(f"{100 * rate[BUDGETS.index(at)]:.1f}" for rate in both) for at in marks]
            runs = f"{curves['diffuse']['runs']:,}".replace(",", " ")
            rows.append(
                [data_set["title"], kind, runs, *cells, *(f"{100 * rate.mean():.1f}" for rate in both)]
            )
    heads = [f"at {mark}" for mark in marks]
    return table(["set", "truth", "runs", *heads, "mean, random", "DiffUse"], rows, texts=2)


_TITLE = "Ashury Tahan et al. 2024, {}: {}"
FIG3 = PaperTable(
    "s4-fig3",
    _TITLE.format("Fig. 3", "how often the winner is found, for two pairs of models"),
    (SUMMEVAL.file,),
    two_pairs_figures,
    text_of_two_pairs,
)
FIG4 = PaperTable(
    "s4-fig4",
    _TITLE.format("Fig. 4", "how often the winner is found, over all pairs of a set"),
    (SUMMEVAL.file,),
    summeval_figures,
    text_of_summeval,
)
FIG5 = PaperTable(
    "s4-fig5",
    _TITLE.format("Fig. 5", "the estimated minus the true winning distance"),
    FILES,
    figures,
    text_of_bias,
)
FIG11 = PaperTable(
    "s4-fig11",
    _TITLE.format("Fig. 11", "how often the winner is found, on all sets and by all oracles"),
    FILES,
    figures,
    text_of_all,
)
