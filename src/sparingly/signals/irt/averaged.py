"""One step of every item at given abilities: normal distributions, as the variational fit has them.

Averages over an item's distribution are sums over 13 nodes: the centre and the twelve corners of an
icosahedron of radius √5, which give the exact mean of every polynomial up to the fifth degree under a
normal distribution of three variables. The lower bound is then an ordinary function of means and
covariances, and what is maximised is that function itself, without drawing anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt import small
from sparingly.signals.irt.likelihood import likelihood_of
from sparingly.signals.irt.point import bounded_step, next_damping
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Local, Shared, Sums, summed

_SAFE = 1e-3
_HALVINGS = 6
_ROUNDING = 1e-10
_EASING = 0.7
# Numbers in an array of nodes x models x items that stays in the processor's cache.
_CELLS = 131_072
_LEAST_ITEMS = 16


def _icosahedron() -> tuple[Floats, Floats]:
    """Return the nodes, 13 x 3, and their weights."""
    golden = (1.0 + np.sqrt(5.0)) / 2.0
    corners = [
        np.roll([0.0, one, other * golden], place)
        for one in (1.0, -1.0)
        for other in (1.0, -1.0)
        for place in range(3)
    ]
    outer = np.array(corners) * np.sqrt(5.0 / (1.0 + golden**2))
    return np.vstack([np.zeros(3), outer]), np.append(0.4, np.full(12, 0.05))


NODES, WEIGHTS = _icosahedron()
# Rows that average over the nodes: plainly, and times each of the three standard normal variables.
_AVERAGES = np.vstack([WEIGHTS, WEIGHTS * NODES.T])


@dataclass(frozen=True, eq=False)
class Normals:
    """The distributions of a block of items.

    Attributes:
        mean: Of (logit c, a, b), 3 x items.
        precision: The inverse covariance, 6 x items (see ``small``).
        damping: How cautiously each item moves.
    """

    mean: Floats
    precision: Floats
    damping: Floats

    @property
    def root(self) -> Floats:
        """The lower triangular root of the covariance."""
        return small.cholesky(small.inverse(self.precision))


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
    found = parts[0] if len(parts) == 1 else _Averages.joined(parts)
    return _derivatives(found, root, spread)


@dataclass(frozen=True, eq=False)
class _Averages:
    """Averages over nodes of the likelihood and its slopes; of slopes also times each variable e."""

    value: Floats
    squares: Floats
    by_logit: Floats
    by_slope: Floats
    by_ability: Floats

    @classmethod
    def joined(cls, parts: list[_Averages]) -> _Averages:
        """Join the averages of several groups of items."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(np.concatenate(column, axis=-1) for column in columns))


def _averages(
    responses: Responses, mean: Floats, root: Floats, spread: Floats, shared: Shared, room: Floats
) -> _Averages:
    """Average over nodes for so few items that all arrays of nodes x models x items stay in the cache."""
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
    measured = likelihood_of(responses, shared.log_noise).measure(curve, pull)
    by_logit = _AVERAGES @ (pull.sum(axis=1) * failed)
    pull *= missed
    by_slope = _AVERAGES @ np.einsum("kmn,kmn->kn", pull, distance)
    pull *= slope[:, None]
    by_ability = (_AVERAGES @ pull.reshape(len(NODES), -1)).reshape(4, *responses.shape)
    return _Averages(WEIGHTS @ measured.value, WEIGHTS @ measured.squares, by_logit, by_slope, by_ability)


