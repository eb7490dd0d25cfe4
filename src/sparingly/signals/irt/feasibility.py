"""Feasibility given discrimination and difficulty: an integral in one variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.nodes import stretched
from sparingly.signals.irt.priors import Normal

_NODES, _WEIGHTS = (part[:, None, None] for part in stretched(11, 4.0, 0.5))
_STEPS = 5
_LARGEST_STEP = 1.5
# Where the likelihood bends downwards, the curvature is at least this share of the expected one.
_LEAST_BEND = 0.25
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The integral over feasibility c, and means of c and of its logit z, each nodes x items.

    Attributes:
        log: The logarithm of the integral.
        powers: The means of c, c², c³ and c⁴.
        logit: The means of z and z².
        both: The means of z c and z c².
    """

    log: Floats
    powers: Floats
    logit: Floats
    both: Floats


def over_feasibility(square: Floats, product: Floats, prior: Normal) -> Feasibility:
    """Integrate exp(c · product − c²/2 · square) over the prior of c, a normal one for its logit.

    This is the likelihood of the responses r of an item whose curve is c σ: with noise s, product = Σ r σ/s²
    and square = Σ σ²/s². Nodes lie around the most probable logit.
    """
    centre, width = _most_probable(square, product, prior)
    logits = centre + width * _NODES
    heights = 1.0 / (1.0 + np.exp(-logits))
    squares = heights * heights
    logs = heights * product
    logs -= squares * (0.5 * square)
    logs -= 0.5 * ((logits - prior[0]) / prior[1]) ** 2
    largest = logs.max(axis=0)
    logs -= largest
    shares = np.exp(logs, out=logs)
    shares *= _WEIGHTS
    total = shares.sum(axis=0)
    shares /= total
    weighted = shares * logits
    powers = (heights, squares, heights * squares, squares * squares)
    return Feasibility(
        log=largest + np.log(total * width / prior[1]) - _LOG_ROOT,
        powers=np.stack([_mean(shares, power) for power in powers]),
        logit=np.stack([weighted.sum(axis=0), _mean(weighted, logits)]),
        both=np.stack([_mean(weighted, power) for power in powers[:2]]),
    )


def _mean(shares: Floats, values: Floats) -> Floats:
    return np.asarray(np.einsum("ckn,ckn->kn", shares, values))


def _most_probable(square: Floats, product: Floats, prior: Normal) -> tuple[Floats, Floats]:
    """Return the most probable logit, by Newton's method, and the width that the curvature there gives."""
    mean, precision = prior[0], prior[1] ** -2.0
    best = np.clip(product / np.maximum(square, 1e-12), 0.01, 0.99)
    told = (best * (1.0 - best)) ** 2 * square
    logit = (told * np.log(best / (1.0 - best)) + precision * mean) / (told + precision)
    furthest = _LARGEST_STEP * prior[1]
    for _ in range(_STEPS):
        slope, bend = _derivatives(logit, square, product, prior)
        logit += np.clip(slope / bend, -furthest, furthest)
    return logit, 1.0 / np.sqrt(_derivatives(logit, square, product, prior)[1])


def _derivatives(logit: Floats, square: Floats, product: Floats, prior: Normal) -> tuple[Floats, Floats]:
    """Return the slope of the log posterior, and minus its second derivative, which is kept positive."""
    precision = prior[1] ** -2.0
    height = 1.0 / (1.0 + np.exp(-logit))
    change = height * (1.0 - height)
    pull = change * (product - height * square)
    expected = change * change * square + precision
    bend = np.maximum(expected - (1.0 - 2.0 * height) * pull, _LEAST_BEND * expected)
    return pull - precision * (logit - prior[0]), bend
