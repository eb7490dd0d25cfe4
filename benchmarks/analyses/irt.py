"""Item response theory fitted to a set: item response curves, and how well it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.analyses.base import Analysis, columns_of, rows_of, thinned, thinning_note
from benchmarks.irt_intervals import IntervalFit, fit_intervals
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.checks import check_level
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method, parse_method
from sparingly.data.evalset import EvalSet
from sparingly.published.irt import IrtFit, scaled, success
from sparingly.published.irt.utility import Irt
from sparingly.show.figures.look import (
    BLACK,
    BLUE,
    COLOURS,
    DASHES,
    GREY,
    HEIGHT,
    SKY,
    WIDTH,
    framed,
    inline,
    legend_below,
)

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart, VConcatChart


@dataclass(frozen=True, eq=False)
class FittedResponses:
    """A fit and what it was fitted to.

    Attributes:
        method: The method, with its metric settled.
        fit: The fit.
        observed: The responses, items × models: scores scaled to 0–1, or success and failure.
    """

    method: Irt
    fit: IrtFit
    observed: Floats

    @property
    def response(self) -> str:
        """What a response is, in words."""
        metric = self.method.metric
        return f"success by {metric}" if self.fit.response == "binary" else f"{metric}, scaled to 0–1"


def fitted_responses(data: EvalSet, method: str | Method) -> FittedResponses:
    """Fit item response theory as the method ``irt`` does."""
    made = parse_method(method) if isinstance(method, str) else method
    if not isinstance(made, Irt):
        raise UsageError(f'"{method}" is not item response theory: write irt, or irt:metric=….')
    made = made.resolve(data)
    scores = made.scores(data)
    if np.isnan(scores).all():
        raise DataError(f"No item has a score by {made.metric}.")
    observed = success(scores, made.threshold) if made.response == "binary" else scaled(scores)
    if made.fit == "map":
        return FittedResponses(made, made.fit_scores(scores), observed)
    fit = fit_intervals(scores, response=made.response, threshold=made.threshold)
    return FittedResponses(made, fit, observed)


# --- item response curves --------------------------------------------------------------------------------


COUNT = 6
_PLACES = 81
_MARGIN = 1.0


@dataclass(frozen=True)
class ItemCurve:
    """The curve of one item, and what was observed on it.

    Attributes:
        item: The item.
        discrimination: How steep the curve is (a).
        difficulty: The ability at which it is half way up (b).
        feasibility: How high it goes (c).
        utility: The utility by which the items were spread.
        expected: The response that is expected at every ability of the grid.
        observed: The response of every model; NaN where it has none.
    """

    item: str
    discrimination: float
    difficulty: float
    feasibility: float
    utility: float
    expected: tuple[float, ...]
    observed: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class ItemCurves(Analysis):
    """Curves of some items over abilities, with the models where they lie.

    Attributes:
        method: The method that was fitted.
        response: What a response is.
        items: The number of items of the set.
        grid: The abilities at which the curves are given.
        models: The models that have scores.
        abilities: Their abilities.
        curves: The curves, from the item with the highest utility to that with the lowest, unless named.
    """

    method: str
    response: str
    items: int
    grid: tuple[float, ...]
    models: tuple[str, ...]
    abilities: tuple[float, ...]
    curves: tuple[ItemCurve, ...]

    def __str__(self) -> str:
        """Return what there is in one line."""
        return f"{len(self.curves)} of {self.items} items by {self.method}, {len(self.models)} models"

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every item and ability of the grid."""
        rows = [
            (curve.item, ability, value)
            for curve in self.curves
            for ability, value in zip(self.grid, curve.expected, strict=True)
        ]
        columns = zip(*rows, strict=True)
        return dict(zip(("item", "ability", "expected"), map(list, columns), strict=True))

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_item_curves(self)


def item_curves(
    data: EvalSet,
    method: str | Method = "irt",
    *,
    items: Sequence[str] | None = None,
    count: int = COUNT,
    seed: int = 0,
) -> ItemCurves:
    """Fit item response theory and return the curves r̂ = c σ(a (θ − b)) of some items.

    Curves are steep where items tell models apart (discrimination a), shifted to the right where they are
    hard (difficulty b), and end low where no model does well (feasibility c; Zouhar et al. 2025, eq. 8 and
    Fig. 2).
    Where the observed responses do not follow the curves, a choice by ``irt`` means little.

    Args:
        data: The evaluation set.
        method: The method ``irt`` with its parameters, such as ``irt:metric=COMET,response=binary``.
        items: The items to show; by default some that are spread evenly over the method's utility.
        count: How many those are.
        seed: Settles ties between equal utilities.

    Examples:
        >>> import sparingly
        >>> from sparingly.data.synthetic import load_invented
        >>> found = item_curves(load_invented(), "irt:metric=learned", count=3)
        >>> [round(curve.difficulty, 1) for curve in found.curves]
        [1.4, -0.1, -1.1]
    """
    fitted = fitted_responses(data, method)
    utility = fitted.method.of_fit(fitted.fit)
    rows = _spread(utility, data, count, seed) if items is None else _named(data, fitted, items)
    known = np.flatnonzero(~np.isnan(fitted.fit.ability))
    abilities = fitted.fit.ability[known]
    grid = np.linspace(abilities.min() - _MARGIN, abilities.max() + _MARGIN, _PLACES)
    return ItemCurves(
        notes=(),
        method=str(fitted.method),
        response=fitted.response,
        items=len(data),
        grid=tuple(grid.tolist()),
        models=tuple(data.models[place] for place in known),
        abilities=tuple(abilities.tolist()),
        curves=_curves(data, fitted, utility, rows, known, grid),
    )


