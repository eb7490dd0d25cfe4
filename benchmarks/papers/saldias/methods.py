"""The methods of Saldías et al. 2022: how items are drawn, and how scores are made of the judgements.

They are run by the package's own designs and estimators, with the paper's covariance and without
cross-fitting or guard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.papers.saldias.cases import Case, Cases, Neighbours, Shown
from benchmarks.papers.saldias.draws import Draw, Strata, stratified_draws, uniform_draws
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimators import (
    ControlVariate,
    Split,
    inverse_products,
    standardise,
    variates_of,
)
from sparingly.infer.estimate.sample import JudgedSample, difference_form

Variate = Literal["", "one", "mean", "several", "knn"]
BASE = "baseline"
BEST_PUBLISHED = "docs-prop+cv-knn"


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


class Variates:
    """The control variates of a case, made once."""

    def __init__(self, case: Case, cases: Cases) -> None:
        self._case, self._cases = case, cases
        self._near: dict[Shown, Neighbours] = {}
        self._made: dict[tuple[str, Shown], Floats] = {}
        self._inverse: dict[Shown, Floats] = {}
        self._last: tuple[JudgedSample, Shown, Floats] | None = None

    def of(self, method: Published, sample: JudgedSample) -> Floats:
        """Return the variates of a method for a sample, variates × items × systems."""
        made = self._fixed(method.variate, method.shown)
        if method.variate != "knn":
            return made
        if self._last is None or self._last[0] is not sample or self._last[1] != method.shown:
            if method.shown not in self._near:
                self._near[method.shown] = Neighbours(made)
            told = standardise(self._near[method.shown].predictions(sample))[None]
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
                made = standardise(variates_of(data, self._cases.metrics_of(shown)).mean(axis=0))[None]
            else:
                made = variates_of(data, names)
            self._made[variate, shown] = made
        return self._made[variate, shown]


def published_scores(method: Published, sample: JudgedSample, variates: Variates) -> Floats:
    """Return the scores by a method of the paper."""
    if not method.variate:
        return difference_form(sample).scores(sample)
    estimator = ControlVariate(
        variate=method.variate, covariance=method.covariance, crossfit=False, guard=False
    )
    everything = np.ones(len(sample.rows), bool)
    made = variates.of(method, sample)
    inverse = variates.inverse(method.shown) if method.variate == "several" else None
    return estimator.with_variates(sample, made, [Split(everything, everything)], inverse).scores(sample)


def draws_of(case: Case, cases: Cases, share: float, method: Published) -> Draw:
    """Return the draws of a method of the paper."""
    if method.strata is None:
        return uniform_draws(case, share)
    return stratified_draws(case, share, method.strata, cases.metrics_of(method.shown))


def deviations(sample: JudgedSample) -> Floats:
    """Return the standard deviations of the judgements of each system, divided by n."""
    return np.asarray(np.nanstd(sample.scores, axis=0))