def _derivatives(found: _Averages, root: Floats, spread: Floats) -> Local:
    """Turn averages of first derivatives, plain and times e, into first and second derivatives."""
    by_logit, by_slope, by_ability = found.by_logit, found.by_slope, found.by_ability
    twice = by_ability[3] / -spread
    slope = (twice * root[4] - by_ability[2]) / root[3]
    logit = (twice * root[2] - by_ability[1] - slope * root[1]) / root[0]
    slopes, logits = slope.sum(axis=0), logit.sum(axis=0)
    twice_slope = (slopes * root[4] - by_slope[2]) / root[3]
    logit_slope = (slopes * root[2] - by_slope[1] - twice_slope * root[1]) / root[0]
    twice_logit = (logits * root[2] - by_logit[1] - logit_slope * root[1]) / root[0]
    return Local(
        value=found.value,
        squares=found.squares,
        slope=np.stack([by_logit[0], by_slope[0], -by_ability[0].sum(axis=0)]),
        curvature=np.stack([twice_logit, logit_slope, -logits, twice_slope, -slopes, twice.sum(axis=0)]),
        slope_ability=by_ability[0],
        cross=np.stack([logit, slope, -twice]),
    )


class NormalItems:
    """Items as normal distributions: the closest ones to the posterior by the evidence lower bound."""

    def __init__(self, priors: Priors) -> None:
        self._means, self._sds = priors.item_means, priors.item_sds

    def improve(
        self, responses: Responses, state: Normals, shared: Shared, steps: int, enough: float
    ) -> tuple[Normals, Sums]:
        """Move every item's mean and covariance towards their optimum, none to a lower bound."""
        mean, precision, damping = state.mean.copy(), state.precision.copy(), state.damping
        root = state.root
        local = local_around(responses, mean, root, shared)
        objective = self._objective(mean, root, local)
        for _ in range(steps):
            wanted = self._towards(local, precision, damping)
            step = bounded_step(wanted, self._slope(local, mean), damping, self._sds)
            tried, root = mean + step, small.cholesky(small.inverse(wanted))
            there = local_around(responses, tried, root, shared)
            found = self._objective(tried, root, there)
            better = found <= objective + _ROUNDING * (1.0 + np.abs(objective))
            damping = next_damping(damping, better, _EASING)
            np.copyto(mean, tried, where=better)
            np.copyto(precision, wanted, where=better)
            np.copyto(objective, found, where=better)
            local.put(there, better)
            if np.abs(step / self._sds).max() < enough:
                break
        sums = summed(responses, shared, local, self._slope(local, mean), precision, objective)
        return Normals(mean, precision, damping), sums

    def _objective(self, mean: Floats, root: Floats, local: Local) -> Floats:
        """Return minus the lower bound of every item: the divergence from the prior minus the likelihood."""
        away = (mean - self._means) / self._sds
        squares = root * root
        variance = np.stack([squares[0], squares[1] + squares[3], squares[2] + squares[4] + squares[5]])
        logs = np.log(root[0] * root[3] * root[5] / self._sds.prod())
        apart = 0.5 * (away * away + variance / self._sds**2 - 1.0).sum(axis=0) - logs
        return np.asarray(apart - local.value)

    def _slope(self, local: Local, mean: Floats) -> Floats:
        return np.asarray(local.slope - (mean - self._means) / self._sds**2)

    def _towards(self, local: Local, precision: Floats, damping: Floats) -> Floats:
        """Return the precision that is optimal if the curvature stands still, as far as it is positive."""
        wanted = local.curvature.copy()
        wanted[small.DIAGONAL] += self._sds**-2.0
        # Wider items are seen from further away, which changes their curvature: going all the way to what is
        # optimal at the present width swings past the optimum and back.
        share = 0.5 / (1.0 + damping)
        reached = precision + share * (wanted - precision)
        for _ in range(_HALVINGS):
            unsafe = np.flatnonzero(~small.is_positive(reached, _SAFE))
            if not len(unsafe):
                return reached
            share = share * 0.5
            reached[:, unsafe] = precision[:, unsafe] + share[unsafe] * (
                wanted[:, unsafe] - precision[:, unsafe]
            )
        unsafe = np.flatnonzero(~small.is_positive(reached, _SAFE))
        reached[:, unsafe] = precision[:, unsafe]
        return reached