def _spread(utility: Floats, data: EvalSet, count: int, seed: int) -> Ints:
    if count < 1:
        raise UsageError(f"A picture of item curves needs at least one item, not {count}.")
    scored = int((~np.isnan(utility)).sum())
    places = np.unique(np.linspace(0, scored - 1, min(count, scored)).round().astype(np.int64))
    return rng.order(utility, data.keys, seed)[places]


def _named(data: EvalSet, fitted: FittedResponses, items: Sequence[str]) -> Ints:
    if isinstance(items, str) or not items:
        raise UsageError("Name at least one item, in a list of ids.")
    rows = data.positions(items)
    for row in rows[np.isnan(fitted.fit.difficulty[rows])]:
        raise UsageError(f"The item {data.items[row]} has no score by {fitted.method.metric}.")
    return rows


def _curves(
    data: EvalSet, fitted: FittedResponses, utility: Floats, rows: Ints, known: Ints, grid: Floats
) -> tuple[ItemCurve, ...]:
    fit = fitted.fit
    expected = fit.feasibility[rows, None] / (
        1.0 + np.exp(-fit.discrimination[rows, None] * (grid - fit.difficulty[rows, None]))
    )
    return tuple(
        ItemCurve(
            item=str(data.items[row]),
            discrimination=float(fit.discrimination[row]),
            difficulty=float(fit.difficulty[row]),
            feasibility=float(fit.feasibility[row]),
            utility=float(utility[row]),
            expected=tuple(curve.tolist()),
            observed=tuple(fitted.observed[row, known].tolist()),
        )
        for row, curve in zip(rows, expected, strict=True)
    )


# --- the fit ---------------------------------------------------------------------------------------------


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

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_irt_fit(self)


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
        >>> from sparingly.data.synthetic import load_invented
        >>> found = irt_check(load_invented(), "irt:metric=learned")
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
    abilities, low, high = fit.ability, None, None
    if isinstance(fit, IntervalFit):
        low, high = (end.ability for end in fit.intervals(level))
        abilities = fit.centres.ability
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


# --- the picture of the curves ---------------------------------------------------------------------------


