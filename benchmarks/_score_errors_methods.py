"""The methods whose errors are compared: how items are drawn, and how scores are made of the judgements.

The published ones are those of Saldías et al. 2022, by the package's own designs and estimators, with the
paper's covariance and without cross-fitting or guard. Ours is what a user gets by default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _score_errors_cases import Case, Cases, Floats, Shown
from _score_errors_draws import Draw, Strata, our_draws, sample_of_draw, stratified_draws, uniform_draws
from sparingly.choose.design.local_pivotal import LocalPivotal
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.infer.estimate.control_variate import ControlVariate, inverse_products
from sparingly.infer.estimate.folds import Split
from sparingly.infer.estimate.greg import Greg
from sparingly.infer.estimate.linear import difference_form
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.variates import standardised, variates_of

Variate = Literal["", "one", "mean", "several", "knn"]
BASE, OURS, VOUCHED = "baseline", "ours", "ours, vouched metric"
BEST_PUBLISHED = "docs-prop+cv-knn"
NEIGHBOURS = 25
# How much deeper than expected neighbours are looked for at first.
_DEEPER = 1.5


@dataclass(frozen=True)
class Published:
    """A method of the paper.

    Attributes:
        strata: How items are drawn; None for simple random draws.
        variate: The control variate; empty for none.
        shown: Which metrics it gets.
        covariance: How Cov(X, Z) is estimated: as published, or centred (footnote 1).
    """

    strata: Strata | None = None
    variate: Variate = ""
    shown: Shown = "best"
    covariance: Literal["published", "centred"] = "published"


_DOCS, _METRICS = Strata("document"), Strata("metrics")
_DOCS_PUBLISHED = Strata("document", rounding="published")
PUBLISHED: dict[str, Published] = {
    BASE: Published(),
    "docs-prop": Published(_DOCS),
    "docs-opt": Published(Strata("document", "optimal")),
    "metrics-prop": Published(_METRICS),
    "metrics-opt": Published(Strata("metrics", "optimal")),
    "cv-one": Published(None, "one"),
    "cv-mean": Published(None, "mean"),
    "cv-multi": Published(None, "several"),
    "cv-multi, centred": Published(None, "several", covariance="centred"),
    "cv-multi, two metrics": Published(None, "several", "two"),
    "cv-knn": Published(None, "knn"),
    BEST_PUBLISHED: Published(_DOCS, "knn"),
    "docs-prop+cv-knn, centred": Published(_DOCS, "knn", covariance="centred"),
    "metrics-prop+cv-knn": Published(_METRICS, "knn"),
}
# Every document gives the same number of items in every draw, and the smallest ones none.
PUBLISHED_ROUNDING: dict[str, Published] = {
    "docs-prop, published rounding": Published(_DOCS_PUBLISHED),
    "docs-prop+cv-knn, published rounding": Published(_DOCS_PUBLISHED, "knn"),
}
# Instead of the ten best.
ALL_METRICS: dict[str, Published] = {
    "cv-mean, all metrics": Published(None, "mean", "all"),
    "cv-multi, all metrics": Published(None, "several", "all"),
    "docs-prop+cv-knn, all metrics": Published(_DOCS, "knn", "all"),
}


class Told(NamedTuple):
    """The scores of the systems, and the standard deviations of the judgements behind them."""

    scores: Floats
    deviation: Floats


class Neighbours:
    """kNN predictions for many draws: all items in the order of their distance, sorted once."""

    def __init__(self, variates: Floats) -> None:
        self.order = [_nearest_first(variates[:, :, model].T) for model in range(variates.shape[2])]
        # Whose how-manieth neighbour an item is.
        self.rank = [np.argsort(order, axis=1).astype(np.int32) for order in self.order]

    def predictions(self, sample: Sample, neighbours: int = NEIGHBOURS) -> Floats:
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


class Variates:
    """The control variates of a case, made once."""

    def __init__(self, case: Case, cases: Cases) -> None:
        self._case, self._cases = case, cases
        self._near: dict[Shown, Neighbours] = {}
        self._made: dict[tuple[str, Shown], Floats] = {}
        self._inverse: dict[Shown, Floats] = {}
        self._last: tuple[Sample, Shown, Floats] | None = None

    def of(self, method: Published, sample: Sample) -> Floats:
        """Return the variates of a method for a sample, variates × items × systems."""
        made = self._fixed(method.variate, method.shown)
        if method.variate != "knn":
            return made
        if self._last is None or self._last[0] is not sample or self._last[1] != method.shown:
            if method.shown not in self._near:
                self._near[method.shown] = Neighbours(made)
            told = standardised(self._near[method.shown].predictions(sample))[None]
            self._last = sample, method.shown, told
        return self._last[2]

    def inverse(self, shown: Shown) -> Floats:
        """Return the inverse of the products of several variates, which no sample changes."""
        if shown not in self._inverse:
            self._inverse[shown] = inverse_products(self._fixed("several", shown))
        return self._inverse[shown]

    def _fixed(self, variate: Variate, shown: Shown) -> Floats:
        """Return what does not depend on the sample: the variates, or the metrics that kNN looks at."""
        if (variate, shown) not in self._made:
            data, names = self._case.data, self._cases.shown(shown)
            if variate == "one":
                made = variates_of(data, (self._cases.one,))
            elif variate == "mean":
                made = standardised(variates_of(data, self._cases.metrics_of(shown)).mean(axis=0))[None]
            else:
                made = variates_of(data, names)
            self._made[variate, shown] = made
        return self._made[variate, shown]


def published_scores(method: Published, sample: Sample, variates: Variates) -> Floats:
    """Return the scores by a method of the paper."""
    if not method.variate:
        return difference_form(sample).scores(sample)
    estimator = ControlVariate(
        variate=method.variate, covariance=method.covariance, crossfit=False, guard=False
    )
    everything = np.ones(len(sample.rows), bool)
    made = variates.of(method, sample)
    inverse = variates.inverse(method.shown) if method.variate == "several" else None
    return estimator.moved(sample, made, [Split(everything, everything)], inverse).scores(sample)


Method = Callable[[int], Told]


def draws_of(case: Case, cases: Cases, share: float, method: Published) -> Draw:
    """Return the draws of a method of the paper."""
    if method.strata is None:
        return uniform_draws(case, share)
    return stratified_draws(case, share, method.strata, cases.metrics_of(method.shown))


def our_method(case: Case, share: float, metric: str = "") -> Method:
    """Return what the defaults give: items by ``local_pivotal``, scores by ``greg``.

    With ``metric`` the user vouches for one: half of the chances go by it.
    """
    utility = MetricAvg(metric=metric) if metric else None
    draw, estimator = our_draws(case, share, LocalPivotal(utility=utility)), Greg()

    def told(seed: int) -> Told:
        sample = sample_of_draw(case, draw(seed))
        return Told(estimator.linear(sample, case.data, seed).scores(sample), deviations(sample))

    return told


def deviations(sample: Sample) -> Floats:
    """Return the standard deviations of the judgements of each system, divided by n."""
    return np.asarray(np.nanstd(sample.scores, axis=0))
