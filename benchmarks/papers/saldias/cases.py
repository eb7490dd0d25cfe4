"""What the errors of scores are measured on: the fully judged items of one rater, or of a whole set.

A simulation is one rater and one system, as in Saldías et al. 2022: the truth is the mean of all that the
rater gave the system. Where a set has no raters, or none who judged enough items for all systems, the mean
judgement of every system takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import table
from benchmarks.papers.saldias.published import TABLE_5, Bound, Line, Lines, ratio
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimators import known_metrics, metric_scores
from sparingly.infer.estimate.sample import JudgedSample

# --- tables 1 to 6 as Markdown ---------------------------------------------------------------------------


Figures = Mapping[str, Any]

_HEAD = (
    "method",
    "paper: error",
    "sd",
    "win %",
    "ratio",
    "here: error",
    "sd",
    "win %",
    "ratio",
    "95 % interval",
)
_NONE = "–"


def error_text(computed: Figures, published: Lines, why: str) -> str:
    """Return a table for every set, how it was made, and why the figures differ."""
    parts = [_made(computed)]
    for one in computed["sets"]:
        parts += [f"**{one['direction']}, here {one['title']}**: {_about(one)}", _errors(one, published)]
    return "\n\n".join([*parts, why])


def _made(computed: Figures) -> str:
    return (
        f"{computed['draws']} draws of each share of 5, 10, … 50 % (the paper: 100). *Error* is the mean of "
        "the distance from the mean of all judgements, *sd* its deviation between draws, *win %* how many "
        "simulations and shares have a mean error below that of the baseline, *ratio* the error over it."
    )


def _about(figures: Figures) -> str:
    low, high = figures["items"]
    items = str(low) if low == high else f"{low}–{high}"
    systems, raters = f"{figures['systems']} systems", figures["raters"]
    by_rater = f"{raters} rater{'s' if raters > 1 else ''} × {systems}"
    who = by_rater if raters else f"{systems} by their mean judgement"
    return f"{who}, {items} items each; metrics {', '.join(figures['shown'])}."


def _errors(figures: Figures, published: Lines) -> str:
    lines = {line["method"]: line for line in figures["lines"]}
    rows = []
    for method in published:
        there, here = published[method].get(figures["direction"]), lines.get(method)
        if there is None and here is None:
            continue
        share = ratio(published, method, figures["direction"])
        rows.append([method, *_there(there), _NONE if share is None else f"{share:.2f}", *_here(here)])
    return table(_HEAD, rows)


def _there(line: Line | None) -> list[str]:
    if line is None:
        return [_NONE] * 3
    return [f"{line.error:.3f}", f"{line.sd:.3f}", _NONE if line.win is None else f"{line.win:.1f}"]


def _here(line: Figures | None) -> list[str]:
    if line is None:
        return [_NONE] * 5
    win = _NONE if line["win"] is None else f"{100 * line['win']:.1f}"
    ends = f"{line['low']:.2f}–{line['high']:.2f}"
    return [f"{line['error']:.3f}", f"{line['sd']:.3f}", win, f"{line['ratio']:.2f}", ends]


def bound_text(computed: Figures, why: str) -> str:
    """Return Table 5 for every set: the bounds with the paper's range and with the range of the scores."""
    parts = [
        f"{computed['draws']} draws of each share (the paper: 100). *Cal* is the share of draws, in percent, "
        "whose error kept to the 95 % bound, *slack* the mean of bound minus error, *t* the bound."
    ]
    for one in computed["sets"]:
        parts += [f"**{one['direction']}, here {one['title']}**: {_about(one)}", _bounds(one)]
    return "\n\n".join([*parts, why])


def _bounds(figures: Figures) -> str:
    names = list(dict.fromkeys(line["bound"] for line in figures["bounds"]))
    chosen = next((name for name in names if "R =" in name), None)
    lines = {(line["share"], line["method"], line["bound"]): line for line in figures["bounds"]}
    rows = []
    for share, methods in TABLE_5.items():
        for method, by_direction in methods.items():
            own = [lines.get((share, method, name)) for name in (chosen, "Hoeffding", "Bernstein")]
            cells = [*_bound_there(by_direction[figures["direction"]]), *_bound_here(own[0])]
            cells += [part for line in own[1:] for part in _bound_here(line)[::2]]
            rows.append([f"{share:.0%}", method, *cells])
    head = ["share", "method", "paper: cal %", "slack", "t", "here, the paper's R: cal %", "slack", "t"]
    head += ["Hoeffding, own R: cal %", "t", "Bernstein, own R: cal %", "t"]
    return table(head, rows, texts=2)