def draw_item_curves(found: ItemCurves) -> VConcatChart:
    """Draw a line for every item, a point for every response, and a tick below for every model's ability."""
    import altair as alt

    labels = [_label(curve) for curve in found.curves]
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(labels))]
    dashes = [list(DASHES[place // len(COLOURS) % len(DASHES)]) for place in range(len(labels))]
    colour = alt.Color("curve:N").scale(domain=labels, range=colours).legend(legend_below(labels))
    dash = alt.StrokeDash("curve:N").scale(domain=labels, range=dashes).legend(legend_below(labels))
    x = (
        alt.X("ability:Q")
        .title("ability θ of a model (ticks: the models)")
        .scale(domain=[found.grid[0], found.grid[-1]], nice=False)
    )
    y = alt.Y("response:Q").title("response").scale(domain=[-0.04, 1.04], nice=False)
    curves = (
        alt.Chart(inline(row for curve in found.curves for row in _line(found, curve)))
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    observed = (
        alt.Chart(inline(row for curve in found.curves for row in _observed(found, curve)))
        .mark_circle(size=36, opacity=0.75)
        .encode(x=x, y=y, color=colour, tooltip=["model:N", "curve:N", "response:Q"])
    )
    models = [
        {"model": model, "ability": ability, "response": -0.025}
        for model, ability in zip(found.models, found.abilities, strict=True)
    ]
    ticks = (
        alt.Chart(inline(models))
        .mark_tick(color=BLACK, thickness=1.5, height=10, orient="vertical")
        .encode(x=x, y=y, tooltip=["model:N", alt.Tooltip("ability:Q", format=".2f")])
    )
    chart = alt.layer(curves, observed, ticks).properties(width=WIDTH, height=HEIGHT)
    return framed(
        chart,
        "What models of growing ability reach on an item",
        f"{counted(len(found.curves), 'item')}; lines: fitted, points: observed",
        [
            f"{found.method}, fitted to {counted(found.items, 'item')} and {counted(len(models), 'model')}. "
            f"Response: {found.response}. Expected: c·σ(a(θ − b)), with a the steepness, b the difficulty, "
            "c the highest response.",
            *found.notes,
        ],
    )


def _label(curve: ItemCurve) -> str:
    numbers = f"a {curve.discrimination:.2f}, b {curve.difficulty:.2f}, c {curve.feasibility:.2f}"
    return f"{numbers.replace('-', '−')}: {curve.item}"


def _line(curves: ItemCurves, curve: ItemCurve) -> list[dict[str, Any]]:
    places = zip(curves.grid, curve.expected, strict=True)
    return [{"curve": _label(curve), "ability": ability, "response": value} for ability, value in places]


def _observed(curves: ItemCurves, curve: ItemCurve) -> list[dict[str, Any]]:
    return [
        {"curve": _label(curve), "model": model, "ability": ability, "response": value}
        for model, ability, value in zip(curves.models, curves.abilities, curve.observed, strict=True)
        if value == value
    ]


# --- the picture of the fit ------------------------------------------------------------------------------


_SIDE = 330
_ROW = 16
_WIDE = 760


def draw_irt_fit(fit_check: IrtCheck) -> VConcatChart:
    """Draw predictions against observations on the left, and abilities with their intervals on the right."""
    import altair as alt

    chart = alt.hconcat(_predicted(fit_check), _draw_abilities(fit_check), spacing=40).resolve_scale(
        color="independent"
    )
    left = "means of bins" if fit_check.binary else "means of bins (black), single responses (blue)"
    known = fit_check.abilities[0].low is not None
    right = f"abilities with {fit_check.level:.0%} intervals" if known else "abilities"
    return framed(
        chart,
        "How well item response theory fits",
        f"left: {left}; right: {right}",
        [
            f"{fit_check.method}: {counted(fit_check.responses, 'response')} of "
            f"{counted(len(fit_check.abilities), 'model')} to "
            f"{counted(fit_check.items, 'item')}. On what was fitted: {fit_check.fits}. "
            f"Response: {fit_check.response}.",
            *fit_check.notes,
        ],
        width=_WIDE,
    )


def _predicted(fit_check: IrtCheck) -> LayerChart | FacetChart:
    import altair as alt

    scale = alt.Scale(domain=[0.0, 1.0])
    bins = alt.Chart(inline(rows_of(columns_of(PredictedBin, fit_check.bins)))).encode(
        x=alt.X("predicted:Q").title("predicted response").scale(scale)
    )
    even = alt.Chart(inline([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]))
    layers = [even.mark_line(color=GREY, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")]
    if not fit_check.binary:
        points = alt.Chart(inline(rows_of(columns_of(PredictedPoint, fit_check.points))))
        layers.append(
            points.mark_circle(color=SKY, size=14, opacity=0.4).encode(
                x=alt.X("predicted:Q").scale(scale),
                y=alt.Y("observed:Q").scale(scale),
                tooltip=["item:N", "model:N", "predicted:Q", "observed:Q"],
            )
        )
    observed = alt.Y("observed:Q").title("observed response").scale(scale)
    layers.append(
        bins.mark_rule(color=BLACK, strokeWidth=1.5).encode(y=alt.Y("low:Q").scale(scale), y2="high:Q")
    )
    layers.append(
        bins.mark_point(filled=True, color=BLACK, size=60, opacity=1.0).encode(
            y=observed, tooltip=["predicted:Q", "observed:Q", "responses:Q"]
        )
    )
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _draw_abilities(fit_check: IrtCheck) -> LayerChart | FacetChart:
    import altair as alt

    order = [ability.model for ability in fit_check.abilities]
    base = alt.Chart(inline(rows_of(columns_of(ModelAbility, fit_check.abilities)))).encode(
        y=alt.Y("model:N").sort(order).title(None)
    )
    points = base.mark_point(filled=True, color=BLUE, size=70, opacity=1.0).encode(
        x=alt.X("ability:Q").title("ability θ").scale(zero=False),
        tooltip=["model:N", alt.Tooltip("ability:Q", format=".2f"), alt.Tooltip("mean:Q", format=".3f")],
    )
    layers = [points]
    if fit_check.abilities[0].low is not None:
        rules = base.mark_rule(color=BLUE, strokeWidth=2).encode(
            x=alt.X("low:Q").scale(zero=False), x2="high:Q"
        )
        layers.insert(0, rules)
    height = max(_SIDE, _ROW * len(order))
    return alt.layer(*layers).properties(width=_SIDE - 80, height=height)
