"""The origin and the unit of the scale, which abilities and items share.

A response depends on a (θ − b) alone, so nothing changes when all θ and b are shifted together, or stretched
while every a shrinks: b = m + k b′, a = a′/k, θ = m + k θ′. What holds the origin m and the unit k is the
priors only, and with scores of little noise they are the least certain of all. Along these two directions the
derivatives of the likelihood cancel to almost nothing, so they are not taken of the likelihood at all: items
are carried along with the abilities, their likelihood stays as it is, and what changes is their prior. With
β = b − m, normal priors and a Jacobian of 1,

    ∂ log p/∂m = −(b − μ_b)/σ_b²,    ∂ log p/∂log k = −(b − μ_b) β/σ_b² + (a − μ_a) a/σ_a².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.priors import Priors

# Abilities closer together than this, in root mean squares, have no unit that they could be measured in.
_LEAST_UNIT = 1e-3
_LEAST_BEND = 1e-6


@dataclass(frozen=True, eq=False)
class Frame:
    """How a change of abilities splits into a shift, a stretch, and what is left.

    Attributes:
        origin: The mean ability.
        common: The shift and the relative stretch that a change of one ability amounts to, 2 x models; the
            second row is 0 where abilities are all the same.
        rest: What is left of a change once these are taken out, models x models.
        offsets: How far every ability is from the origin.
    """

    origin: float
    common: Floats
    rest: Floats
    offsets: Floats

    @classmethod
    def of(cls, ability: Floats) -> Frame:
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
        mixing[:models, :models] = self.rest.T
        mixing[:models, -2:] = self.common.T
        mixing[models, models] = 1.0
        return mixing

    def bent(self, slope: Floats) -> Floats:
        """Return what minus the second derivatives gain when abilities stretch by a factor, models x models.

        Along log k abilities do not grow evenly, so a function with the given slope bends even if it is
        linear in the abilities.
        """
        stretch, aside = self.common[1], self.rest.T @ slope
        twisted = np.outer(stretch, aside)
        return np.asarray(-(slope @ self.offsets) * np.outer(stretch, stretch) - twisted - twisted.T)

    def carried(self, mean: Floats) -> Floats:
        """Return how (logit c, a, b) are carried along when abilities or noise grow, 3 x shared x items."""
        models = len(self.offsets)
        shift, stretch = self.common[:, :, None]
        carried = np.zeros((3, models + 1, mean.shape[1]))
        carried[1, :models] = -stretch * mean[1]
        carried[2, :models] = shift + stretch * (mean[2] - self.origin)
        return carried


def widening(bend: Floats, turn: Floats) -> float:
    """Return −½ ∂ log H/∂log k, where H is the mean of minus the second derivatives by ability.

    Seen from items that are carried along, H falls with k²; and as k changes their prior, it also changes by
    its covariance with the derivative of the prior by log k.

    Args:
        bend: H, for every model.
        turn: The covariance.
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
