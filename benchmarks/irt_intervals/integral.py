"""Items integrated out: nodes, the frame of the scale, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.published.irt.model import Normal, Priors

# How the prior of logit c is cut up to find its Gauss rule.
_FINE, _REACH = 2001, 8.0


def stretched(count: int, reach: float, bend: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for a function that is roughly a standard normal density.

    They are even in t and lie at sinh(bend · t)/bend: even steps integrate a normal density almost exactly,
    and the stretched ends see to tails that are longer than they should be.
    """
    edges = bend * reach * (2.0 * np.arange(count) + 1.0 - count) / count
    return np.sinh(edges) / bend, np.cosh(edges) * (2.0 * reach / count)


def around_zero(low: float, high: float, unit: float, step: float, fewest: int) -> tuple[Floats, Floats]:
    """Return nodes and weights between two ends, dense within a unit of 0 and sparser further out."""
    start, end = np.arcsinh(low / unit), np.arcsinh(high / unit)
    count = max(fewest, int(np.ceil((end - start) / step)) + 1)
    places = np.linspace(start, end, count)
    return unit * np.sinh(places), unit * np.cosh(places) * (end - start) / (count - 1)


def feasibility_rule(prior: Normal, count: int) -> tuple[Floats, Floats, Floats]:
    """Return the Gauss rule of feasibility c, whose logit has a normal prior, and what it makes of the logit.

    The likelihood of success and failure is a polynomial in c, and the rule of n nodes gives the exact mean
    of polynomials of degree 2n − 1 (Golub and Welsch 1969; the prior is cut up finely, and its orthogonal
    polynomials found by Lanczos' recurrence). The logit and its square are no polynomials; at the nodes they
    are replaced by the polynomials nearest to them under the prior.

    Returns:
        The nodes, their weights, and the logit and its square at the nodes, 2 x nodes.
    """
    places = np.linspace(-_REACH, _REACH, _FINE)
    masses = np.exp(-0.5 * places * places)
    masses /= masses.sum()
    logit = prior[0] + prior[1] * places
    feasibility = 1.0 / (1.0 + np.exp(-logit))
    basis = np.empty((count + 1, _FINE))
    basis[0] = 1.0
    diagonal, off_diagonal = np.empty(count), np.empty(count)
    for degree in range(count):
        diagonal[degree] = masses @ (feasibility * basis[degree] ** 2)
        following = (feasibility - diagonal[degree]) * basis[degree]
        # Orthogonal to all before, once more than the recurrence asks for: rounding would undo it.
        following -= (basis[: degree + 1] @ (masses * following)) @ basis[: degree + 1]
        off_diagonal[degree] = np.sqrt(masses @ following**2)
        basis[degree + 1] = following / off_diagonal[degree]
    nodes, vectors = np.linalg.eigh(
        np.diag(diagonal) + np.diag(off_diagonal[:-1], 1) + np.diag(off_diagonal[:-1], -1)
    )
    weights = vectors[0] ** 2
    moments = np.stack([logit, logit**2])
    values = (moments * masses) @ basis[:-1].T @ (vectors / vectors[0])
    return nodes, weights, values


# --- what is left of the items once they are integrated out ---


_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Places:
    """Where the posterior of every item is looked for."""

    mean: Floats  # of (logit c, a, b), 3 x items
    slopes: Floats  # how logit c and a change along b, 2 x items
    width: Floats  # the standard deviation of b

    def take(self, items: slice) -> Places:
        """Return some of the items."""
        return Places(self.mean[:, items], self.slopes[:, items], self.width[items])


@dataclass(frozen=True, eq=False)
class Totals:
    """The log-likelihood of the responses with the items integrated out, summed over them.

    ``widening`` is how much the width that it gives abilities grows when they stretch: 1 if it grows with
    them, as it does where scores tell everything but the unit, and 0 if it does not.
    """

    value: float
    slope: Floats  # the derivatives with respect to the shared parameters
    curvature: Floats  # minus the second ones, with abilities that stretch by a factor (see ``ScaleFrame``)
    widening: float