def _bound_there(bound: Bound) -> list[str]:
    return [str(bound.calibration), f"{bound.slack:.2f}", f"{bound.width:.2f}"]


def _bound_here(line: Figures | None) -> list[str]:
    if line is None:
        return [_NONE] * 3
    return [f"{100 * line['calibration']:.0f}", f"{line['slack']:.2f}", f"{line['width']:.2f}"]


# --- what the errors of scores are measured on -----------------------------------------------------------


FEWEST_ITEMS = 100
# What was judged in the end, where it is not the first aspect of the file.
ASPECTS = {
    "newsroom": "sum",
    "opinsummeval": "sum",
    "personachat_usr": "Overall",
    "summeval": "sum",
    "summeval_llm12": "sum",
    "topicalchat_usr": "overall",
    "webnlg20_en": "mean",
}
# The one metric of a set that somebody who has not seen a judgement would take; chrF elsewhere.
ONE_METRIC = {"wmt23_zhen": "MetricX-23", "wmt23_ende": "MetricX-23", "wmt20_ende_notext": "bleurt-combi"}
TWO_METRICS = {
    "wmt23_zhen": ("BLEURT-20", "COMET"),
    "wmt23_ende": ("BLEURT-20", "COMET"),
    "wmt20_ende_notext": ("bleurt-combi", "chrF"),
}
BEST = 10
Shown = Literal["best", "all", "two"]


