"""How far scores vary over items and documents, and what that leaves of the power of a test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, ratio
from sparingly.base.lazy import special
from sparingly.base.stats.pairs import pair_count, pair_indices
from sparingly.infer.estimate.intervals import FEWEST_UNITS
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.sample import JudgedSample, group_sums, sample_from_arrays
from sparingly.infer.estimate.variance import ScoreErrors, nearest_covariance
from sparingly.infer.rank.pair_tests import least_p

# --- how far scores vary ---

# Fewer pairs of judged items in the same document than this tell nothing of how alike they are.
FEWEST_REPEATS = 10


def item_covariance(sample: JudgedSample, residual: Floats, parameters: float = 1.0) -> Floats:
    """Return the covariance over all items (models × models) of what a linear form leaves to chance.

    S = Σ_S e eᵀ/π / Σ_S 1/π · n/(n − p), so that a uniform draw of n items has the covariance (1 − n/N)·S/n.
    It is taken over the items on which both of two models were judged; 0 where there are none.
    """
    weight = np.where(sample.judged, 1.0 / np.sqrt(sample.probability), 0.0)
    weighted = residual * weight
    total = weight.T @ weight
    covariance = ratio(weighted.T @ weighted, total)
    count = len(sample.rows)
    return nearest_covariance(covariance * count / max(count - parameters, 1.0))


@dataclass(frozen=True)
class DocumentEffects:
    """What drawing whole documents does to the variance."""

    length: float  # the mean number of items in an item's document, itself included (Σm²/Σm)
    # The design effect on what all models share (the mean over models): how much larger its variance is than
    # that of as many items drawn one by one.
    shared: float
    differences: float  # the design effect on differences between models
    scores: float  # the design effect on the scores of single models, which have a part of both

    def raised(self, spread: Floats) -> Floats:
        """Return the spread that items have when whole documents are drawn, as if drawn one by one.

        A·S·A, A = √shared on the mean over the models and √differences on what is at right angles to it.
        """
        count = len(spread)
        level = np.full((count, count), 1.0 / count)
        root = np.sqrt(self.shared) * level + np.sqrt(self.differences) * (np.eye(count) - level)
        return np.asarray(root @ spread @ root)


def document_effects(sample: JudgedSample, residual: Floats, spread: Floats) -> DocumentEffects | None:
    """Return the design effects of documents, 1 + (Σm²/Σm − 1)·ICC; None where too little is known.

    ICC is the share of the variance that lies between documents, by analysis of variance over the judged
    items (Kish 1965, section 5.4), for the mean over the models and for what sets them apart.
    """
    if sample.document is None:
        return None
    codes = np.unique(sample.document[sample.rows], return_inverse=True)[1]
    groups = int(codes.max()) + 1
    if groups < 2 or len(codes) - groups < FEWEST_REPEATS:
        return None
    sizes = np.bincount(sample.document).astype(np.float64)
    length = float((sizes**2).sum() / sizes.sum())
    mean = residual.mean(axis=1, keepdims=True)
    shared, differences = (
        1.0 + (length - 1.0) * intraclass_correlation(part, codes) for part in (mean, residual - mean)
    )
    effects, total = DocumentEffects(length, shared, differences, 1.0), float(np.trace(spread))
    return replace(effects, scores=float(np.trace(effects.raised(spread))) / total) if total > 0 else effects


def intraclass_correlation(values: Floats, codes: Ints) -> float:
    """Return the intraclass correlation of values (items × columns) over groups, from 0 to 1.

    (MSB − MSW)/(MSB + (m₀ − 1)·MSW), squares summed over the columns.
    """
    sizes = np.bincount(codes).astype(np.float64)
    count, groups = float(len(codes)), float(len(sizes))
    deviation = values - values.mean(axis=0)
    means = group_sums(deviation, codes) / sizes[:, None]
    within_square = float(((deviation - means[codes]) ** 2).sum()) / (count - groups)
    between_square = float((sizes[:, None] * means**2).sum()) / (groups - 1.0)
    typical = (count - float((sizes**2).sum()) / count) / (groups - 1.0)
    total = between_square + (typical - 1.0) * within_square
    return float(np.clip((between_square - within_square) / total, 0.0, 1.0)) if total > 0 else 0.0


def pair_deviations(spread: Floats) -> Floats:
    """Return the standard deviation of the difference of every pair of models, √(S_jj + S_kk − 2S_jk)."""
    first, second = np.triu_indices(len(spread), 1)
    variance = np.diag(spread)
    squared = variance[first] + variance[second] - 2.0 * spread[first, second]
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def pair_total(spread: Floats) -> float:
    """Return the sum over all pairs of models of the variance of their difference."""
    return float(len(spread) * np.trace(spread) - spread.sum())


# --- how large a difference must be for rank to decide it ---

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
    chosen = np.unique(np.linspace(0, len(first) - 1, min(len(first), _MOST_PAIRS)).astype(np.int64))
    first, second = first[chosen], second[chosen]
    errors = pairs.errors.of_pairs(first, second)[0]
    if pairs.errors.freedom <= 0 or 2.0 * least_p(pairs.errors.freedom) > 1.0 - level:
        return np.full((2, len(chosen)), np.inf)
    ends = np.stack(pairs.least_differences(first, second, level))
    return ratio(ends, errors, np.inf)


def detectable(covariance: Floats, ratio: float, power: float) -> float:
    """Return the smallest difference that is decided with some power, of a middle pair.

    (c + z_power)·se, with c the ratio of difference and standard error from which on ``rank`` decides.
    """
    return float((ratio + special.ndtri(power)) * np.median(pair_deviations(covariance)))


def items_for(effect: float, models: int, level: float, power: float, largest: int) -> int | None:
    """Return the fewest items with which a standardised difference is decided with a power; None above most.

    Normal scores, all models judged on the same random items. The search begins where Student's t alone would
    do: no fewer items can be enough.
    """
    tail = 0.5 + pair_level(models, level) / 2.0
    by_student = fewest_from(
        FEWEST_UNITS,
        lambda n: float(t_tail(effect, n, float(special.stdtrit(n - 1.0, tail)))) >= power,
        largest,
    )
    if by_student is None:
        return None
    return fewest_from(by_student, lambda n: decision_power(effect, n, models, level) >= power, largest)


def fewest_from(smallest: int, is_enough: Callable[[int], bool], largest: int) -> int | None:
    """Return the smallest n that is enough, from a least one on; None where not even ``most`` is."""
    if smallest > largest:
        return None
    if is_enough(smallest):
        return smallest
    low, step = smallest, 1
    while not is_enough(high := min(low + step, largest)):
        if high == largest:
            return None
        low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
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
    finite, freedom, noncentrality = np.isfinite(ratio), n - 1.0, effect * math.sqrt(n)
    critical = np.where(finite, ratio, 0.0)
    exact = 1.0 - special.nctdtr(freedom, noncentrality, critical)
    near = special.ndtr(
        (noncentrality - critical * (1.0 - 0.25 / freedom)) / np.sqrt(1.0 + critical**2 / (2.0 * freedom))
    )
    return np.where(finite, np.where(np.isnan(exact), near, exact), 0.0)


@lru_cache(maxsize=1024)
def normal_ratios(n: int, models: int, level: float) -> Floats:
    """Return ``deciding_ratios`` of normal samples of n items, many pairs and both directions.

    The differences are those on inputs like these, of random items from a set without end.
    """
    runs = -(-_NORMAL_PAIRS // pair_count(models))
    # Row by row, so that a larger sample holds the smaller one.
    scores, ratios = rng.generator(0, "normal scores").standard_normal((n, runs, models)), []
    for run in range(runs):
        deviation = scores[:, run] - scores[:, run].mean(axis=0)
        errors = ScoreErrors(
            covariance=deviation.T @ deviation / (n * (n - 1.0)),
            freedom=n - 1.0,
            units=float(n),
            shape=deviation / n,
            stratum=np.zeros(n, np.int64),
        )
        sample = sample_from_arrays(scores[:, run])
        pairs = PairErrors(sample, errors, errors, 0.95, "auto", 0, complete=False, bounded=None)
        ratios.append(deciding_ratios(pairs, level).ravel())
    return np.concatenate(ratios)
