"""What is left of the items once they are integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.signals.irt.shared import Shared

_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Places:
    """Where the posterior of every item is looked for.

    Attributes:
        mean: Of (logit c, a, b), 3 x items.
        slopes: How logit c and a change along b, 2 x items.
        width: The standard deviation of b.
    """

    mean: Floats
    slopes: Floats
    width: Floats

    def take(self, items: slice) -> Places:
        """Return some of the items."""
        return Places(self.mean[:, items], self.slopes[:, items], self.width[items])


@dataclass(frozen=True, eq=False)
class Totals:
    """The log-likelihood of the responses with the items integrated out, summed over them.

    Attributes:
        value: The log-likelihood.
        slope: Its derivatives with respect to the shared parameters.
        curvature: Minus the second ones, with abilities that stretch by a factor (see ``frame``).
        widening: How much the width that it gives abilities grows when they stretch: 1 if it grows with them,
            as it does where scores tell everything but the unit, and 0 if it does not.
    """

    value: float
    slope: Floats
    curvature: Floats
    widening: float


@dataclass(frozen=True, eq=False)
class Moments:
    """The posterior of every item at given abilities and noise.

    Attributes:
        mean: Of (logit c, a, b), 3 x items.
        variance: Of the same.
        follow: How the means move when a shared parameter grows by 1, 3 x shared x items; it is by far the
            largest of them, and in single precision.
    """

    mean: Floats
    variance: Floats
    follow: NDArray[np.float32]

    @classmethod
    def joined(cls, parts: list[Moments]) -> Moments:
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


class Integral(Protocol):
    """The items of a form of response, to be integrated out."""

    @property
    def rows(self) -> NDArray[np.intp] | slice:
        """Which of the moments belong to each item; items with the same responses share theirs."""

    def start(self) -> Places:
        """Return where to look first."""

    def at(self, shared: Shared, places: Places) -> tuple[Totals, Moments]:
        """Integrate the items out at given abilities and noise."""
