"""How far apart models usually lie, before any label: the prior behind chances of models.

In standard deviations of what single items show, models spread by δ around their common mean,
log δ ~ N(log 0.5, 0.8²). Few models hardly tell δ, so it is integrated over and not estimated: with two
models this is a prior that shrinks differences of noise, with many the scores themselves decide. Both numbers
were chosen on judged data of seven families and checked on families left out, see docs/bench.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparingly.infer.estimate.sample import Floats

CENTRE, SPREAD = 0.5, 0.8
_REACH, _EFFECTS, _SCALES = 3.0, 25, 9
# Beyond so many degrees of freedom the error is as good as known.
_MANY = 1e6


class EffectGrid(NamedTuple):
    """Values of δ on a grid, and the logarithm of their prior weight."""

    values: Floats
    log_weight: Floats


def usual_effects() -> EffectGrid:
    """Return the grid of δ, evenly spaced in log δ over three standard deviations to either side."""
    steps = np.linspace(-_REACH, _REACH, _EFFECTS)
    return EffectGrid(CENTRE * np.exp(SPREAD * steps), -0.5 * steps**2)


def error_scales(degrees: float) -> Floats:
    """Return equally likely values of (true variance)/(estimated variance) = df/χ²_df.

    A sample estimates its own error, too: this is what makes a normal belief one of Student's t.
    """
    from scipy.stats import chi2

    if math.isinf(degrees) or degrees > _MANY:
        return np.ones(1)
    shares = (np.arange(_SCALES) + 0.5) / _SCALES
    return np.asarray(degrees / chi2.ppf(shares, degrees))
