"""Items with success and failure, integrated out on a grid that all items share.

The posterior of an item with a dozen answers is wide and often has several tops, so the grid covers the whole
prior. As its points are the same for all items, the likelihood of all items at all points is one product of
matrices; and items with the same answers have the same posterior, which is found once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from benchmarks.irt_intervals.integral import (
    Moments,
    Places,
    ScaleFrame,
    Totals,
    around_zero,
    feasibility_rule,
    prior_slopes,
    widening,
)
from sparingly.base.arrays import Floats
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.items import MIN_PROBABILITY
from sparingly.published.irt.model import Priors, Responses

_REACH = 4.0
_FEASIBILITIES, _MOST_FEASIBILITIES = 5, 10
# Curves steeper than this have few items, in prior standard deviations of discrimination.
_STEEP = 2.5
# How far apart points may be: discriminations on their stretched scale, difficulties in prior standard
# deviations. Posteriors are narrower with more models, from these numbers of models on.
_SLOPE_STEP, _SLOPE_MODELS, _LEAST_SLOPES = 0.4, 30, 15
_STEP, _MODELS = 0.33, 14
# Numbers in an array of patterns x points.
_CELLS = 1_000_000
# With more models than this, products of two models' answers are too many to be kept.
_MANY_NODES = 30
_LEAST_SHARE = 1e-7
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Grid:
    """Points of the grid."""

    values: Floats  # (logit c, a, b), 3 x points
    square: Floats  # the square of logit c
    feasibility: Floats  # c
    logs: Floats  # the logarithm of prior times weight


def grid_of(priors: Priors, models: int, coarser: float = 1.0) -> Grid:
    """Return a grid for the posteriors of items that so many models answered."""
    slope_step, step = (
        coarser * min(1.0, np.sqrt(reference_models / models))
        for reference_models in (_SLOPE_MODELS, _MODELS)
    )
    (slope, slope_sd), (mean, sd) = priors.discrimination, priors.difficulty
    low, high = slope - _REACH * slope_sd, slope + _REACH * slope_sd
    slopes, slope_weights = around_zero(
        low, high, 2.0 / sd, _SLOPE_STEP * slope_step, int(_LEAST_SLOPES / slope_step)
    )
    # A curve rises within 1/a or so; even steps integrate it well if they are no longer than that by much.
    steepest = sd * (abs(slope) + _STEEP * slope_sd)
    count = 2 * int(np.ceil(_REACH / (step * min(_STEP, 2.8 / steepest)))) + 1
    offsets = np.linspace(-_REACH, _REACH, count)
    number = min(max(_FEASIBILITIES, models // 4), _MOST_FEASIBILITIES)
    heights, height_weights, logits = feasibility_rule(priors.logit_feasibility, number)
    parts = (
        np.log(slope_weights) - 0.5 * ((slopes - slope) / slope_sd) ** 2,
        -0.5 * offsets**2,
        np.log(height_weights),
    )
    logs = reduce(np.add.outer, parts)
    logs -= np.log(np.exp(logs).sum())
    columns = logits[0], slopes[:, None, None], (mean + sd * offsets)[:, None], logits[1], heights
    logit, discrimination, difficulty, square, feasibility = (
        np.broadcast_to(column, logs.shape).ravel() for column in columns
    )
    return Grid(np.stack([logit, discrimination, difficulty]), square, feasibility, logs.ravel())


class BinaryIntegral:
    """Items whose responses are success or failure."""

    def __init__(self, responses: Responses, priors: Priors, coarser: float = 1.0) -> None:
        codes = responses.values.astype(np.int8)
        if responses.present is not None:
            codes[responses.present == 0.0] = -1
        patterns, rows, counts = np.unique(codes.T, axis=0, return_inverse=True, return_counts=True)
        self.rows: NDArray[np.intp] = rows.ravel()
        self._patterns, self._counts = patterns, counts.astype(np.float32)
        self._whole = responses.present is None
        self._priors = priors
        self._grid = grid_of(priors, responses.shape[0], coarser)

    def start(self) -> Places:
        """Return nothing: the grid is everywhere."""
        return Places(np.empty((3, 0)), np.empty((2, 0)), np.empty(0))

    def at(self, shared: Shared, places: Places) -> tuple[Totals, Moments]:
        """Integrate the items out at given abilities."""
        table = _Table.from_grid(self._grid, shared.ability, self._priors)
        size = max(1, _CELLS // len(self._grid.logs))
        parts = [
            table.integrate(BinaryAnswers(self._patterns[part], self._counts[part], self._whole))
            for part in (slice(start, start + size) for start in range(0, len(self._patterns), size))
        ]
        sums = reduce(add, (sums for sums, _ in parts))
        # The second derivatives: the means of minus those at the points, minus a covariance.
        products = table.products(sums.pairs) if len(sums.pairs) else 0.0
        curvature = np.diag(sums.bend) - products - sums.spread
        curvature += ScaleFrame.from_abilities(shared.ability).bent(sums.slope)
        totals = Totals(sums.value, sums.slope, curvature, widening(sums.bend, sums.turn))
        return totals, Moments.concatenate([moments for _, moments in parts])


class BinaryAnswers:
    """Patterns of answers, and what they say in numbers."""

    def __init__(self, patterns: NDArray[np.int8], counts: Singles, complete: bool) -> None:
        self.counts = counts  # how many items have each pattern
        # 1 where a model succeeded, and 1 where there is an answer, patterns x models.
        self.success, self.present = (patterns == 1).astype(np.float32), (patterns >= 0).astype(np.float32)
        # (1, success) where every model answers everything, else (present, success).
        self.features = np.concatenate([self.present[:, : 1 if complete else None], self.success], axis=1)

    def averaged(self, pair: tuple[Singles, Singles], weights: Singles) -> Singles:
        """Return weighted sums over points of what failures have there, and successes have more."""
        return np.asarray(self.present * (weights @ pair[0]) + self.success * (weights @ pair[1]))


@dataclass(frozen=True, eq=False)
class BinarySums:
    """Means over the posteriors of items, summed over them.

    With few models, ``spread`` is less than the covariances, and the rest is in the ``pairs``.
    """

    value: float  # the log-likelihood of the responses, items integrated out
    slope: Floats  # the derivatives by ability
    bend: Floats  # the means of minus the second derivatives
    turn: Floats  # their covariances with the derivative by log k
    spread: Floats  # the covariances of derivatives by two abilities
    pairs: Floats  # how much of the posteriors is at each point, with each product of two features

    def __add__(self, sums: BinarySums) -> BinarySums:
        pairs = zip(vars(self).values(), vars(sums).values(), strict=True)
        return BinarySums(*(mine + theirs for mine, theirs in pairs))


@dataclass(frozen=True, eq=False)
class _Table:
    """What the points of the grid say of every model's answer, points x models, in single precision."""

    values: Singles  # (logit c, a, b) at every point, 3 x points
    squares: Singles  # their squares
    prior: Singles  # the logarithm of prior times weight
    stretch: Singles  # the derivative of the prior by log k
    logs: tuple[Singles, Singles]  # the log-likelihood of a failure, and what a success has more
    slopes: tuple[Singles, Singles]  # the derivatives by ability, in the same way
    bends: tuple[Singles, Singles]  # minus the second ones

    @classmethod
    def from_grid(cls, grid: Grid, ability: Floats, priors: Priors) -> _Table:
        """Evaluate the curves at some abilities."""
        slope, difficulty, top = grid.values[1][:, None], grid.values[2][:, None], grid.feasibility[:, None]
        with np.errstate(over="ignore"):
            missed = 1.0 / (1.0 + np.exp(slope * (ability - difficulty)))
        hit = 1.0 - missed
        p_success, p_failure = (
            np.maximum(top * hit, MIN_PROBABILITY),
            np.maximum(1.0 - top * hit, MIN_PROBABILITY),
        )
        fall = top * hit * missed * slope / p_failure
        bend = fall * (slope * (missed - hit) + fall)
        failed = np.log(p_failure), -fall, bend
        succeeded = np.log(p_success), slope * missed, slope * slope * hit * missed
        pairs = [
            (failure.astype(np.float32), (success - failure).astype(np.float32))
            for failure, success in zip(failed, succeeded, strict=True)
        ]
        squares = np.stack([grid.square, *grid.values[1:] ** 2])
        stretch = prior_slopes(grid.values[1], grid.values[2], float(ability.mean()), priors)[1]
        values, squares, prior, stretch = (
            part.astype(np.float32) for part in (grid.values, squares, grid.logs, stretch)
        )
        return cls(values, squares, prior, stretch, *pairs)

    def integrate(self, answers: BinaryAnswers) -> tuple[BinarySums, Moments]:
        """Integrate out the items of some patterns of answers."""
        counts = answers.counts
        logs = answers.present @ self.logs[0].T + answers.success @ self.logs[1].T + self.prior
        largest = logs.max(axis=1)
        shares = np.exp(logs - largest[:, None])
        total = shares.sum(axis=1)
        shares /= total[:, None]
        slopes, bends = (answers.averaged(part, shares) for part in (self.slopes, self.bends))
        curvature = answers.averaged(self.bends, shares * self.stretch)
        if slopes.shape[1] > _MANY_NODES:
            spread, pairs = self._spread(answers, shares, slopes), np.zeros((0, 0), np.float32)
        else:
            first, second = np.triu_indices(answers.features.shape[1])
            products = counts[:, None] * answers.features[:, first] * answers.features[:, second]
            spread = np.asarray(-(slopes.T * counts) @ slopes, np.float32)
            pairs = np.asarray(shares.T @ products, np.float32)
        by_ability = (
            counts @ slopes,
            counts @ bends,
            counts @ (curvature - (shares @ self.stretch)[:, None] * bends),
        )
        sums = BinarySums(
            float(counts @ (largest + np.log(total))),
            *(part.astype(np.float64) for part in (*by_ability, spread, pairs)),
        )
        mean = self.values @ shares.T
        follow = [
            answers.averaged(self.slopes, shares * row).T - place * slopes.T
            for row, place in zip(self.values, mean, strict=True)
        ]
        variance = np.maximum(self.squares @ shares.T - mean * mean, 0.0)
        return sums, Moments(mean.astype(np.float64), variance.astype(np.float64), np.stack(follow))

    def products(self, pairs: Floats) -> Floats:
        """Return the mean products of derivatives by two abilities, for a few models.

        At a point of the grid the derivatives are linear in a pattern's features, so that the means of their
        products need only those of the products of features.
        """
        points, models = self.slopes[0].shape
        number = round(np.sqrt(2 * pairs.shape[1] + 0.25) - 0.5)
        first, second = np.triu_indices(number)
        products = np.empty((points, number, number))
        products[:, first, second] = products[:, second, first] = pairs
        linear = np.zeros((points, models, number))
        place = np.arange(models)
        linear[:, place, 0 if number == models + 1 else place] = self.slopes[0]
        linear[:, place, number - models + place] = self.slopes[1]
        return np.asarray(np.tensordot(linear @ products, linear, ((0, 2), (0, 2))))

    def _spread(self, answers: BinaryAnswers, shares: Singles, slopes: Singles) -> Singles:
        """Return the covariances of derivatives by two abilities, for many models.

        Their answers leave each item few points of the grid; the others have next to nothing of its
        posterior.
        """
        rows, points = np.nonzero(shares > _LEAST_SHARE)
        present_slopes = answers.present[rows] * self.slopes[0][points]
        present_slopes += answers.success[rows] * self.slopes[1][points]
        present_slopes -= slopes[rows]
        present_slopes *= np.sqrt(shares[rows, points] * answers.counts[rows])[:, None]
        return np.asarray(present_slopes.T @ present_slopes)
