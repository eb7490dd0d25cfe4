"""How well raters agree: with each other, pair by pair, with themselves, and as predictions of each other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.stats.correlation import kendall_b, pearson, spearman
from sparingly.base.stats.krippendorff import Alpha, Level, alpha_interval, krippendorff_alpha
from sparingly.base.summary import html_table
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.values import PlainFields, plain
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores
from sparingly.run.raters.controls import control_ratings

FEWEST_COMMON = 3
NO_COMMON = "agreement is unknown: no output has two ratings yet. Turn on overlap."


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the ``n`` outputs that both judged; correlations are NaN with fewer than three."""

    first: str
    second: str
    n: int
    pearson: float
    spearman: float
    kendall: float  # Kendall's τ-b
    exact: float  # the share of outputs to which both gave the same
    difference: float  # how much higher the first scored, on average


@dataclass(frozen=True)
class OwnAgreement:
    """A rater with himself or herself: α over the outputs judged twice, and the mean absolute change."""

    rater: str
    n: int
    alpha: float
    change: float


@dataclass(frozen=True, repr=False)
class RaterAgreement:
    """Agreement of raters on an aspect."""

    aspect: str
    level: Level  # the level of measurement of its scores
    alpha: Alpha  # Krippendorff's α between raters, with a 95 % interval (a bootstrap over items)
    pairs: tuple[PairAgreement, ...]  # every two raters who judged an output in common
    own: tuple[OwnAgreement, ...]  # every rater who judged an output twice
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        alpha = self.alpha
        return (
            f"RaterAgreement({self.aspect}: α {alpha.alpha:.3f} [{alpha.low:.3f}, {alpha.high:.3f}], "
            f"{self.level}, {alpha.units} outputs)"
        )

    def _repr_html_(self) -> str:
        columns = ("first", "second", "n", "Pearson", "Spearman", "Kendall", "exact", "difference")
        return html_table(columns, [tuple(asdict(pair).values()) for pair in self.pairs], repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**plain(self), "alpha": plain(self.alpha._asdict())}


