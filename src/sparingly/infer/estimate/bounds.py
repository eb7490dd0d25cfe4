"""Bounds on the error of a plain mean that assume nothing but the range of the scores.

They hold at every sample size, for the plain mean of a uniform sample and for nothing else: Saldías et al.
2022 use them for other estimators and choose the range by looking, which proves nothing.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.levels import check_level


def hoeffding_serfling(n: int, size: float, spread: float, level: float = 0.95) -> float:
    """Return the half width of Hoeffding's bound with Serfling's factor.

    t = R·√(k_n·ln(2/δ)/(2n)), k_n = 1 − (n − 1)/N, δ = 1 − level (Serfling 1974; Saldías et al. 2022, section
    2.3). ``spread`` is R, the width of the scale; ``size`` is N, infinite for a population.
    """
    _check(n, size, level)
    kept = 1.0 - (n - 1.0) / size
    return float(spread * np.sqrt(kept * np.log(2.0 / (1.0 - level)) / (2.0 * n)))


def empirical_bernstein(deviation: Floats | float, n: int, spread: float, level: float = 0.95) -> Floats:
    """Return the half width of the empirical Bernstein bound.

    t = σ̂·√(2·ln(3/δ)/n) + 3R·ln(3/δ)/n, with σ̂ the *standard deviation* of the sample (divided by n), as in
    Mnih et al. 2008; Saldías et al. 2022, section 2.3, call it a variance. It beats Hoeffding's bound
    where the scores vary little for their range and n is large.
    """
    _check(n, np.inf, level)
    told = np.log(3.0 / (1.0 - level))
    return np.asarray(np.asarray(deviation) * np.sqrt(2.0 * told / n) + 3.0 * spread * told / n)


def _check(n: int, size: float, level: float) -> None:
    check_level(level)
    if not 1 <= n <= size:
        raise UsageError(f"A bound needs from 1 to {size} judged items, not {n}.")
