"""How likely a response is, given the curve, and how that changes with the logarithm of the curve.

The curve p = c·σ(η) is a product, so its logarithm is a sum: log p = log σ(η) + log c. Derivatives with
respect to η and to logit c follow from two numbers per response, the first and second derivative of the
log-likelihood with respect to log p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.responses import Responses

# A response that the curve rules out costs this much and no more, so that every number stays finite.
LEAST = 1e-14
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)
# So many probabilities of at least LEAST can be multiplied before the product leaves the range of a float.
_FACTORS = 16


@dataclass(frozen=True, eq=False)
class Measured:
    """Responses against a curve, models x items, or with leading axes before these.

    Attributes:
        value: The log-likelihood, summed over models.
        squares: The squared residuals, summed over models (0 for binary responses, which have none).
        pull: The first derivative with respect to log p.
    """

    value: Floats
    squares: Floats
    pull: Floats


class Likelihood(Protocol):
    """What both forms of response have."""

    def measure(self, curve: Floats, room: Floats) -> Measured:
        """Return the log-likelihood under a curve and its first derivative, for which there is room."""

    def bend(self, curve: Floats, pull: Floats) -> Floats:
        """Return minus the second derivative with respect to log p."""

    def expected_bend(self, curve: Floats) -> Floats:
        """Return minus the second derivative as expected before the response is seen: never negative."""


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
        likely = np.subtract(curve, self._failed, out=room)
        np.abs(likely, out=likely)
        np.maximum(likely, LEAST, out=likely)
        known = likely if self._present is None else np.where(self._present > 0.0, likely, 1.0)
        # The logarithm of a product of several is cheaper than the logarithms of all.
        value = sum(
            np.log(np.multiply.reduce(known[..., start : start + _FACTORS, :], axis=-2))
            for start in range(0, known.shape[-2], _FACTORS)
        )
        pull = np.divide(curve, likely, out=room)
        pull *= self._sign
        if self._present is not None:
            pull *= self._present
        return Measured(np.asarray(value), np.zeros_like(value), pull)

    def bend(self, curve: Floats, pull: Floats) -> Floats:
        """Return minus the second derivative with respect to log p."""
        return np.asarray(self._failed * -pull / np.maximum(1.0 - curve, LEAST))

    def expected_bend(self, curve: Floats) -> Floats:
        """Return p/(1 − p)."""
        bend = curve / np.maximum(1.0 - curve, LEAST)
        return bend if self._present is None else np.asarray(bend * self._present)


def likelihood_of(responses: Responses, log_noise: float) -> Likelihood:
    """Return the likelihood of responses under a noise (which binary responses do not have)."""
    return Binary(responses) if responses.response == "binary" else Continuous(responses, log_noise)
