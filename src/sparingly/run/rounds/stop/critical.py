"""The error that each of several comparisons may make so that all of them together keep theirs."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from sparingly.base import rng
from sparingly.data.evalset import Floats
from sparingly.infer.rank.pair_errors import heavier_tails, pair_errors, pair_tells
from sparingly.run.rounds.state import Mask

Question = Literal["all", "order", "best"]
DRAWS = 20_000
_BLOCK = 2_000


def pair_level(
    covariance: Floats,
    pairs: Mask,
    alpha: float,
    *,
    question: Question = "all",
    degrees: float = math.inf,
    seed: int = 0,
    draws: int = DRAWS,
) -> float:
    """Return the two-sided level of each comparison, so that together they err with probability α.

    ``all``: the largest |g_j − g_k|/se_jk over the pairs, g ~ N(0, Σ̂), exceeds c with probability α.
    ``order``: no two models are equal, so that only a wrong order is an error: the same, one-sided.
    ``best``: only the truly best model can be wrongly left out, so that for no model may the largest
    one-sided (g_j − g_k)/se_jk of the others exceed c (Dunnett 1955; Hsu 1996); the worst model k decides.
    The level is 2·P(T > c).

    Args:
        covariance: Of the scores, models × models.
        pairs: models × models, symmetric: what is compared. For ``order`` each pair once.
        alpha: The error of all comparisons together.
        question: Whether all pairs are to be told apart or put in order, or the best model found.
        degrees: Degrees of freedom.
        seed: Of the simulation.
        draws: How many draws it makes.
    """
    from scipy.special import stdtr

    wanted = pairs & pair_tells(covariance)
    np.fill_diagonal(wanted, False)
    if not wanted.any():
        return alpha if question == "all" else min(2.0 * alpha, 0.99)
    critical = _critical(covariance, wanted, alpha, question, degrees, seed, draws)
    return min(float(2.0 * stdtr(degrees if math.isfinite(degrees) else 1e9, -critical)), 0.99)


def _critical(
    covariance: Floats,
    wanted: Mask,
    alpha: float,
    question: Question,
    degrees: float,
    seed: int,
    draws: int,
) -> float:
    inside = np.flatnonzero(wanted.any(axis=1) | wanted.any(axis=0))
    part, compared = covariance[np.ix_(inside, inside)], wanted[np.ix_(inside, inside)]
    errors = np.where(compared, pair_errors(part), np.inf)
    values, vectors = np.linalg.eigh((part + part.T) / 2.0)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    generator = rng.generator(seed, "open pairs")
    apart = _largest_from_one if question == "best" else _largest_of_pairs
    pairs = compared if question == "order" else np.triu(compared)
    largest = np.empty((len(inside) if question == "best" else 1, draws))
    for start in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - start)
        # A model a row: the draws of one lie side by side.
        drawn = np.ascontiguousarray((generator.standard_normal((size, root.shape[1])) @ root.T).T)
        spread = heavier_tails(generator, degrees, size)
        largest[:, start : start + size] = apart(drawn, errors, pairs, question == "all") / spread
    return float(np.quantile(largest, 1.0 - alpha, axis=1).max())


def _largest_of_pairs(drawn: Floats, errors: Floats, pairs: Mask, both: bool) -> Floats:
    """Return the largest standardised difference of every draw, over all pairs; of ``both`` signs or one."""
    largest = np.full((1, drawn.shape[1]), -np.inf)
    for model in np.flatnonzero(pairs.any(axis=1)):
        others = np.flatnonzero(pairs[model])
        apart = drawn[model] - drawn[others]
        apart /= errors[model, others][:, None]
        if both:
            np.abs(apart, out=apart)
        np.maximum(largest, apart.max(axis=0), out=largest)
    return largest


def _largest_from_one(drawn: Floats, errors: Floats, _pairs: Mask, _both: bool) -> Floats:
    """Return by how much the others lie above a model at most, one row for every model."""
    largest = np.empty_like(drawn)
    for model in range(len(drawn)):
        above = drawn - drawn[model]
        above /= errors[model][:, None]
        largest[model] = above.max(axis=0)
    return largest
