"""What the errors of scores are measured on: the fully judged items of one rater, or of a whole set.

A simulation is one rater and one system, as in Saldías et al. 2022: the truth is the mean of all that the
rater gave the system. Where a set has no raters, or none who judged enough items for all systems, the mean
judgement of every system takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.predictions import known_metrics, metric_scores

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
