"""Whether item response theory fits: predicted against observed responses, and the models' abilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.levels import check_level
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.infer.analysis.base import Analysis, columns_of
from sparingly.infer.analysis.responses import FittedResponses, fitted_responses
from sparingly.infer.analysis.thinning import thinned, thinning_note
from sparingly.published.irt import IrtFit

BINS = 12
LEVEL = 0.9
MOST_POINTS = 1500
NO_INTERVALS = "The fit by map does not know how sure it is: abilities have no intervals."
ONE_MODEL = (
    "Of one model every item has a single response and is fitted to it: how well it fits cannot be told."
)


@dataclass(frozen=True)
class PredictedBin:
    """Responses that were predicted to be about the same.

    Attributes:
        predicted: The mean prediction.
        observed: The mean observation.
        low: The lower end of the interval of that mean.
        high: The upper end.
        responses: How many responses there are.
    """

    predicted: float
    observed: float
    low: float
    high: float
    responses: int


@dataclass(frozen=True)
class PredictedPoint:
    """One response: of which item and model, predicted and observed."""

    item: str
    model: str
    predicted: float
    observed: float


@dataclass(frozen=True)
class ModelAbility:
    """How able a model is.

    Attributes:
        model: The model.
        ability: Its ability θ: the middle of its interval, or the estimate where there is none.
        low: The lower end of the interval; None where there is none that can be trusted.
        high: The upper end.
        mean: Its mean response.
    """

    model: str
    ability: float
    low: float | None
    high: float | None
    mean: float


@dataclass(frozen=True, repr=False)
class IrtCheck(Analysis):
    """How well a fit predicts what it was fitted to, and the abilities it found.

    Attributes:
        method: The method that was fitted.
        response: What a response is.
        binary: Whether responses are success and failure.
        items: The number of items of the set.
        responses: The number of responses.
        error: The root of the mean squared error of the predictions; NaN for one model, which proves nothing.
        correlation: The correlation of predictions and observations; NaN where it cannot be told.
        level: The probability of the intervals.
        bins: Responses in bins of equal count, by their prediction.
        points: Single responses (those that are shown); none where they are success and failure.
        abilities: The models, the most able first.
    """

    method: str
    response: str
    binary: bool
    items: int
    responses: int
    error: float
    correlation: float
    level: float
    bins: tuple[PredictedBin, ...]
    points: tuple[PredictedPoint, ...]
    abilities: tuple[ModelAbility, ...]

    def __str__(self) -> str:
        """Return how well it fits in one line."""
        return f"{self.responses} responses by {self.method}: {self.fits}"

    @property
    def fits(self) -> str:
        """How well predictions and observations go together, in words."""
        if np.isnan(self.error):
            return "how well it fits cannot be told"
        r = "not known" if np.isnan(self.correlation) else f"{self.correlation:.2f}"
        return f"r = {r}, error {self.error:.3f}"

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every bin."""
        return columns_of(PredictedBin, self.bins)


