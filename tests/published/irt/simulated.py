"""Scores drawn from the model itself, with the truth they were drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.published.irt.model import Parameters, Priors, Response, expit


@dataclass(frozen=True)
class Simulated:
    scores: Floats
    truth: Parameters


def simulate(
    priors: Priors, items: int, models: int, seed: int, response: Response = "continuous", noise: float = 0.1
) -> Simulated:
    """Draw parameters from the priors, and scores (items x models) from the parameters."""
    drawn = np.random.default_rng(seed)
    truth = Parameters(
        discrimination=drawn.normal(*priors.discrimination, items),
        difficulty=drawn.normal(*priors.difficulty, items),
        logit_feasibility=drawn.normal(*priors.logit_feasibility, items),
        ability=drawn.normal(*priors.ability, models),
    )
    steepness = truth.discrimination[:, None] * (truth.ability - truth.difficulty[:, None])
    curve = expit(truth.logit_feasibility)[:, None] * expit(steepness)
    if response == "continuous":
        return Simulated(curve + drawn.normal(0.0, noise, curve.shape), truth)
    return Simulated((drawn.random(curve.shape) < curve).astype(np.float64), truth)


def with_gaps(scores: Floats, share: float, seed: int) -> Floats:
    """Return the scores with a share of them missing."""
    return np.where(np.random.default_rng(seed).random(scores.shape) < share, np.nan, scores)


def log_loss(predicted: Floats, observed: Floats) -> float:
    """Return the mean of −log p over successes and −log(1 − p) over failures; NaN is left out."""
    chance = np.clip(predicted, 1e-12, 1.0 - 1e-12)
    losses = -np.where(observed > 0.0, np.log(chance), np.log1p(-chance))
    return float(np.mean(losses[~np.isnan(observed) & ~np.isnan(predicted)]))
