"""How far apart models usually lie, before any label: the prior behind chances of models.

In standard deviations of what single items show, models spread by δ around their common mean,
log δ ~ N(log 0.5, 0.8²). Few models hardly tell δ, so it is integrated over and not estimated: with two
models this is a prior that shrinks differences of noise, with many the scores themselves decide. The numbers
were chosen on judged data of seven families, and are checked on families left out: see docs/bench.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats

_REACH, _EFFECTS, _SCALES = 3.0, 25, 9
# Beyond so many degrees of freedom the error is as good as known.
_MANY = 1e6


@dataclass(frozen=True)
class EffectPrior:
    """What is believed before any label.

    Attributes:
        centre: The middle of δ: how far models spread, in standard deviations of single items.
        spread: The standard deviation of log δ.
        alike: For every contrast of models, so many units' worth of belief that the models' errors are
            alike and, beside what the models of an item share, independent.
        borrowed: Items' worth of belief that a pair's differences vary as those of all pairs do.
        within: The correlation ρ of two items of a document in what they show of two models.
        documents: Items' worth of belief in that correlation.
    """

    centre: float = 0.5
    spread: float = 0.8
    alike: float = 8.0
    borrowed: float = 10.0
    within: float = 0.2
    documents: float = 20.0


USUAL = EffectPrior()


class EffectGrid(NamedTuple):
    """Values of δ on a grid, and the logarithm of their prior weight."""

    values: Floats
    log_weight: Floats


def effect_grid(prior: EffectPrior) -> EffectGrid:
    """Return the grid of δ, evenly spaced in log δ over three standard deviations to either side."""
    steps = np.linspace(-_REACH, _REACH, _EFFECTS)
    return EffectGrid(prior.centre * np.exp(prior.spread * steps), -0.5 * steps**2)


def error_scales(degrees: float) -> Floats:
    """Return equally likely values of (true variance)/(estimated variance) = df/χ²_df.

    A sample estimates its own error, too: this is what makes a normal belief one of Student's t.
    """
    from scipy.special import gammaincinv

    if math.isinf(degrees) or degrees > _MANY:
        return np.ones(1)
    shares = (np.arange(_SCALES) + 0.5) / _SCALES
    return np.asarray(degrees / (2.0 * gammaincinv(degrees / 2.0, shares)))
