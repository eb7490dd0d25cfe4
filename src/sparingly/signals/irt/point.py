"""One step of every item at given abilities: points, as the MAP fit has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.signals.irt import small
from sparingly.signals.irt.likelihood import likelihood_of
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Local, Shared, Sums, summed

# No parameter moves further than this in one step, in prior standard deviations.
LARGEST_STEP = 1.5
_SAFE = 1e-2
_ROUNDING = 1e-12
_EASING = 0.1
_LEAST_DAMPING = 1e-2


@dataclass(frozen=True, eq=False)
class Points:
    """The parameters of a block of items, (logit c, a, b) x items, and how cautiously each item moves."""

    values: Floats
    damping: Floats

    def take(self, items: slice) -> Points:
        """Return some of the items."""
        return Points(self.values[:, items], self.damping[items])


def local_at(responses: Responses, values: Floats, shared: Shared, *, expected: bool = False) -> Local:
    """Return the log-likelihood at a point and its derivatives.

    With ``expected`` the second derivatives are those expected before the responses are seen, which form a
    positive matrix wherever the point lies.
    """
    logit, slope, difficulty = values
    distance = shared.ability[:, None] - difficulty
    with np.errstate(over="ignore"):
        missed = 1.0 / (1.0 + np.exp(slope * distance))
        failed = 1.0 / (1.0 + np.exp(logit))
    curve = (1.0 - failed) * (1.0 - missed)
    likelihood = likelihood_of(responses, shared.log_noise)
    measured = likelihood.measure(curve, np.empty_like(curve))
    pull = measured.pull
    # What a derivative by log p means for the steepness a(θ − b), on whose σ the curve rises.
    by_steepness = pull * missed
    bend = likelihood.expected_bend(curve) if expected else likelihood.bend(curve, pull)
    # Curvature that is expected has no part in the slopes, which are nothing on average.
    part = np.zeros_like(pull) if expected else pull
    curvature, cross = _second_derivatives(values, distance, missed, failed, part, bend)
    by_ability = by_steepness * slope
    gradient = np.stack(
        [
            failed * pull.sum(axis=0),
            np.einsum("mn,mn->n", by_steepness, distance),
            -by_ability.sum(axis=0),
        ]
    )
    return Local(measured.value, measured.squares, gradient, curvature, by_ability, cross)


def _second_derivatives(
    values: Floats, distance: Floats, missed: Floats, failed: Floats, pull: Floats, bend: Floats
) -> tuple[Floats, Floats]:
    """Return minus the second derivatives in (logit c, a, b), and minus the mixed ones with abilities.

    With f the log-likelihood as a function of log p, η = a(θ − b) and 1 − σ the chance to miss:
    −∂²f/∂η² = −f″ (1 − σ)² + f′ σ (1 − σ), −∂²f/∂η∂z = −f″ (1 − σ)(1 − c), and for z = logit c as for η.
    """
    slope = values[1]
    by_steepness = pull * missed
    mixed = bend * missed
    twice = mixed * missed
    twice += (1.0 - missed) * by_steepness
    twisted = twice * distance
    twisted *= slope
    twisted -= by_steepness
    mixed *= failed
    cross = np.stack([mixed * slope, twisted, -twice * (slope * slope)])
    curvature = np.stack(
        [
            failed * ((1.0 - failed) * pull.sum(axis=0) + failed * bend.sum(axis=0)),
            np.einsum("mn,mn->n", mixed, distance),
            -cross[0].sum(axis=0),
            np.einsum("mn,mn,mn->n", twice, distance, distance),
            -twisted.sum(axis=0),
            -cross[2].sum(axis=0),
        ]
    )
    return curvature, cross


class PointItems:
    """Items as points: the most probable values of their parameters."""

    def __init__(self, priors: Priors) -> None:
        self._means, self._sds = priors.item_means, priors.item_sds

    def improve(
        self, responses: Responses, state: Points, shared: Shared, steps: int, enough: float
    ) -> tuple[Points, Sums]:
        """Move every item towards its optimum, a few Newton steps, none of which makes it worse."""
        values, damping = state.values.copy(), state.damping
        local = self._safe_local(responses, values, shared)
        objective = self._objective(values, local)
        for _ in range(steps):
            step = bounded_step(self._precision(local), self._slope(local, values), damping, self._sds)
            tried = values + step
            there = self._safe_local(responses, tried, shared)
            found = self._objective(tried, there)
            better = found <= objective + _ROUNDING * (1.0 + np.abs(objective))
            damping = next_damping(damping, better, _EASING)
            np.copyto(values, tried, where=better)
            np.copyto(objective, found, where=better)
            local.put(there, better)
            if np.abs(step / self._sds).max() < enough:
                break
        sums = summed(responses, shared, local, self._slope(local, values), self._precision(local), objective)
        return Points(values, damping), sums

    def precision(self, responses: Responses, state: Points, shared: Shared) -> Floats:
        """Return minus the second derivatives of the log posterior at the points, 6 x items."""
        return self._precision(self._safe_local(responses, state.values, shared))

    def objectives(self, responses: Responses, state: Points, shared: Shared) -> Floats:
        """Return minus the log posterior of every item, up to a constant."""
        return self._objective(state.values, local_at(responses, state.values, shared))

    def _safe_local(self, responses: Responses, values: Floats, shared: Shared) -> Local:
        local = local_at(responses, values, shared)
        unsafe = np.flatnonzero(~small.is_positive(self._precision(local), _SAFE))
        if len(unsafe):
            few = local_at(responses.take(unsafe), values[:, unsafe], shared, expected=True)
            local.put_few(few, unsafe)
        return local

    def _objective(self, values: Floats, local: Local) -> Floats:
        away = (values - self._means) / self._sds
        return np.asarray(0.5 * (away * away).sum(axis=0) - local.value)

    def _slope(self, local: Local, values: Floats) -> Floats:
        return np.asarray(local.slope - (values - self._means) / self._sds**2)

    def _precision(self, local: Local) -> Floats:
        precision = local.curvature.copy()
        precision[small.DIAGONAL] += self._sds**-2.0
        return precision


def bounded_step(precision: Floats, slope: Floats, damping: Floats, sds: Floats) -> Floats:
    """Return the Newton step of every item, held back by its damping and by the largest step allowed."""
    held = precision.copy()
    held[small.DIAGONAL] *= 1.0 + damping
    root = small.cholesky(held)
    step = small.backward(root, small.forward(root, slope))
    return np.asarray(step / np.maximum(np.abs(step / sds).max(axis=0) / LARGEST_STEP, 1.0))


def next_damping(damping: Floats, better: Mask, easing: float) -> Floats:
    """Return less damping where a step helped, and more where it did not."""
    eased = np.where(damping < _LEAST_DAMPING, 0.0, easing * damping)
    return np.where(better, eased, 3.0 * np.maximum(damping, 0.1))
