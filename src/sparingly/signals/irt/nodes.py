"""Where to evaluate a function in order to integrate it."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.priors import Normal

# How the prior of logit c is cut up to find its Gauss rule.
_FINE, _REACH = 2001, 8.0


def stretched(count: int, reach: float, bend: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for a function that is roughly a standard normal density.

    They are even in t and lie at sinh(bend · t)/bend: even steps integrate a normal density almost exactly,
    and the stretched ends see to tails that are longer than they should be.
    """
    edges = bend * reach * (2.0 * np.arange(count) + 1.0 - count) / count
    return np.sinh(edges) / bend, np.cosh(edges) * (2.0 * reach / count)


def around_zero(low: float, high: float, unit: float, step: float, least: int) -> tuple[Floats, Floats]:
    """Return nodes and weights between two ends, dense within a unit of 0 and sparser further out."""
    start, end = np.arcsinh(low / unit), np.arcsinh(high / unit)
    count = max(least, int(np.ceil((end - start) / step)) + 1)
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
    diagonal, beside = np.empty(count), np.empty(count)
    for degree in range(count):
        diagonal[degree] = masses @ (feasibility * basis[degree] ** 2)
        following = (feasibility - diagonal[degree]) * basis[degree]
        # Orthogonal to all before, once more than the recurrence asks for: rounding would undo it.
        following -= (basis[: degree + 1] @ (masses * following)) @ basis[: degree + 1]
        beside[degree] = np.sqrt(masses @ following**2)
        basis[degree + 1] = following / beside[degree]
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    weights = vectors[0] ** 2
    wanted = np.stack([logit, logit**2])
    values = (wanted * masses) @ basis[:-1].T @ (vectors / vectors[0])
    return nodes, weights, values
