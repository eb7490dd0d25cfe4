"""What the scale of the scores tells: proportions, limits of intervals, bounds by the scale alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.base.stats.proportion import effective_proportion_interval, proportion_interval
from sparingly.data.store import Scale
from sparingly.infer.estimate.bounds import empirical_bernstein, hoeffding_serfling
from sparingly.infer.estimate.intervals import Bounded, Proportions
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.sequences import betting_interval
from sparingly.infer.estimate.variance import Errors

__all__ = ["Scale", "Values", "bounded_pairs", "bounded_scores", "proportions_of", "values_of"]


@dataclass(frozen=True)
class Values:
    """What is known of the values that scores can take.

    Attributes:
        scale: The lowest and the highest value; None where these are not known.
        two_valued: Whether every score is one of them: pass or fail.
        proportion: Whether scores are shares of one: two-valued, or wins with ties as a half.
    """

    scale: Scale | None = None
    two_valued: bool = False
    proportion: bool = False

    @property
    def is_rate(self) -> bool:
        """Whether scores are shares from 0 to 1, which are printed in percent."""
        return self.proportion and self.scale == (0.0, 1.0)


def values_of(scores: Floats, scale: Scale | None) -> Values:
    """Return what is known of the scores' values: the scale that was given, or that of 0/1 and of wins.

    ``scores`` are those that were judged. Scores that are all 0 may be of any scale, so they are proportions
    only where the scale says so; scores that are all 1 are taken as passes, and a note says so.
    """
    if scale is not None:
        low, high = scale
        slack = 1e-9 * (high - low)
        off = scores[(scores < low - slack) | (scores > high + slack)]
        if off.size:
            raise DataError(f"The score {off[0]:g} is not on the scale from {low:g} to {high:g}.")
        ends = (np.abs(scores - low) <= slack) | (np.abs(scores - high) <= slack)
        middle = np.abs(scores - (low + high) / 2.0) <= slack
        return Values(scale, bool(ends.all()), bool((ends | middle).all()))
    share = bool(np.isin(scores, (0.0, 0.5, 1.0)).all()) and bool((scores > 0).any())
    return Values((0.0, 1.0), bool((scores != 0.5).all()), True) if share else Values()


def passes_note(scores: Floats, scale: Scale | None) -> tuple[str, ...]:
    """Say that scores which are all 1 are taken as passes, where no scale tells what 1 is."""
    if scale is not None or not scores.size or (scores != 1.0).any():
        return ()
    return ("all scores are 1 and are taken as passes; name the scale where 1 is a grade on another one.",)


def proportions_of(
    sample: Sample, errors: Errors, scores: Floats, values: Values, target: str
) -> Proportions | None:
    """Return what makes intervals of proportions: exact ones for plain samples, else by the effective size.

    A plain sample is a uniform draw of single items whose mean is the score, for the set or, without
    documents, for inputs like these. With predictions, weights or documents the number of judgements that
    would give the same standard error takes the place of their number.
    """
    if not values.proportion or values.scale is None:
        return None
    low, high = values.scale
    reach = high - low
    share, error = (scores - low) / reach, errors.standard_errors / reach
    size = float(sample.size) if target == "set" else np.inf
    judged = sample.judged.sum(axis=0).astype(np.float64)
    observed = np.divide(
        sample.values.sum(axis=0) - low * judged,
        reach * judged,
        out=np.full(len(judged), np.nan),
        where=judged > 0,
    )
    # Where predictions move a score off the mean of the labels, the labels alone no longer tell its error.
    plain = (np.abs(share - observed) <= 1e-9) & (values.two_valued and _holds(sample, target))
    # Labels that are all alike tell no design effect: then units count, not the labels in them.
    alike = (observed == 0.0) | (observed == 1.0)
    labels = np.where(alike & ~plain, np.minimum(judged, np.maximum(errors.counts, 1.0)), judged)

    def of(level: float) -> tuple[Floats, Floats]:
        least, most = np.full(len(share), np.nan), np.full(len(share), np.nan)
        scored = (judged > 0) & np.isfinite(share)
        exact, other = scored & plain, scored & ~plain
        if exact.any():
            counts = np.round(observed * judged)[exact]
            least[exact], most[exact] = proportion_interval(counts, judged[exact], size, level)
        if other.any():
            least[other], most[other] = effective_proportion_interval(
                share[other],
                error[other],
                labels[other],
                size,
                level,
                share=observed[other],
                freedom=errors.freedom,
            )
        return low + reach * least, low + reach * most

    return of


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
) -> Callable[[Ints, Ints], Bounded] | None:
    """Return what makes intervals of differences of models from the scale alone; None likewise."""
    if scale is None or not _holds(sample, target):
        return None
    reach = scale[1] - scale[0]

    def of(first: Ints, second: Ints) -> Bounded:
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