def irt_check(
    data: EvalSet,
    method: str | Method = "irt",
    *,
    bins: int = BINS,
    level: float = LEVEL,
    most: int | None = MOST_POINTS,
    seed: int = 0,
) -> IrtCheck:
    """Fit item response theory and compare its predictions with what they were fitted to.

    Bins that lie off the diagonal mean that the form of the curves is wrong for this metric. Observations
    that scatter widely mean that items and abilities explain little of it; three parameters per item always
    explain something, so that a small error with few models proves nothing.

    Args:
        data: The evaluation set.
        method: The method ``irt`` with its parameters, such as ``irt:metric=COMET,response=binary``.
        bins: The number of bins of predictions.
        level: The probability of the intervals of abilities and of the bins' means.
        most: How many single responses are kept in the result, drawn at random; None for all.
        seed: Settles what is drawn.

    Examples:
        >>> import sparingly
        >>> found = irt_check(sparingly.load_demo(), "irt:metric=learned")
        >>> found.abilities[0].model
        'Hazel-instruct'
    """
    if bins < 1:
        raise UsageError(f"A check of the fit needs at least one bin, not {bins}.")
    check_level(level)
    fitted = fitted_responses(data, method)
    predicted, observed = fitted.fit.predicted(), fitted.observed
    cells = np.flatnonzero(~np.isnan(observed).ravel())
    expected, seen = predicted.ravel()[cells], observed.ravel()[cells]
    binary = fitted.fit.response == "binary"
    # Of single successes and failures there is nothing to see.
    points, thin = ((), ()) if binary else _points(data, cells, expected, seen, most, seed)
    alone = len(np.unique(cells % len(data.models))) < 2
    return IrtCheck(
        notes=(*thin, *_no_intervals(fitted.fit), *((ONE_MODEL,) if alone else ())),
        method=str(fitted.method),
        response=fitted.response,
        binary=binary,
        items=len(data),
        responses=len(cells),
        error=float("nan") if alone else float(np.sqrt(np.mean((expected - seen) ** 2))),
        correlation=float("nan") if alone else _correlation(expected, seen),
        level=level,
        bins=tuple(_bins(expected, seen, min(bins, len(cells)), level)),
        points=points,
        abilities=_abilities(data, fitted, level),
    )


def _points(
    data: EvalSet, cells: Ints, expected: Floats, seen: Floats, most: int | None, seed: int
) -> tuple[tuple[PredictedPoint, ...], tuple[str, ...]]:
    models = len(data.models)
    # One key per response, from those of its item and its model.
    keys = rng.scramble(data.keys[cells // models] ^ rng.keys_of(data.models)[cells % models])
    shown = thinned(keys, most, seed)
    points = tuple(
        PredictedPoint(str(data.items[cell // models]), data.models[cell % models], one, other)
        for cell, one, other in zip(
            cells[shown].tolist(), expected[shown].tolist(), seen[shown].tolist(), strict=True
        )
    )
    return points, thinning_note(len(shown), len(cells), "single responses")


def _correlation(expected: Floats, seen: Floats) -> float:
    if np.ptp(expected) == 0.0 or np.ptp(seen) == 0.0:
        return float("nan")
    return float(np.corrcoef(expected, seen)[0, 1])


def _bins(expected: Floats, seen: Floats, bins: int, level: float) -> Iterator[PredictedBin]:
    reach = NormalDist().inv_cdf(0.5 + level / 2.0)
    # The cells stand in the order of ids, which settles ties whatever the order of the file.
    for rows in np.array_split(np.argsort(np.round(expected, 9), kind="stable"), bins):
        mean, sd = float(seen[rows].mean()), float(seen[rows].std(ddof=1)) if len(rows) > 1 else float("nan")
        half = reach * sd / len(rows) ** 0.5
        yield PredictedBin(float(expected[rows].mean()), mean, mean - half, mean + half, len(rows))


def _abilities(data: EvalSet, fitted: FittedResponses, level: float) -> tuple[ModelAbility, ...]:
    fit = fitted.fit
    low, high = (None, None) if _no_intervals(fit) else (end.ability for end in fit.intervals(level))
    abilities = fit.ability if fit.centres is None or low is None else fit.centres.ability
    means = [_mean(column) for column in fitted.observed.T]
    found = [
        ModelAbility(
            name,
            float(abilities[place]),
            None if low is None else float(low[place]),
            None if high is None else float(high[place]),
            means[place],
        )
        for place, name in enumerate(data.models)
        if not np.isnan(abilities[place])
    ]
    return tuple(sorted(found, key=lambda one: (-one.ability, one.model)))


def _no_intervals(fit: IrtFit) -> tuple[str, ...]:
    """Say why abilities have no intervals, where they have none."""
    return (NO_INTERVALS,) if fit.method == "map" else ()


def _mean(values: Floats) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else float("nan")
