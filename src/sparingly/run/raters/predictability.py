"""How well the other raters predict each one, and how few of a rater's own ratings predict better."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.stats.correlation import pearson
from sparingly.base.summary import html_table
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.values import PlainFields
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores

# The mean of |e| in units of the standard deviation, for a normal error.
_MEAN_ABSOLUTE = float(np.sqrt(2.0 / np.pi))
NO_OTHERS = "no output was judged by two raters, so raters cannot be predicted from each other."


@dataclass(frozen=True)
class RaterPrediction:
    """One rater as the others predict him or her, on the ``n`` outputs that the rater and others judged."""

    rater: str
    n: int
    # The absolute difference between the mean that the rater gave to a model's outputs and the mean that the
    # others gave to the same ones, averaged over models.
    error: float
    # The share of those outputs of which the rater's own ratings, drawn at random, predict the rater's mean
    # with the same error.
    share: float


@dataclass(frozen=True)
class MetricSlope:
    """How a rater's scores of ``n`` outputs of a model follow a metric: score = intercept + slope · metric.

    The correlation is Pearson's; the error is the mean absolute distance from the line.
    """

    rater: str
    model: str
    n: int
    slope: float
    correlation: float
    error: float


@dataclass(frozen=True, repr=False)
class Predictability(PlainFields):
    """How well raters can be predicted, from the others and from a metric."""

    aspect: str
    raters: tuple[RaterPrediction, ...]  # every rater who judged outputs that others judged, too
    error: float  # the mean of their errors
    metric: str | None  # the metric of the slopes; None without one
    slopes: tuple[MetricSlope, ...]  # by rater and model
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Predictability({self.aspect}: {len(self.raters)} raters, mean error {self.error:.3g})"

    def _repr_html_(self) -> str:
        columns = ("rater", "n", "error from others", "own ratings that beat it")
        return html_table(columns, [tuple(asdict(row).values()) for row in self.raters], repr(self))


def predictability(data: EvalSet, aspect: str | None = None, *, metric: str | None = None) -> Predictability:
    """Return how well each rater's mean scores follow from what the others gave to the same outputs.

    The error is that of Saldías et al. 2022, appendix B, Table 12; the share of own ratings is their
    comparison with Figure 4: E|e| = √(2/π)·s·√(1/n − 1/N) for a random sample of n of N ratings with standard
    deviation s. Where a few own ratings predict a rater better than everything the others gave, more raters
    do not replace more items. Slopes of a metric by rater and model (Figure 6) tell whether one calibration
    serves all; there are none without a metric.

    Examples:
        >>> import sparingly
        >>> found = predictability(sparingly.load_demo(), "mqm", metric="chrF")
        >>> len(found.raters), len(found.slopes)
        (3, 18)
    """
    ratings = rater_scores(data, aspect)
    name = None if metric is None else the_only("metric", metric, data.metrics)
    raters = _predictions(ratings)
    return Predictability(
        aspect=ratings.aspect,
        raters=raters,
        error=float(np.mean([prediction.error for prediction in raters])) if raters else float("nan"),
        metric=name,
        slopes=() if name is None else _slopes(ratings, data, data.metrics[name]),
        notes=() if raters else (NO_OTHERS,),
    )


def _predictions(ratings: RaterScores) -> tuple[RaterPrediction, ...]:
    total = np.bincount(ratings.cell, ratings.score)[ratings.cell]
    shared = ratings.per_cell > 1
    other_means = np.where(shared, (total - ratings.score) / np.maximum(ratings.per_cell - 1, 1), np.nan)
    predictions = []
    for rater, name in enumerate(ratings.raters):
        rows = np.flatnonzero(shared & (ratings.rater == rater))
        if not len(rows):
            continue
        scores = ratings.score[rows]
        codes = np.unique(ratings.model[rows], return_inverse=True)[1]
        count = np.bincount(codes).astype(np.float64)
        mean = np.bincount(codes, scores) / count
        error = float(np.abs(mean - np.bincount(codes, other_means[rows]) / count).mean())
        spread = np.sqrt(np.bincount(codes, (scores - mean[codes]) ** 2) / np.maximum(count - 1.0, 1.0))
        share = share_that_beats(error, spread, count)
        predictions.append(RaterPrediction(name, len(rows), error, share))
    return tuple(predictions)


def share_that_beats(error: float, spread: Floats, count: Floats) -> float:
    """Return the share of own ratings, the same of every model, whose expected error is no larger."""
    # With n = share · N: √(1/n − 1/N) = √((1/share − 1)/N), so that the share can be solved for.
    unit_error = float((_MEAN_ABSOLUTE * spread / np.sqrt(count)).mean())
    return 1.0 / (1.0 + (error / unit_error) ** 2) if unit_error > 0 else float(1.0 / count.max())


def _slopes(ratings: RaterScores, data: EvalSet, metric_scores: Floats) -> tuple[MetricSlope, ...]:
    metrics = metric_scores[ratings.item, ratings.model]
    slopes = []
    for (number, rater), (model, name) in product(enumerate(ratings.raters), enumerate(data.models)):
        rows = ~np.isnan(metrics) & (ratings.rater == number) & (ratings.model == model)
        if rows.sum() > 2:
            metric, score = metrics[rows], ratings.score[rows]
            x, y = metric - metric.mean(), score - score.mean()
            squared = float(x @ x)
            slope = float(x @ y) / squared if squared > 0 else float("nan")
            error = float(np.abs(y - slope * x).mean())
            slopes.append(MetricSlope(rater, name, len(x), slope, pearson(metric, score), error))
    return tuple(slopes)
