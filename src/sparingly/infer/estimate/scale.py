"""What the scale of the scores tells: bounds, betting intervals and sequences, proportions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.checks import check_level
from sparingly.base.errors import DataError, UsageError
from sparingly.base.stats.proportion import effective_proportion_interval, proportion_interval
from sparingly.data.scale import Ends
from sparingly.infer.estimate.intervals import BoundedInterval, ProportionInterval
from sparingly.infer.estimate.sample import JudgedSample
from sparingly.infer.estimate.variance import ScoreErrors

# --- bounds on the error of a plain mean ---
# They hold at every sample size, for the plain mean of a uniform sample and for nothing else: Saldías et
# al. 2022 use them for other estimators and choose the range by looking, which proves nothing.


def hoeffding_serfling(n: int, size: float, spread: float, level: float = 0.95) -> float:
    """Return the half width of Hoeffding's bound with Serfling's factor.

    t = R·√(k_n·ln(2/δ)/(2n)), k_n = 1 − (n − 1)/N, δ = 1 − level (Serfling 1974; Saldías et al. 2022, section
    2.3). ``spread`` is R, the width of the scale; ``size`` is N, infinite for a population.
    """
    _check(n, size, level)
    finite_factor = 1.0 - (n - 1.0) / size
    return float(spread * np.sqrt(finite_factor * np.log(2.0 / (1.0 - level)) / (2.0 * n)))


def empirical_bernstein(deviation: Floats | float, n: int, spread: float, level: float = 0.95) -> Floats:
    """Return the half width of the empirical Bernstein bound.

    t = σ̂·√(2·ln(3/δ)/n) + 3R·ln(3/δ)/n, with σ̂ the *standard deviation* of the sample (divided by n), as in
    Mnih et al. 2008; Saldías et al. 2022, section 2.3, call it a variance. It beats Hoeffding's bound
    where the scores vary little for their range and n is large.
    """
    _check(n, np.inf, level)
    log_term = np.log(3.0 / (1.0 - level))
    return np.asarray(np.asarray(deviation) * np.sqrt(2.0 * log_term / n) + 3.0 * spread * log_term / n)


def _check(n: int, size: float, level: float) -> None:
    check_level(level)
    if not 1 <= n <= size:
        raise UsageError(f"A bound needs from 1 to {size} judged items, not {n}.")


# --- confidence sequences of a uniform sample drawn without replacement ---
# They hold at every sample size at once, so one may look after every judgement, and they assume nothing but
# the range of the scores. From Waudby-Smith and Ramdas: «Confidence sequences for sampling without
# replacement» (2020) and «Estimating means of bounded random variables by betting» (2024, section 5).
#
# Scores are scaled to [0, 1] and stand in the order in which they were judged, any order that does not hang
# on the scores. ``size`` is the number N of items; infinite for a population.

# A bet may lose at most this share of the capital.
_LARGEST_LOSS = 0.75
_STEPS = 60
_GRID = 1000


class IntervalSequence(NamedTuple):
    """The lowest and the highest mean that is still believed after each judgement."""

    low: Floats
    high: Floats


def betting_interval(
    scores: Floats, size: float, low: float, high: float, level: float = 0.95
) -> IntervalSequence:
    """Return the interval after the last judgement, for scores of items × models: one number per model.

    K±_t(m) = Π_i (1 ± λ_i(x_i − m_i)) with m_i = (N·m − Σ_{k<i} x_k)/(N − i + 1), the mean of what is left if
    m is the mean of all; a mean m is given up when K⁺/2 or K⁻/2 has reached 1/α (Waudby-Smith and Ramdas
    2024, section 5). Bets λ_i are tuned to n.
    """
    scaled = _scaled(scores, size, low, high, level)
    bets = _bets(scaled, level, len(scaled))
    sums, n = scaled.sum(axis=0), len(scaled)
    # What was judged cannot be undone: it bounds the mean of all (not at all where N is infinite).
    lowest, highest = sums / size, 1.0 - (n - sums) / size
    lower = _edge(scaled, bets, size, level, lowest, highest)
    upper = 1.0 - _edge(1.0 - scaled, bets, size, level, 1.0 - highest, 1.0 - lowest)
    return IntervalSequence(low + (high - low) * lower, low + (high - low) * np.maximum(upper, lower))


def betting_sequence(
    scores: Floats, size: float, low: float, high: float, level: float = 0.95
) -> IntervalSequence:
    """Return the running interval of one model after every judgement (Waudby-Smith and Ramdas 2024)."""
    scaled = _scaled(scores, size, low, high, level)[:, :1]
    bets = _bets(scaled, level, None)
    means = np.linspace(0.0, 1.0, _GRID + 1)
    first = _running(scaled, bets, size, level, means)
    second = _running(1.0 - scaled, bets, size, level, means)
    # One step outwards, for what lies between two means of the grid.
    step = 1.0 / _GRID
    lower, upper = np.maximum(first - step, 0.0), np.minimum(1.0 - second + step, 1.0)
    return IntervalSequence(low + (high - low) * lower, low + (high - low) * upper)


def bernstein_sequence(
    scores: Floats, size: float, low: float, high: float, level: float = 0.95
) -> IntervalSequence:
    """Return the running empirical-Bernstein interval of one model after every judgement.

    Centre Σλ_i(x_i + Σ_{k<i}x_k/(N−i+1)) / Λ, half width [Σ(x_i − μ̂_{i−1})²(−ln(1−λ_i) − λ_i) + ln(2/α)] / Λ,
    where Λ = Σλ_i(1 + (i−1)/(N−i+1)) (Waudby-Smith and Ramdas 2020, theorem 3). It needs no search, and is
    a little wider than betting.
    """
    scaled = _scaled(scores, size, low, high, level)[:, :1]
    bets = np.minimum(_bets(scaled, level, None), 0.5)
    sums_before = _sums_before(scaled)
    places = np.arange(len(scaled))[:, None]
    remaining = size - places
    weight = np.cumsum(bets * (1.0 + places / remaining), axis=0)
    centre = np.cumsum(bets * (scaled + sums_before / remaining), axis=0) / weight
    squared_errors = (scaled - _running_means(scaled)) ** 2
    half = (
        np.cumsum(squared_errors * (-np.log1p(-bets) - bets), axis=0) + np.log(2.0 / (1.0 - level))
    ) / weight
    lower = np.maximum.accumulate(np.clip(centre - half, 0.0, 1.0), axis=0)[:, 0]
    upper = np.minimum.accumulate(np.clip(centre + half, 0.0, 1.0), axis=0)[:, 0]
    return IntervalSequence(low + (high - low) * lower, low + (high - low) * upper)


def _scaled(scores: Floats, size: float, low: float, high: float, level: float) -> Floats:
    if not high > low:
        raise UsageError(f"A scale goes from a lower to a higher number, not from {low} to {high}.")
    check_level(level)
    columns = scores[:, None] if scores.ndim == 1 else scores
    if not 0 < len(columns) <= size:
        raise UsageError(f"There are {size} items, so there cannot be {len(columns)} judged ones.")
    if np.isnan(columns).any() or columns.min() < low or columns.max() > high:
        raise DataError(f"Not every score lies between {low:g} and {high:g}.")
    return np.asarray((columns - low) / (high - low))


def _sums_before(scaled: Floats) -> Floats:
    return np.asarray(np.cumsum(scaled, axis=0) - scaled)


def _running_means(scaled: Floats) -> Floats:
    """Return the mean before each score, pulled towards 1/2 by one made-up score."""
    return np.asarray((0.5 + _sums_before(scaled)) / np.arange(1, len(scaled) + 1)[:, None])


def _bets(scaled: Floats, level: float, planned: int | None) -> Floats:
    """Return how much is staked on each score, from the variance before it."""
    places = np.arange(1, len(scaled) + 1)[:, None]
    squared = (scaled - _running_means(scaled)) ** 2
    variance = (0.25 + np.cumsum(squared, axis=0) - squared) / places
    horizon = places * np.log1p(places) if planned is None else float(planned)
    return np.asarray(np.sqrt(2.0 * np.log(2.0 / (1.0 - level)) / (variance * horizon)))


def _capital(scaled: Floats, bets: Floats, size: float, means: Floats) -> Floats:
    """Return the logarithm of K⁺ after each score, for one supposed mean per column."""
    supposed = np.broadcast_to(means, scaled.shape)
    if np.isfinite(size):
        places = np.arange(len(scaled))[:, None]
        supposed = (means - _sums_before(scaled) / size) * size / (size - places)
    supposed_mean = np.maximum(supposed, 0.0)
    stake = np.minimum(bets, _LARGEST_LOSS / np.maximum(supposed_mean, 1e-12))
    return np.asarray(np.cumsum(np.log1p(stake * (scaled - supposed_mean)), axis=0))


def _edge(scaled: Floats, bets: Floats, size: float, level: float, lowest: Floats, highest: Floats) -> Floats:
    """Return the lowest mean that is not given up: K⁺ falls as the mean grows, so halving finds it."""
    limit = np.log(2.0 / (1.0 - level))
    below, above = lowest.copy(), highest.copy()
    for _ in range(_STEPS):
        middle = (below + above) / 2.0
        refused = _capital(scaled, bets, size, middle).max(axis=0) >= limit
        below, above = np.where(refused, middle, below), np.where(refused, above, middle)
    return np.asarray(below)


def _running(scaled: Floats, bets: Floats, size: float, level: float, means: Floats) -> Floats:
    """Return after each score the lowest mean of a grid that is not given up."""
    limit = np.log(2.0 / (1.0 - level))
    columns = np.broadcast_to(scaled, (len(scaled), len(means)))
    capital = _capital(columns, np.broadcast_to(bets, columns.shape), size, means)
    refused = np.maximum.accumulate(capital, axis=0) >= limit
    lowest = np.where(refused.all(axis=1), 1.0, means[np.argmin(refused, axis=1)])
    if not np.isfinite(size):
        return np.asarray(lowest)
    # What was seen already cannot be undone: the mean of all is at least its part of it.
    return np.maximum(lowest, np.cumsum(scaled[:, 0]) / size)


# --- proportions and bounded scores ---


@dataclass(frozen=True)
class ScoreValues:
    """What is known of the values that scores can take."""

    scale: Ends | None = None  # the lowest and the highest value; None where these are not known
    two_valued: bool = False  # whether every score is one of them: pass or fail
    proportion: bool = False  # whether scores are shares of one: two-valued, or wins with ties as a half

    @property
    def is_rate(self) -> bool:
        """Whether scores are shares from 0 to 1, which are printed in percent."""
        return self.proportion and self.scale == (0.0, 1.0)


def values_of(scores: Floats, scale: Ends | None) -> ScoreValues:
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
        return ScoreValues(scale, bool(ends.all()), bool((ends | middle).all()))
    share = bool(np.isin(scores, (0.0, 0.5, 1.0)).all()) and bool((scores > 0).any())
    return ScoreValues((0.0, 1.0), bool((scores != 0.5).all()), True) if share else ScoreValues()


def passes_note(scores: Floats, scale: Ends | None) -> tuple[str, ...]:
    """Say that scores which are all 1 are taken as passes, where no scale tells what 1 is."""
    if scale is not None or not scores.size or (scores != 1.0).any():
        return ()
    return ("all scores are 1 and are taken as passes; name the scale where 1 is a grade on another one.",)


def proportions_of(
    sample: JudgedSample, errors: ScoreErrors, scores: Floats, values: ScoreValues, target: str
) -> ProportionInterval | None:
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
    # With unequal probabilities, the spread in the set, not that among the labels, makes the design effect.
    weight = sample.share.sum(axis=0)
    weighted = np.divide(
        (sample.share * sample.values).sum(axis=0) - low * weight,
        reach * weight,
        out=np.full(len(judged), np.nan),
        where=weight > 0,
    )
    # Where predictions move a score off the mean of the labels, the labels alone no longer tell its error.
    plain = (np.abs(share - observed) <= 1e-9) & (values.two_valued and _is_plain_mean(sample, target))
    # Labels that are all alike tell no design effect: then units count, not the labels in them.
    alike = (observed == 0.0) | (observed == 1.0)
    labels = np.where(alike & ~plain, np.minimum(judged, np.maximum(errors.counts, 1.0)), judged)

    def ends_at(level: float) -> tuple[Floats, Floats]:
        lowest, highest = np.full(len(share), np.nan), np.full(len(share), np.nan)
        scored = (judged > 0) & np.isfinite(share)
        exact, effective = scored & plain, scored & ~plain
        if exact.any():
            counts = np.round(observed * judged)[exact]
            lowest[exact], highest[exact] = proportion_interval(counts, judged[exact], size, level)
        if effective.any():
            lowest[effective], highest[effective] = effective_proportion_interval(
                share[effective],
                error[effective],
                labels[effective],
                size,
                level,
                share=np.where(alike, observed, weighted)[effective],
                freedom=errors.freedom,
            )
        return low + reach * lowest, low + reach * highest

    return ends_at


def bounded_scores(
    sample: JudgedSample, target: str, scale: Ends | None, level: float, seed: int
) -> BoundedInterval | None:
    """Return what makes intervals of scores from the scale alone; None where these do not hold.

    They hold for plain means of uniform samples of single items; for a population, without documents.
    """
    if scale is None or not _is_plain_mean(sample, target):
        return None
    return _from_scale(sample.scores, _size(sample, target), scale, level, seed)


def bounded_pairs(
    sample: JudgedSample, target: str, scale: Ends | None, level: float, seed: int
) -> Callable[[Ints, Ints], BoundedInterval] | None:
    """Return what makes intervals of differences of models from the scale alone; None likewise."""
    if scale is None or not _is_plain_mean(sample, target):
        return None
    reach = scale[1] - scale[0]

    def bounded(first: Ints, second: Ints) -> BoundedInterval:
        differences = sample.scores[:, first] - sample.scores[:, second]
        return _from_scale(differences, _size(sample, target), (-reach, reach), level, seed)

    return bounded


def plain_size(sample: JudgedSample, target: str) -> float | None:
    """Return the number of items that plain means of a uniform sample describe; None for other samples."""
    return _size(sample, target) if _is_plain_mean(sample, target) else None


def _is_plain_mean(sample: JudgedSample, target: str) -> bool:
    single_items = sample.document is None or target == "set"
    return sample.is_uniform and bool(sample.judged.all()) and single_items


def _size(sample: JudgedSample, target: str) -> float:
    return float(sample.size) if target == "set" else np.inf


def _from_scale(scores: Floats, size: float, scale: Ends, level: float, seed: int) -> BoundedInterval:
    low, high = scale
    # Differences of scores on the scale can leave it by rounding.
    slack = 1e-9 * (high - low)
    if scores.size and (scores.min() < low - slack or scores.max() > high + slack):
        raise DataError(f"Not every score lies on the scale from {low:g} to {high:g}.")
    inside = np.clip(scores, low, high)

    def ends_of(kind: str) -> tuple[Floats, Floats]:
        if kind == "betting":
            # Any order will do that does not hang on the scores; that of the ids might.
            order = rng.generator(seed, "order of bets").permutation(len(inside))
            return betting_interval(inside[order], size, low, high, level)
        count, means = len(inside), inside.mean(axis=0)
        if kind == "hoeffding":
            half = np.full(len(means), hoeffding_serfling(count, size, high - low, level))
        else:
            half = empirical_bernstein(inside.std(axis=0), count, high - low, level)
        return np.maximum(means - half, low), np.minimum(means + half, high)

    return ends_of