@dataclass(frozen=True, eq=False)
class Moments:
    """The posterior of every item at given abilities and noise.

    ``follow`` is how the means move when a shared parameter grows by 1, 3 x shared x items; it is by far the
    largest of them, and in single precision.
    """

    mean: Floats  # of (logit c, a, b), 3 x items
    variance: Floats
    follow: NDArray[np.float32]

    @classmethod
    def concatenate(cls, parts: list[Moments]) -> Moments:
        """Join the moments of several blocks of items."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(np.concatenate(column, axis=-1) for column in columns))

    def moved(self, step: Floats) -> Floats:
        """Return the means after a step of the shared parameters."""
        return np.asarray(self.mean + step.astype(np.float32) @ self.follow)

    def sds(self, covariance: Floats) -> Floats:
        """Return the standard deviations when the shared parameters are uncertain themselves."""
        variance = self.variance.copy()
        for start in range(0, variance.shape[1], _BLOCK):
            part = slice(start, start + _BLOCK)
            follow = self.follow[..., part]
            variance[:, part] += (follow * (covariance @ follow)).sum(axis=1)
        return np.sqrt(variance)


# --- the origin and the unit of the scale, which abilities and items share ---
# A response depends on a (θ − b) alone, so nothing changes when all θ and b are shifted together, or
# stretched while every a shrinks: b = m + k b′, a = a′/k, θ = m + k θ′. What holds the origin m and the
# unit k is the priors only, and with scores of little noise they are the least certain of all. Along these
# two directions the derivatives of the likelihood cancel to almost nothing, so they are not taken of the
# likelihood at all: items are carried along with the abilities, their likelihood stays as it is, and what
# changes is their prior. With β = b − m, normal priors and a Jacobian of 1,
#
#     ∂ log p/∂m = −(b − μ_b)/σ_b²,    ∂ log p/∂log k = −(b − μ_b) β/σ_b² + (a − μ_a) a/σ_a².


# Abilities closer together than this, in root mean squares, have no unit that they could be measured in.
_LEAST_UNIT = 1e-3
_LEAST_BEND = 1e-6


@dataclass(frozen=True, eq=False)
class ScaleFrame:
    """How a change of abilities splits into a shift, a stretch, and what is left.

    ``common`` is the shift and the relative stretch that a change of one ability amounts to, 2 x models; the
    second row is 0 where abilities are all the same.
    """

    origin: float  # the mean ability
    common: Floats
    remainder: Floats  # what is left of a change once these are taken out, models x models
    offsets: Floats  # how far every ability is from the origin

    @classmethod
    def from_abilities(cls, ability: Floats) -> ScaleFrame:
        """Return the frame of some abilities."""
        models = len(ability)
        origin = float(ability.mean())
        offsets = ability - origin
        unit = float(offsets @ offsets)
        stretch = offsets / unit if unit > models * _LEAST_UNIT**2 else np.zeros(models)
        common = np.stack([np.full(models, 1.0 / models), stretch])
        # The offsets sum to 0, so the two directions are orthogonal and each projects by itself.
        moved = np.stack([np.ones(models), offsets], axis=1)
        return cls(origin, common, np.eye(models) - moved @ common, offsets)

    def mixing(self) -> Floats:
        """Return what turns derivatives by (abilities, noise, m, log k) into those by (abilities, noise).

        Abilities lose their common part there, and get it back from m and k.
        """
        models = len(self.offsets)
        mixing = np.zeros((models + 1, models + 3))
        mixing[:models, :models] = self.remainder.T
        mixing[:models, -2:] = self.common.T
        mixing[models, models] = 1.0
        return mixing

    def bent(self, slope: Floats) -> Floats:
        """Return what minus the second derivatives gain when abilities stretch by a factor, models x models.

        Along log k abilities do not grow evenly, so a function with the given slope bends even if it is
        linear in the abilities.
        """
        stretch, aside = self.common[1], self.remainder.T @ slope
        twisted = np.outer(stretch, aside)
        return np.asarray(-(slope @ self.offsets) * np.outer(stretch, stretch) - twisted - twisted.T)

    def frame_jacobian(self, mean: Floats) -> Floats:
        """Return how (logit c, a, b) are carried along when abilities or noise grow, 3 x shared x items."""
        models = len(self.offsets)
        shift, stretch = self.common[:, :, None]
        jacobian = np.zeros((3, models + 1, mean.shape[1]))
        jacobian[1, :models] = -stretch * mean[1]
        jacobian[2, :models] = shift + stretch * (mean[2] - self.origin)
        return jacobian


def widening(bend: Floats, turn: Floats) -> float:
    """Return −½ ∂ log H/∂log k, where H is the mean of minus the second derivatives by ability.

    Seen from items that are carried along, H falls with k²; and as k changes their prior, it also changes by
    its covariance (``turn``) with the derivative of the prior by log k.
    """
    return float(np.clip(1.0 - 0.5 * turn.sum() / max(float(bend.sum()), _LEAST_BEND), 0.0, 1.0))


def prior_slopes(discrimination: Floats, difficulty: Floats, origin: float, priors: Priors) -> Floats:
    """Return the derivatives of the items' log prior by m and log k, 2 x whatever shape the items have."""
    (slope_mean, slope_sd), (mean, sd) = priors.discrimination, priors.difficulty
    by_origin = (mean - difficulty) / sd**2
    by_unit = by_origin * (difficulty - origin)
    by_unit += discrimination * (discrimination - slope_mean) / slope_sd**2
    return np.stack([by_origin, by_unit])


def prior_bends(discrimination: Floats, difficulty: Floats, origin: float, priors: Priors) -> Floats:
    """Return minus the second derivatives: by m twice, by m and log k, by log k twice."""
    (slope_mean, slope_sd), (mean, sd) = priors.discrimination, priors.difficulty
    offset = difficulty - origin
    by_unit = offset * (offset + difficulty - mean) / sd**2
    by_unit += discrimination * (2.0 * discrimination - slope_mean) / slope_sd**2
    return np.stack([np.full_like(offset, sd**-2.0), offset / sd**2, by_unit])
