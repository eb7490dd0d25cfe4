"""How large a difference between two models must be for ``rank`` to decide it, and with which probability."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_count, pair_indices
from sparingly.infer.estimate.guard import LEAST
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.variance import Errors
from sparingly.infer.plan.spread import pair_deviations
from sparingly.infer.rank.pair_tests import least_p

# A middle pair is looked for among so many pairs of models.
_MOST_PAIRS = 60
# Without data: so many pairs of normal scores. Beyond so many models and items corrections hardly change.
_NORMAL_PAIRS, _MOST_MODELS, _MOST_ITEMS = 48, 24, 2000


def pair_level(models: int, level: float) -> float:
    """Return the level at which a pair is tested first, 1 − (1 − level)/K for all K pairs.

    The first step of Holm's and of Shaffer's procedure; later steps ask for less, so that a pair is decided
    at least as often as planned.
    """
    return 1.0 - (1.0 - level) / pair_count(models)


def deciding_ratios(pairs: PairErrors, level: float) -> Floats:
    """Return by how many standard errors two models must differ to be decided, 2 directions × pairs.

    The rule is that of ``rank``: the interval at the level of a pair (``pair_level``) leaves out 0, and so
    many units can support such a p-value (``least_p``); infinite where they cannot. Of many pairs some are
    looked at.
    """
    first, second = pair_indices(pairs.errors.shape.shape[1])
    some = np.unique(np.linspace(0, len(first) - 1, min(len(first), _MOST_PAIRS)).astype(np.int64))
    first, second = first[some], second[some]
    errors = pairs.errors.of_pairs(first, second)[0]
    if pairs.errors.freedom <= 0 or 2.0 * least_p(pairs.errors.freedom) > 1.0 - level:
        return np.full((2, len(some)), np.inf)
    ends = np.stack(pairs.least_differences(first, second, level))
    return np.asarray(np.divide(ends, errors, out=np.full(ends.shape, np.inf), where=errors > 0))


def detectable(covariance: Floats, ratio: float, power: float) -> float:
    """Return the smallest difference that is decided with some power, of a middle pair.

    (c + z_power)·se, with c the ratio of difference and standard error from which on ``rank`` decides.
    """
    from scipy.special import ndtri

    return float((ratio + ndtri(power)) * np.median(pair_deviations(covariance)))


def items_for(effect: float, models: int, level: float, power: float, most: int) -> int | None:
    """Return the fewest items with which a standardised difference is decided with a power; None above most.

    Normal scores, all models judged on the same random items. The search begins where Student's t alone would
    do: no fewer items can be enough.
    """
    from scipy.special import stdtrit

    tail = 0.5 + pair_level(models, level) / 2.0
    alone = fewest_from(
        LEAST, lambda n: float(t_tail(effect, n, float(stdtrit(n - 1.0, tail)))) >= power, most
    )
    if alone is None:
        return None
    return fewest_from(alone, lambda n: decision_power(effect, n, models, level) >= power, most)


def fewest_from(least: int, enough: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest n that is enough, from a least one on; None where not even ``most`` is."""
    if least > most or enough(least):
        return None if least > most else least
    low, step = least, 1
    while not enough(high := min(low + step, most)):
        if high == most:
            return None
        low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def decision_power(effect: float, n: int, models: int, level: float) -> float:
    """Return how likely ``rank`` decides a difference of so many standard deviations after n items.

    The mean over normal samples of P(t' > c): t' noncentral with n − 1 degrees of freedom and noncentrality
    effect·√n (Cohen 1988, chapter 2), c the ratio of difference and standard error from which on it decides.
    The shape of a normal sample, by which c is corrected, is independent of its mean and standard deviation.
    """
    ratios = normal_ratios(min(n, _MOST_ITEMS), min(models, _MOST_MODELS), pair_level(models, level))
    return float(t_tail(effect, n, ratios).mean())


def normal_half_width(n: int, models: int, level: float) -> float:
    """Return half the width of the interval of a difference after n items, in standard deviations."""
    ratios = normal_ratios(min(n, _MOST_ITEMS), min(models, _MOST_MODELS), level)
    return float(np.median(ratios)) / math.sqrt(n)


def t_tail(effect: float, n: int, ratio: Floats | float) -> Floats:
    """Return P(t' > ratio) for t' with n − 1 degrees of freedom f and noncentrality δ = effect·√n.

    Where the series fails, far beyond the ratio r, by Φ((δ − r(1 − 1/4f))/√(1 + r²/2f)) (Johnson and Welch
    1940).
    """
    from scipy.special import nctdtr, ndtr

    finite, freedom, away = np.isfinite(ratio), n - 1.0, effect * math.sqrt(n)
    least = np.where(finite, ratio, 0.0)
    exact = 1.0 - nctdtr(freedom, away, least)
    near = ndtr((away - least * (1.0 - 0.25 / freedom)) / np.sqrt(1.0 + least**2 / (2.0 * freedom)))
    return np.where(finite, np.where(np.isnan(exact), near, exact), 0.0)


@lru_cache(maxsize=1024)
def normal_ratios(n: int, models: int, level: float) -> Floats:
    """Return ``deciding_ratios`` of normal samples of n items, many pairs and both directions."""
    runs = -(-_NORMAL_PAIRS // pair_count(models))
    # Row by row, so that a larger sample holds the smaller one.
    scores = rng.generator(0, "normal scores").standard_normal((n, runs, models))
    found = [deciding_ratios(_normal_pairs(scores[:, run]), level).ravel() for run in range(runs)]
    return np.concatenate(found)


def _normal_pairs(scores: Floats) -> PairErrors:
    """Return the errors of differences on inputs like these, of random items from a set without end."""
    count, models = scores.shape
    away = scores - scores.mean(axis=0)
    errors = Errors(
        covariance=away.T @ away / (count * (count - 1.0)),
        freedom=count - 1.0,
        units=float(count),
        shape=away / count,
        stratum=np.zeros(count, np.int64),
    )
    sample = Sample(
        rows=np.arange(count),
        scores=scores,
        probability=np.ones((count, models)),
        size=count,
        draw=np.ones(count),
        unit=np.arange(count),
        stratum=np.zeros(count, np.int64),
    )
    return PairErrors(sample, errors, errors, 0.95, "auto", 0, whole=False, bounded=None)