def rater_agreement(
    data: EvalSet,
    aspect: str | None = None,
    *,
    level: Level = "interval",
    controls: EvalSet | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> RaterAgreement:
    """Return how well raters agree on the outputs that several of them judged.

    Krippendorff's α between raters takes any number of raters and of missing judgements; a rater's repeats
    count as their mean (of names, only where they are the same). Low agreement with high agreement of raters
    with themselves asks for clearer instructions; low agreement with themselves asks for an easier task.
    Repeats among the ratings of control items count for agreement with oneself.

    Examples:
        >>> import sparingly
        >>> found = rater_agreement(sparingly.load_demo(), "mqm")
        >>> found.alpha.units, len(found.pairs)
        (282, 2)
    """
    ratings = rater_scores(data, aspect)
    values, item = ratings.table()
    if level == "nominal":
        values = _without_contradictions(data, ratings, values)
    random = rng.generator(seed, "rater agreement", ratings.aspect)
    alpha = alpha_interval(values, level, random=random, groups=item, draws=draws)
    return RaterAgreement(
        aspect=ratings.aspect,
        level=level,
        alpha=alpha,
        pairs=_pairs(ratings, values),
        own=_own_agreements(data, ratings, controls, level),
        notes=() if alpha.units else (NO_COMMON,),
    )


def _without_contradictions(data: EvalSet, ratings: RaterScores, values: Floats) -> Floats:
    """Return names without those of raters who gave one output two names: names have no mean."""
    contradictory = {key for key, scores in _repeats(data, ratings.aspect).items() if len(set(scores)) > 1}
    rows = []
    for row in np.flatnonzero(ratings.count > 1):
        rater, item = ratings.raters[ratings.rater[row]], str(data.items[ratings.item[row]])
        if (rater, item, data.models[ratings.model[row]]) in contradictory:
            rows.append(row)
    consistent = values.copy()
    consistent[ratings.cell[rows], ratings.rater[rows]] = np.nan
    return consistent


def _pairs(ratings: RaterScores, values: Floats) -> tuple[PairAgreement, ...]:
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    judged = (~np.isnan(several)).astype(np.int64)
    pairs = []
    for first, second in zip(*np.nonzero(np.triu(judged.T @ judged, 1)), strict=True):
        common = ~np.isnan(several[:, first]) & ~np.isnan(several[:, second])
        x, y = several[common, first], several[common, second]
        enough = len(x) >= FEWEST_COMMON
        correlations = (pearson(x, y), spearman(x, y), kendall_b(x, y)) if enough else (float("nan"),) * 3
        exact, difference = float((x == y).mean()), float((x - y).mean())
        names = ratings.raters[first], ratings.raters[second]
        pairs.append(PairAgreement(*names, len(x), *correlations, exact, difference))
    return tuple(pairs)


def _own_agreements(
    data: EvalSet, ratings: RaterScores, controls: EvalSet | None, level: Level
) -> tuple[OwnAgreement, ...]:
    """Return the agreement of every rater with his or her repeated judgements of the same outputs."""
    repeats = _repeats(data, ratings.aspect)
    if controls is not None and ratings.aspect in controls.ratings.aspects:
        # Control items of the kind ``repeat`` count with the judgements of their originals.
        for control, rater, score, originals in control_ratings(ratings, data, controls):
            if control.kind == "repeat" and control.model in originals:
                key = (rater, control.original, control.model)
                repeats.setdefault(key, [originals[control.model]]).append(score)
    agreements = []
    for rater in sorted({rater for rater, *_ in repeats}):
        rows = [scores for (name, *_), scores in sorted(repeats.items()) if name == rater and len(scores) > 1]
        if rows:
            table = np.full((len(rows), max(map(len, rows))), np.nan)
            for number, scores in enumerate(rows):
                table[number, : len(scores)] = sorted(scores)
            change = float(np.mean([max(scores) - min(scores) for scores in rows]))
            agreements.append(OwnAgreement(rater, len(rows), krippendorff_alpha(table, level), change))
    return tuple(agreements)


def _repeats(data: EvalSet, aspect: str) -> dict[tuple[str, str, str], list[float]]:
    """Return, by rater, item and model, the scores of outputs that one rater judged twice or more."""
    table = data.ratings
    valid = (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.score)
    rows = np.flatnonzero(valid & (table.model < len(data.models)))
    keys = np.stack([table.rater[rows], table.item[rows], table.model[rows]], axis=1)
    _, place, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    repeats: dict[tuple[str, str, str], list[float]] = {}
    for row in rows[count[place.ravel()] > 1]:
        item, model = str(data.items[table.item[row]]), data.models[table.model[row]]
        key = (table.raters[table.rater[row]], item, model)
        repeats.setdefault(key, []).append(float(table.score[row]))
    return repeats


# --- how well the other raters predict each one, and how few of a rater's own ratings predict better ---

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


# --- ratings standardised by rater ---


def standardised(data: EvalSet, aspect: str | None = None, name: str | None = None) -> EvalSet:
    """Return the set with one more aspect: z-scores by rater, averaged over the raters of an output.

    z_ijr = (y_ijr − ȳ_r)/s_r with the mean and the standard deviation of all that rater r gave. It removes
    severity and how much of the scale a rater uses, but also any true difference between the items that
    raters were given: compare models on it where everyone judged all models of an item, and report raw
    scores beside it. A rater who always gives the same gets 0.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; default: the only one.
        name: The name of the new aspect; default: ``<aspect>_z``.

    Examples:
        >>> import sparingly
        >>> data = sparingly.standardised(sparingly.load_demo(), "mqm")
        >>> "mqm_z" in data.aspects
        True
    """
    ratings = rater_scores(data, aspect)
    new_name = name or f"{ratings.aspect}_z"
    if new_name in data.aspects:
        raise UsageError(f'There is an aspect "{new_name}" already: give the new one another name.')
    count = ratings.judgements.astype(np.float64)
    mean = np.bincount(ratings.rater, ratings.score) / count
    deviations = ratings.score - mean[ratings.rater]
    spread = np.sqrt(np.bincount(ratings.rater, deviations**2) / np.maximum(count - 1.0, 1.0))
    # What is left of equal numbers after subtracting their mean is a matter of rounding.
    steady = spread <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    score = np.where(steady[ratings.rater], 0.0, deviations / np.where(steady, 1.0, spread)[ratings.rater])
    cells = ratings.item * len(data.models) + ratings.model
    size = len(data) * len(data.models)
    total, judged = np.bincount(cells, score, minlength=size), np.bincount(cells, minlength=size)
    means = np.where(judged > 0, total / np.maximum(judged, 1), np.nan).reshape(data.shape)
    return data.with_aspect(new_name, means)
