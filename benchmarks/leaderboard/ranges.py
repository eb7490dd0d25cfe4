"""Numbers with their 95 % intervals: of means by Student's t, of ratios by the spread of bootstrap draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats

NAN = float("nan")
_UPPER = 0.975


@dataclass(frozen=True)
class Range:
    """A number and its 95 % interval; the ends are NaN where nothing tells how uncertain it is."""

    value: float
    low: float = NAN
    high: float = NAN

    def times(self, factor: float) -> Range:
        """Return the same in another unit."""
        return Range(self.value * factor, self.low * factor, self.high * factor)

    def within(self, least: float, most: float) -> Range:
        """Return the same with an interval that ends where the number must: no share is above 1."""
        # An end that is not known stays so: NaN is neither below nor above anything.
        return Range(self.value, max(self.low, least), min(self.high, most))


@dataclass(frozen=True)
class Measured:
    """A mean, its standard error and the degrees of freedom of that error."""

    value: float
    error: float = NAN
    freedom: float = np.inf

    def range(self) -> Range:
        """Return value ± t(0.975; freedom) · error."""
        half = quantile(self.freedom) * self.error
        return Range(self.value, self.value - half, self.value + half)


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio, bootstrap draws of it, and the degrees of freedom that the draws stand on."""

    value: float
    draws: Floats
    freedom: float = np.inf

    def range(self) -> Range:
        """Return value · exp(± t · s / value), s being the standard deviation of the draws.

        On the scale of logarithms, because a ratio cannot fall below 0. The draws give the width only: a
        resampled curve is noisier than the curve itself, so their centre lies off the value.
        """
        if not self.value > 0.0 or np.isnan(self.draws).any():
            return Range(self.value)
        half = quantile(self.freedom) * float(np.std(self.draws, ddof=1)) / self.value
        return Range(self.value, self.value * float(np.exp(-half)), self.value * float(np.exp(half)))


def quantile(freedom: float) -> float:
    """Return how many standard errors a 95 % interval reaches to each side."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(_UPPER) if np.isinf(freedom) else stdtrit(freedom, _UPPER))


def pooled_error(errors: Sequence[float], freedoms: Sequence[float]) -> tuple[float, float]:
    """Return the error of a sum of independent parts and its freedom, by Welch and Satterthwaite.

    e² = Σeᵢ², freedom = e⁴ / Σ(eᵢ⁴/νᵢ).
    """
    squares = np.square(np.asarray(errors, np.float64))
    total = float(squares.sum())
    below = float((squares**2 / np.asarray(freedoms, np.float64)).sum())
    return float(np.sqrt(total)), (total**2 / below if below > 0.0 else np.inf)


def mean_measured(parts: Sequence[Measured]) -> Measured:
    """Return the mean of independent figures, of several sets say: the sets are given, not drawn."""
    if not parts:
        return Measured(NAN)
    error, freedom = pooled_error([part.error for part in parts], [part.freedom for part in parts])
    return Measured(float(np.mean([part.value for part in parts])), error / len(parts), freedom)


def mean_ratio(parts: Sequence[Ratio]) -> Ratio:
    """Return the mean of independent ratios, draw by draw."""
    if not parts:
        return Ratio(NAN, np.full(1, NAN))
    value = float(np.mean([part.value for part in parts]))
    freedom = parts[0].freedom if len(parts) == 1 else np.inf
    return Ratio(value, np.mean([part.draws for part in parts], axis=0), freedom)


def worst(ratios: Sequence[tuple[str, Ratio]]) -> tuple[str, Ratio] | None:
    """Return the largest ratio with its name: its interval is its own, not that of a maximum."""
    known = [found for found in ratios if not np.isnan(found[1].value)]
    return max(known, key=lambda found: (found[1].value, found[0])) if known else None
