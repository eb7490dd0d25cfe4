"""The ridge of an item's posterior: the most probable discrimination at given difficulties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared

_STEPS = 6
_LARGEST_STEP = 1.5
_DAMPING = 1e-2


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Minus the log posterior, its slope, and its expected second derivatives in (logit c, a)."""

    objective: Floats
    slope: Floats
    curvature: Floats

    def put(self, other: _Slopes, where: Mask) -> None:
        """Overwrite some of the numbers by those of another point."""
        for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True):
            np.copyto(mine, theirs, where=where)


def ridge(
    responses: Responses, difficulty: Floats, start: Floats, shared: Shared, priors: Priors
) -> tuple[Floats, Floats]:
    """Return the most probable discrimination at every difficulty, nodes x items, and its width.

    Damped Gauss–Newton steps in (logit c, a), none of which makes things worse; the width is the standard
    deviation of a that the expected curvature gives, with c following.

    Args:
        responses: Continuous responses.
        difficulty: The difficulties, nodes x items.
        start: Where to start, (logit c, a) x nodes x items.
        shared: The abilities and the noise.
        priors: The priors.
    """
    sds = priors.item_sds[:2, :, None]
    values = start.copy()
    there = _slopes(responses, difficulty, values, shared, priors)
    damping = np.full(difficulty.shape, _DAMPING)
    for _ in range(_STEPS):
        step = _solve(there, damping)
        step /= np.maximum(np.abs(step / sds).max(axis=0) / _LARGEST_STEP, 1.0)
        tried = values + step
        found = _slopes(responses, difficulty, tried, shared, priors)
        better = found.objective <= there.objective
        np.copyto(values, tried, where=better)
        there.put(found, better)
        damping = np.where(better, 0.1 * damping, 10.0 * damping + _DAMPING)
    first, both, second = there.curvature
    return values[1], 1.0 / np.sqrt(second - both * both / first)


def _solve(there: _Slopes, damping: Floats) -> Floats:
    first, both, second = there.curvature
    first, second = first * (1.0 + damping), second * (1.0 + damping)
    one, other = there.slope
    whole = first * second - both * both
    return np.stack([(second * one - both * other) / whole, (first * other - both * one) / whole])


def _slopes(
    responses: Responses, difficulty: Floats, values: Floats, shared: Shared, priors: Priors
) -> _Slopes:
    logit, slope = values
    height = 1.0 / (1.0 + np.exp(-logit))
    failed = 1.0 - height
    distance = shared.ability[:, None, None] - difficulty
    with np.errstate(over="ignore"):
        hit = 1.0 / (1.0 + np.exp(-slope * distance))
    if responses.present is not None:
        hit *= responses.present[:, None]
    # The curve is c · hit; its derivatives by logit c and by a are c times (1 − c) hit and this.
    steep = hit * (1.0 - hit)
    steep *= distance
    seen = responses.values
    one, both, other = (
        np.einsum("mkn,mkn->kn", *pair) for pair in ((hit, hit), (hit, steep), (steep, steep))
    )
    product, rising = (np.einsum("mkn,mn->kn", part, seen) for part in (hit, steep))
    squares = np.einsum("mn,mn->n", seen, seen) - 2.0 * height * product + height * height * one
    precision = np.exp(-2.0 * shared.log_noise)
    sds = priors.item_sds[:2, :, None]
    away = (values - priors.item_means[:2, :, None]) / sds
    slopes = np.stack([failed * (product - height * one), rising - height * both])
    curvature = precision * height * height * np.stack([failed * failed * one, failed * both, other])
    curvature[::2] += sds**-2.0
    return _Slopes(
        0.5 * (precision * squares + (away * away).sum(axis=0)),
        precision * height * slopes - away / sds,
        curvature,
    )
