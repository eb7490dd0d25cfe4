"""One step of every item at given abilities: as points (MAP), or as normal distributions (variational)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.published.irt import abilities
from sparingly.published.irt.abilities import Local, Shared, Sums, summed
from sparingly.published.irt.model import Priors, Responses

# --- how likely a response is ---
# The curve p = c·σ(η) is a product, so its logarithm is a sum: log p = log σ(η) + log c. Derivatives with
# respect to η and to logit c follow from two numbers per response, the first and second derivative of the
# log-likelihood with respect to log p.


# A response that the curve rules out costs this much and no more, so that every number stays finite.
MIN_PROBABILITY = 1e-14
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)
# So many probabilities of at least MIN_PROBABILITY can be multiplied within the range of a float.
_FACTORS = 16


class Measured(NamedTuple):
    """Responses against a curve, models x items, or with leading axes before these."""

    value: Floats  # the log-likelihood, summed over models
    squares: Floats  # the squared residuals, summed over models; binary responses have none
    pull: Floats  # the first derivative with respect to log p


class Continuous:
    """Normal noise: log N(r; p, s²), with derivatives p (r − p)/s² and p²/s² − p (r − p)/s²."""

    def __init__(self, responses: Responses, log_noise: float) -> None:
        self._values, self._present = responses.values, responses.present
        self._precision = np.exp(-2.0 * log_noise)
        self._constant = responses.per_item() * (_LOG_ROOT + log_noise)

    def measure(self, curve: Floats, room: Floats) -> Measured:
        """Return the log-likelihood under a curve and its first derivative, for which there is room."""
        residual = np.subtract(self._values, curve, out=room)
        if self._present is not None:
            residual *= self._present
        squares = np.einsum("...mn,...mn->...n", residual, residual)
        residual *= curve
        residual *= self._precision
        return Measured(-0.5 * self._precision * squares - self._constant, squares, residual)

    def bend(self, curve: Floats, pull: Floats) -> Floats:
        """Return minus the second derivative with respect to log p."""
        return self.expected_bend(curve) - pull

    def expected_bend(self, curve: Floats) -> Floats:
        """Return p²/s²."""
        bend = curve * curve
        bend *= self._precision
        return bend if self._present is None else bend * self._present


class Binary:
    """Success with probability p: log p or log(1 − p).

    The derivatives are 1 and 0 for a success, −p/(1 − p) and p/(1 − p)² for a failure.
    """

    def __init__(self, responses: Responses) -> None:
        self._failed = 1.0 - responses.values
        self._sign = 2.0 * responses.values - 1.0
        self._present = responses.present

    def measure(self, curve: Floats, room: Floats) -> Measured:
        """Return the log-likelihood under a curve and its first derivative, for which there is room."""
        p_observed = np.subtract(curve, self._failed, out=room)
        np.abs(p_observed, out=p_observed)
        np.maximum(p_observed, MIN_PROBABILITY, out=p_observed)
        p_present = p_observed if self._present is None else np.where(self._present > 0.0, p_observed, 1.0)
        # The logarithm of a product of several is cheaper than the logarithms of all.
        value = sum(
            np.log(np.multiply.reduce(p_present[..., start : start + _FACTORS, :], axis=-2))
            for start in range(0, p_present.shape[-2], _FACTORS)
        )
        pull = np.divide(curve, p_observed, out=room)
        pull *= self._sign
        if self._present is not None:
            pull *= self._present
        return Measured(np.asarray(value), np.zeros_like(value), pull)

    def bend(self, curve: Floats, pull: Floats) -> Floats:
        """Return minus the second derivative with respect to log p."""
        return np.asarray(self._failed * -pull / np.maximum(1.0 - curve, MIN_PROBABILITY))

    def expected_bend(self, curve: Floats) -> Floats:
        """Return p/(1 − p)."""
        bend = curve / np.maximum(1.0 - curve, MIN_PROBABILITY)
        return bend if self._present is None else np.asarray(bend * self._present)


def likelihood_of(responses: Responses, log_noise: float) -> Binary | Continuous:
    """Return the likelihood of responses under a noise (which binary responses do not have)."""
    return Binary(responses) if responses.response == "binary" else Continuous(responses, log_noise)


# --- items as points (MAP) ---


# No parameter moves further than this in one step, in prior standard deviations.
LARGEST_STEP = 1.5
_SAFE_POINT = 1e-2
_LEAST_DAMPING = 1e-2


@dataclass(frozen=True, eq=False)
class ItemPoints:
    """The parameters of a block of items, (logit c, a, b) x items, and how cautiously each item moves."""

    values: Floats
    damping: Floats

    def take(self, items: slice) -> ItemPoints:
        """Return some of the items."""
        return ItemPoints(self.values[:, items], self.damping[items])


def local_at(responses: Responses, values: Floats, shared: Shared, *, expected: bool = False) -> Local:
    """Return the log-likelihood at a point and its derivatives.

    With ``expected`` the second derivatives are those expected before the responses are seen, which form a
    positive matrix wherever the point lies. With f the log-likelihood as a function of log p, η = a(θ − b)
    and 1 − σ the chance to miss: −∂²f/∂η² = −f″ (1 − σ)² + f′ σ (1 − σ), −∂²f/∂η∂z = −f″ (1 − σ)(1 − c), and
    for z = logit c as for η.
    """
    logit, slope, difficulty = values
    distance = shared.ability[:, None] - difficulty
    with np.errstate(over="ignore"):
        missed = 1.0 / (1.0 + np.exp(slope * distance))
        failed = 1.0 / (1.0 + np.exp(logit))
    curve = (1.0 - failed) * (1.0 - missed)
    likelihood = likelihood_of(responses, shared.log_noise)
    value, squares, pull = likelihood.measure(curve, np.empty_like(curve))
    # What a derivative by log p means for the steepness a(θ − b), on whose σ the curve rises.
    by_steepness = pull * missed
    by_ability = by_steepness * slope
    gradient = np.stack(
        [
            failed * pull.sum(axis=0),
            np.einsum("mn,mn->n", by_steepness, distance),
            -by_ability.sum(axis=0),
        ]
    )
    if expected:
        # Curvature that is expected has no part in the slopes, which are nothing on average.
        bend = likelihood.expected_bend(curve)
        pull, by_steepness = np.zeros_like(pull), np.zeros_like(pull)
    else:
        bend = likelihood.bend(curve, pull)
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
    return Local(value, squares, gradient, curvature, by_ability, cross)


@dataclass(frozen=True, eq=False)
class Normals:
    """The distributions of a block of items."""

    mean: Floats  # of (logit c, a, b), 3 x items
    precision: Floats  # the inverse covariance, 6 x items (see ``abilities``)
    damping: Floats  # how cautiously each item moves


State = TypeVar("State", ItemPoints, Normals)


class ItemFit(ABC, Generic[State]):
    """How the items of a fit are represented, and how they move at given abilities; priors are normal."""

    rounding: ClassVar[float]  # a step that makes an item worse by no more than this share is none
    easing: ClassVar[float]  # by how much damping falls after a step that helped

    def __init__(self, priors: Priors) -> None:
        self._means, self._sds = priors.item_means, priors.item_sds

    @abstractmethod
    def _measured(self, responses: Responses, arrays: list[Floats], shared: Shared) -> tuple[Local, Floats]:
        """Return the derivatives at a state, and the objective of every item, which is minimised."""

    @abstractmethod
    def _target(self, local: Local, arrays: list[Floats], damping: Floats) -> Floats:
        """Return the precision by which an item's step is measured, and which it takes where it has one."""

    def improve(
        self, responses: Responses, state: State, shared: Shared, steps: int, enough: float
    ) -> tuple[State, Sums]:
        """Move a block of items a few Newton steps, none to a worse place, and sum them up."""
        *arrays, damping = (part.copy() for part in vars(state).values())
        local, objective = self._measured(responses, arrays, shared)
        for _ in range(steps):
            target = self._target(local, arrays, damping)
            step = bounded_step(target, self._slope(local, arrays[0]), damping, self._sds)
            tried: list[Floats] = [arrays[0] + step, target][: len(arrays)]
            trial, trial_objective = self._measured(responses, tried, shared)
            better = trial_objective <= objective + self.rounding * (1.0 + np.abs(objective))
            damping = next_damping(damping, better, self.easing)
            for mine, theirs in zip([*arrays, objective], [*tried, trial_objective], strict=True):
                np.copyto(mine, theirs, where=better)
            local.replace_where(trial, better)
            if np.abs(step / self._sds).max() < enough:
                break
        precision = arrays[1] if len(arrays) > 1 else self._precision(local)
        sums = summed(responses, shared, local, self._slope(local, arrays[0]), precision, objective)
        kind: Any = type(state)
        return kind(*arrays, damping), sums

    def _slope(self, local: Local, values: Floats) -> Floats:
        return np.asarray(local.slope - (values - self._means) / self._sds**2)

    def _precision(self, local: Local) -> Floats:
        precision = local.curvature.copy()
        precision[abilities.DIAGONAL] += self._sds**-2.0
        return precision


