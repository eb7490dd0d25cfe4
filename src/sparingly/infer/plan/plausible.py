"""True scores that a pilot leaves plausible: nearer to each other than its own, and in doubt."""

from __future__ import annotations

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats

DRAWS = 4000
# Distances of models from their mean are thought to have a standard deviation of up to so many times theirs.
_WIDEST, _STEPS = 3.0, 100


def plausible_scores(scores: Floats, covariance: Floats, *, seed: int = 0, draws: int = DRAWS) -> Floats:
    """Return draws × models: true scores of models whose estimates have errors.

    A pilot spreads the models further apart than they are. Distances of true scores from their mean are taken
    for normal with a standard deviation τ, all τ as likely as each other before the pilot; drawn are τ given
    the estimates, then the distances given τ: N(τ²(τ²I + C)⁻¹x, τ²C(τ²I + C)⁻¹), with x the estimated
    distances and C their covariance (the normal hierarchical model; Gelman et al. 2013, section 5.4). What
    all models share, such as hard items, is no error here, and models with like outputs are not torn apart.
    """
    count = len(scores)
    if count < 2 or not covariance.any():
        return np.broadcast_to(scores, (draws, count))
    basis = _contrasts(count)
    errors, turned = np.linalg.eigh(basis.T @ covariance @ basis)
    errors, directions = np.maximum(errors, 0.0), basis @ turned
    away = directions.T @ scores
    generator = rng.generator(seed, "plausible")
    steps = np.linspace(0.0, _WIDEST * np.sqrt((away**2).mean() + errors.mean()), _STEPS)
    squared = generator.choice(steps, draws, p=_chances(steps, away, errors)) ** 2
    total = squared[:, None] + errors
    kept = np.divide(squared[:, None], total, out=np.ones(total.shape), where=total > 0)
    noise = generator.standard_normal(total.shape) * np.sqrt(kept * errors)
    # As a change of the scores, so that what is certain stays exactly as it is.
    return np.asarray(scores + (noise - (1.0 - kept) * away) @ directions.T)


def _contrasts(count: int) -> Floats:
    """Return an orthonormal basis (models × models − 1) of what is at right angles to the mean."""
    return np.asarray(np.linalg.qr(np.eye(count)[:, :-1] - 1.0 / count)[0])


def _chances(steps: Floats, away: Floats, errors: Floats) -> Floats:
    """Return how likely each τ is, given the estimated distances."""
    total = steps[:, None] ** 2 + errors
    # Where neither error nor spread is left, no distance can be explained.
    floor = 1e-12 * max(float(errors.max()), float((away**2).max()), 1e-300)
    total = np.maximum(total, floor)
    logarithm = -0.5 * (np.log(total) + away**2 / total).sum(axis=1)
    chances = np.exp(logarithm - logarithm.max())
    return np.asarray(chances / chances.sum())
