"""The rescaled bootstrap: how far a studentised score may stray, learned from the drawn units themselves."""

from __future__ import annotations

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints

DRAWS = 1999
# So many numbers are held at once.
_BLOCK = 2_000_000


def studentised_quantiles(
    shape: Floats, stratum: Ints, level: float, seed: int, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """Return the low and the high quantile of t* = T*/√V* for every column of units × columns.

    Units are drawn again with replacement within their strata, T* is the sum of their deviations and V* its
    variance from the same draw. The deviations carry √(1 − π), the finite-population factor, so that T* has
    the variance of the actual draw (Rao and Wu 1988). Studentising corrects for skewness: the interval
    [μ̂ − t*_high·se, μ̂ − t*_low·se] leans towards the long tail. Infinite where too few units differ.
    """
    generator = rng.generator(seed, "bootstrap")
    groups = [np.flatnonzero(stratum == code) for code in np.unique(stratum)]
    low, high = np.empty(shape.shape[1]), np.empty(shape.shape[1])
    seeds = [int(part) for part in generator.integers(0, 2**62, len(groups))]
    width = max(1, _BLOCK // draws)
    for start in range(0, shape.shape[1], width):
        columns = slice(start, start + width)
        low[columns], high[columns] = _quantiles(shape[:, columns], groups, seeds, level, draws)
    return low, high


def _quantiles(
    shape: Floats, groups: list[Ints], seeds: list[int], level: float, draws: int
) -> tuple[Floats, Floats]:
    total, variance = np.zeros((draws, shape.shape[1])), np.zeros((draws, shape.shape[1]))
    for rows, seed in zip(groups, seeds, strict=True):
        _add_stratum(total, variance, shape[rows] - shape[rows].mean(axis=0), seed)
    # A draw in which no two units differ tells nothing of its own error.
    flat = variance <= 1e-12 * (shape**2).sum(axis=0)
    still = np.abs(total) <= 1e-9 * np.sqrt((shape**2).sum(axis=0))
    root = np.sqrt(np.where(flat, 1.0, variance))
    ratio = np.where(flat, np.where(still, 0.0, np.copysign(np.inf, total)), total / root)
    ratio.sort(axis=0)
    place = max(int((1.0 - level) / 2.0 * (draws + 1)), 1)
    return ratio[place - 1], ratio[draws - place]


def _add_stratum(total: Floats, variance: Floats, deviation: Floats, seed: int) -> None:
    """Add what the draws of one stratum give to the sums and their variances."""
    count = len(deviation)
    if count < 2:
        return
    generator = np.random.Generator(np.random.PCG64(seed))
    squared = deviation**2
    step = max(1, _BLOCK // count)
    for start in range(0, len(total), step):
        block = slice(start, min(start + step, len(total)))
        drawn = generator.multinomial(count, np.full(count, 1.0 / count), size=block.stop - start)
        times = drawn.astype(np.float64)
        sums = times @ deviation
        total[block] += sums
        variance[block] += (times @ squared - sums**2 / count) * (count / (count - 1.0))


def skewness(shape: Floats) -> Floats:
    """Return the skewness of every column of units × columns; NaN where all units are the same.

    G₁ = √(n(n−1))/(n−2) · (Σd³/n)/(Σd²/n)^{3/2} with d from the columns' means.
    """
    count = len(shape)
    if count < 3:
        return np.full(shape.shape[1], np.nan)
    deviation = shape - shape.mean(axis=0)
    second = (deviation**2).mean(axis=0)
    third = (deviation**3).mean(axis=0)
    spread = second > 1e-18 * np.maximum((shape**2).mean(axis=0), 1e-300)
    ratio = np.divide(third, second**1.5, out=np.full(len(second), np.nan), where=spread & (second > 0))
    return np.asarray(ratio * np.sqrt(count * (count - 1.0)) / (count - 2.0))