class PointItems(ItemFit[ItemPoints]):
    """Items as points: the most probable values of their parameters."""

    rounding, easing = 1e-12, 0.1

    def precision(self, responses: Responses, state: ItemPoints, shared: Shared) -> Floats:
        """Return minus the second derivatives of the log posterior at the points, 6 x items."""
        return self._precision(self._measured(responses, [state.values], shared)[0])

    def objectives(self, responses: Responses, state: ItemPoints, shared: Shared) -> Floats:
        """Return minus the log posterior of every item, up to a constant."""
        return self._objective(state.values, local_at(responses, state.values, shared))

    def _measured(self, responses: Responses, arrays: list[Floats], shared: Shared) -> tuple[Local, Floats]:
        local = local_at(responses, arrays[0], shared)
        unsafe = np.flatnonzero(~abilities.is_positive(self._precision(local), _SAFE_POINT))
        if len(unsafe):
            local_unsafe = local_at(responses.take(unsafe), arrays[0][:, unsafe], shared, expected=True)
            local.put_few(local_unsafe, unsafe)
        return local, self._objective(arrays[0], local)

    def _target(self, local: Local, arrays: list[Floats], damping: Floats) -> Floats:
        return self._precision(local)

    def _objective(self, values: Floats, local: Local) -> Floats:
        deviation = (values - self._means) / self._sds
        return np.asarray(0.5 * (deviation * deviation).sum(axis=0) - local.value)