@dataclass(frozen=True, eq=False)
class Case:
    """The items that one rater judged for all systems (or all items of a set), with the judgements."""

    name: str
    data: EvalSet
    truth: Floats

    @property
    def means(self) -> Floats:
        """The scores of the systems, which are to be estimated."""
        return np.asarray(self.truth.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Cases:
    """A set: its cases, whether they are raters, and the metrics that the published methods get.

    Attributes:
        name: Of the file.
        cases: One per rater, or a single one.
        by_rater: Whether they are raters.
        one: The metric of ``cv-one``.
        two: Two well-known metrics, as on the paper's test sets.
        best: The metrics that correlate most with the judgements, ten at most, as on its development sets.
        metrics: All metrics, lengths included.
    """

    name: str
    cases: tuple[Case, ...]
    by_rater: bool
    one: str
    two: tuple[str, ...]
    best: tuple[str, ...]
    metrics: tuple[str, ...]

    def shown(self, which: Shown) -> tuple[str, ...]:
        """Return the metrics and lengths that a published method gets."""
        return {"best": self.best, "all": self.metrics, "two": self.two}[which]

    def metrics_of(self, which: Shown) -> tuple[str, ...]:
        """Return those whose mean can be taken: lengths point the other way and are left out."""
        return tuple(name for name in self.shown(which) if name in self.cases[0].data.metrics)

    @property
    def simulations(self) -> int:
        """The number of raters × systems."""
        return sum(case.truth.shape[1] for case in self.cases)


def cases_of(name: str, data: EvalSet) -> Cases:
    """Cut a set into its cases, and settle which metrics methods get."""
    aspect = ASPECTS.get(name, next(iter(data.aspects)))
    raters = tuple(_rater_cases(data, aspect))
    cases = raters or (_whole(data, aspect),)
    metrics = known_metrics(data)
    one = ONE_METRIC.get(name, "chrF" if "chrF" in metrics else metrics[0])
    two = TWO_METRICS.get(name, tuple(data.metrics)[:2])
    return Cases(name, cases, bool(raters), one, two, _best(cases, metrics), metrics)


def _rater_cases(data: EvalSet, aspect: str) -> Iterable[Case]:
    """Yield what each rater judged for all systems, where that is enough."""
    ratings = data.ratings
    if aspect not in ratings.aspects:
        return
    for code, rater in enumerate(ratings.raters):
        own = ratings.take(ratings.rater == code)
        # References stand behind the models.
        own = own.take(own.model < len(data.models))
        scores = own.means(aspect, *data.shape)
        full = np.flatnonzero(~np.isnan(scores).any(axis=1))
        if len(full) >= FEWEST_ITEMS:
            yield Case(rater, data.at(full), scores[full])


def _whole(data: EvalSet, aspect: str) -> Case:
    """Return all items that were judged for all systems that were judged (nearly) everywhere."""
    scores = np.array(data.aspects[aspect])
    full = ~np.isnan(scores).any(axis=1)
    if full.mean() > 0.5:
        rows = np.flatnonzero(full)
        return Case("all", data.at(rows), scores[rows])
    models = [name for name, column in zip(data.models, scores.T, strict=True) if not np.isnan(column).any()]
    some = data.take(models=models)
    return Case("all", some, np.array(some.aspects[aspect]))


def _best(cases: Iterable[Case], metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the metrics with the largest mean correlation over simulations, as the paper chose its ten."""
    found = {name: float(np.mean([_correlation(case, name) for case in cases])) for name in metrics}
    return tuple(sorted(sorted(found), key=lambda name: -abs(found[name]))[:BEST])


def _correlation(case: Case, name: str) -> float:
    """Return the mean over systems of a metric's correlation with the judgements."""
    metric = metric_scores(case.data, name)
    known = ~np.isnan(metric)
    x = np.where(known, metric - np.nanmean(np.where(known.any(axis=0), metric, 0.0), axis=0), 0.0)
    y = case.truth - case.means
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    return float(np.divide((x * y).sum(axis=0), scale, out=np.zeros(len(scale)), where=scale > 0).mean())


# --- kNN predictions from metrics for many draws of one case ---------------------------------------------


NEIGHBOURS = 25
# How much deeper than expected neighbours are looked for at first.
_DEEPER = 1.5


class Neighbours:
    """kNN predictions for many draws: all items in the order of their distance, sorted once."""

    def __init__(self, variates: Floats) -> None:
        self.order = [_nearest_first(variates[:, :, model].T) for model in range(variates.shape[2])]
        # Whose how-manieth neighbour an item is.
        self.rank = [np.argsort(order, axis=1).astype(np.int32) for order in self.order]

    def predictions(self, sample: JudgedSample, neighbours: int = NEIGHBOURS) -> Floats:
        """Return the mean score of the nearest judged items, for every item and system (in sample)."""
        told = np.zeros((sample.size, sample.models))
        for model in range(sample.models):
            seen = sample.judged[:, model]
            told[:, model] = self._mean_of_nearest(
                model, sample.rows[seen], sample.scores[seen, model], neighbours
            )
        return told

    def _mean_of_nearest(
        self, model: int, rows: NDArray[np.int64], scores: Floats, neighbours: int
    ) -> Floats:
        total, count = len(self.order[model]), len(rows)
        if count <= neighbours:
            return np.full(total, scores.mean())
        depth = int(_DEEPER * neighbours * total / count)
        if count <= depth:
            near = np.argpartition(self.rank[model][:, rows], neighbours - 1, axis=1)[:, :neighbours]
            return np.asarray(scores[near].mean(axis=1))
        judged, values = np.zeros(total, bool), np.zeros(total)
        judged[rows], values[rows] = True, scores
        return _mean_along(self.order[model], judged, values, neighbours, depth)


def _nearest_first(points: Floats) -> NDArray[np.int32]:
    squares = (points**2).sum(axis=1)
    distance = squares[:, None] + squares - 2.0 * (points @ points.T)
    np.fill_diagonal(distance, -1.0)
    return np.asarray(np.argsort(distance, axis=1, kind="stable"), np.int32)


def _mean_along(
    order: NDArray[np.int32], judged: NDArray[np.bool_], values: Floats, neighbours: int, depth: int
) -> Floats:
    """Return the mean of the first judged ones along each row, looked for deeper until there are enough."""
    while True:
        near = order[:, :depth]
        there = judged[near]
        rank = there.cumsum(axis=1, dtype=np.int32)
        if depth >= len(judged) or int(rank[:, -1].min()) >= neighbours:
            break
        depth *= 2
    used = there & (rank <= neighbours)
    return np.asarray(np.where(used, values[near], 0.0).sum(axis=1) / neighbours)
