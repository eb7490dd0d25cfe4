"""Intervals that assume nothing but the scale of the scores, where these hold at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import DataError
from sparingly.infer.estimate.bounds import empirical_bernstein, hoeffding_serfling
from sparingly.infer.estimate.intervals import Bounded
from sparingly.infer.estimate.sample import Floats, Rows, Sample
from sparingly.infer.estimate.sequences import betting_interval

Scale = tuple[float, float]


def bounded_scores(
    sample: Sample, target: str, scale: Scale | None, level: float, seed: int
) -> Bounded | None:
    """Return what makes intervals of scores from the scale alone; None where these do not hold.

    They hold for plain means of uniform samples of single items; for a population, without documents.
    """
    if scale is None or not _holds(sample, target):
        return None
    return _from_scale(sample.scores, _size(sample, target), scale, level, seed)


def bounded_pairs(
    sample: Sample, target: str, scale: Scale | None, level: float, seed: int
) -> Callable[[Rows, Rows], Bounded] | None:
    """Return what makes intervals of differences of models from the scale alone; None likewise."""
    if scale is None or not _holds(sample, target):
        return None
    reach = scale[1] - scale[0]

    def of(first: Rows, second: Rows) -> Bounded:
        apart = sample.scores[:, first] - sample.scores[:, second]
        return _from_scale(apart, _size(sample, target), (-reach, reach), level, seed)

    return of


def _holds(sample: Sample, target: str) -> bool:
    alone = sample.document is None or target == "set"
    return sample.is_uniform and bool(sample.judged.all()) and alone


def _size(sample: Sample, target: str) -> float:
    return float(sample.size) if target == "set" else np.inf


def _from_scale(scores: Floats, size: float, scale: Scale, level: float, seed: int) -> Bounded:
    low, high = scale
    # Differences of scores on the scale can leave it by rounding.
    slack = 1e-9 * (high - low)
    if scores.size and (scores.min() < low - slack or scores.max() > high + slack):
        raise DataError(f"Not every score lies on the scale from {low:g} to {high:g}.")
    inside = np.clip(scores, low, high)

    def of(kind: str) -> tuple[Floats, Floats]:
        if kind == "betting":
            # Any order will do that does not hang on the scores; that of the ids might.
            order = rng.generator(seed, "order of bets").permutation(len(inside))
            found = betting_interval(inside[order], size, low, high, level)
            return found.low, found.high
        count, means = len(inside), inside.mean(axis=0)
        if kind == "hoeffding":
            half = np.full(len(means), hoeffding_serfling(count, size, high - low, level))
        else:
            half = empirical_bernstein(inside.std(axis=0), count, high - low, level)
        return np.maximum(means - half, low), np.minimum(means + half, high)

    return of