def bounded_step(precision: Floats, slope: Floats, damping: Floats, sds: Floats) -> Floats:
    """Return the Newton step of every item, held back by its damping and by the largest step allowed."""
    damped = precision.copy()
    damped[abilities.DIAGONAL] *= 1.0 + damping
    root = abilities.cholesky(damped)
    step = abilities.backward(root, abilities.forward(root, slope))
    return np.asarray(step / np.maximum(np.abs(step / sds).max(axis=0) / LARGEST_STEP, 1.0))


def next_damping(damping: Floats, better: Mask, easing: float) -> Floats:
    """Return less damping where a step helped, and more where it did not."""
    eased = np.where(damping < _LEAST_DAMPING, 0.0, easing * damping)
    return np.where(better, eased, 3.0 * np.maximum(damping, 0.1))


# --- items as normal distributions (variational) ---
# Averages over an item's distribution are sums over 13 nodes: the centre and the twelve corners of an
# icosahedron of radius √5, which give the exact mean of every polynomial up to the fifth degree under a
# normal distribution of three variables. The lower bound is then an ordinary function of means and
# covariances, and what is maximised is that function itself, without drawing anything.


_SAFE_NORMAL = 1e-3
_HALVINGS = 6
# Numbers in an array of nodes x models x items that stays in the processor's cache.
_CELLS = 131_072
_LEAST_ITEMS = 16


def _icosahedron() -> tuple[Floats, Floats]:
    golden = (1.0 + np.sqrt(5.0)) / 2.0
    corners = [
        np.roll([0.0, sign, second_sign * golden], place)
        for sign in (1.0, -1.0)
        for second_sign in (1.0, -1.0)
        for place in range(3)
    ]
    outer = np.array(corners) * np.sqrt(5.0 / (1.0 + golden**2))
    return np.vstack([np.zeros(3), outer]), np.append(0.4, np.full(12, 0.05))


NODES, WEIGHTS = _icosahedron()
# Rows that average over the nodes: plainly, and times each of the three standard normal variables.
_AVERAGES = np.vstack([WEIGHTS, WEIGHTS * NODES.T])


def local_around(responses: Responses, mean: Floats, root: Floats, shared: Shared) -> Local:
    """Return the expected log-likelihood and its derivatives with respect to means and covariances.

    An item is (logit c, a, b) = mean + root · e with e standard normal. Ability enters as θ − b only, so its
    own variance adds to that of the last variable. The matrix of second derivatives, of which the optimal
    precision consists, is found from the first ones: E[∇²f] = E[∇f eᵀ] root⁻¹ (Stein's identity), which makes
    it the exact derivative of the sum over nodes with respect to the root.
    """
    models, items = responses.shape
    spread = np.sqrt(root[5] ** 2 + shared.ability_sd[:, None] ** 2)
    size = min(items, max(_LEAST_ITEMS, _CELLS // (len(NODES) * models)))
    room = np.empty((4, len(NODES) * models * size))
    parts = []
    for start in range(0, items, size):
        part = slice(start, start + size)
        block = responses if items <= size else responses.take(part)
        parts.append(_averages(block, mean[:, part], root[:, part], spread[:, part], shared, room))
    value, squares, by_logit, by_slope, by_ability = (
        np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)
    )
    # From averages of first derivatives, plain and times e, to second derivatives.
    twice = by_ability[3] / -spread
    slope = (twice * root[4] - by_ability[2]) / root[3]
    logit = (twice * root[2] - by_ability[1] - slope * root[1]) / root[0]
    slopes, logits = slope.sum(axis=0), logit.sum(axis=0)
    twice_slope = (slopes * root[4] - by_slope[2]) / root[3]
    logit_slope = (slopes * root[2] - by_slope[1] - twice_slope * root[1]) / root[0]
    twice_logit = (logits * root[2] - by_logit[1] - logit_slope * root[1]) / root[0]
    return Local(
        value=value,
        squares=squares,
        slope=np.stack([by_logit[0], by_slope[0], -by_ability[0].sum(axis=0)]),
        curvature=np.stack([twice_logit, logit_slope, -logits, twice_slope, -slopes, twice.sum(axis=0)]),
        slope_ability=by_ability[0],
        cross=np.stack([logit, slope, -twice]),
    )


def _averages(
    responses: Responses, mean: Floats, root: Floats, spread: Floats, shared: Shared, room: Floats
) -> tuple[Floats, ...]:
    """Average over nodes the likelihood, its squares and its slopes; slopes also times each variable e.

    For so few items that all arrays of nodes x models x items stay in the cache.
    """
    shape = (len(NODES), *responses.shape)
    distance, missed, curve, pull = room[:, : np.prod(shape)].reshape(4, *shape)
    first, second, third = NODES.T[:, :, None]
    logit = mean[0] + first * root[0]
    slope = mean[1] + first * root[1] + second * root[3]
    difficulty = mean[2] + first * root[2] + second * root[4]
    np.multiply(third[:, None], spread, out=distance)
    distance += shared.ability[:, None]
    distance -= difficulty[:, None]
    np.multiply(distance, slope[:, None], out=missed)
    with np.errstate(over="ignore"):
        np.exp(missed, out=missed)
        failed = 1.0 / (1.0 + np.exp(logit))
    missed += 1.0
    np.divide(1.0, missed, out=missed)
    np.subtract(1.0, missed, out=curve)
    curve *= (1.0 - failed)[:, None]
    value, squares, pull = likelihood_of(responses, shared.log_noise).measure(curve, pull)
    by_logit = _AVERAGES @ (pull.sum(axis=1) * failed)
    pull *= missed
    by_slope = _AVERAGES @ np.einsum("kmn,kmn->kn", pull, distance)
    pull *= slope[:, None]
    by_ability = (_AVERAGES @ pull.reshape(len(NODES), -1)).reshape(4, *responses.shape)
    return WEIGHTS @ value, WEIGHTS @ squares, by_logit, by_slope, by_ability


class NormalItems(ItemFit[Normals]):
    """Items as normal distributions: the closest ones to the posterior by the evidence lower bound."""

    rounding, easing = 1e-10, 0.7

    def _measured(self, responses: Responses, arrays: list[Floats], shared: Shared) -> tuple[Local, Floats]:
        """Return the derivatives, and the divergence from the prior less the likelihood (minus the bound)."""
        mean, root = arrays[0], abilities.cholesky(abilities.inverse(arrays[1]))
        local = local_around(responses, mean, root, shared)
        deviation = (mean - self._means) / self._sds
        squares = root * root
        variance = np.stack([squares[0], squares[1] + squares[3], squares[2] + squares[4] + squares[5]])
        logs = np.log(root[0] * root[3] * root[5] / self._sds.prod())
        divergence = 0.5 * (deviation * deviation + variance / self._sds**2 - 1.0).sum(axis=0) - logs
        return local, np.asarray(divergence - local.value)

    def _target(self, local: Local, arrays: list[Floats], damping: Floats) -> Floats:
        """Return the precision that is optimal if the curvature stands still, as far as it is positive."""
        precision, target = arrays[1], self._precision(local)
        # Wider items are seen from further away, which changes their curvature: going all the way to what is
        # optimal at the present width swings past the optimum and back.
        share = 0.5 / (1.0 + damping)
        mixed = precision + share * (target - precision)
        for _ in range(_HALVINGS):
            unsafe = np.flatnonzero(~abilities.is_positive(mixed, _SAFE_NORMAL))
            if not len(unsafe):
                return mixed
            share = share * 0.5
            old_precision = precision[:, unsafe]
            mixed[:, unsafe] = old_precision + share[unsafe] * (target[:, unsafe] - old_precision)
        unsafe = np.flatnonzero(~abilities.is_positive(mixed, _SAFE_NORMAL))
        mixed[:, unsafe] = precision[:, unsafe]
        return mixed
