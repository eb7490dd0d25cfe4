"""The posterior of items at given abilities, by summing over a dense grid of their three parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sparingly.base.arrays import Floats
from sparingly.published.irt.model import Priors, Responses

REACH = 5.0


@dataclass(frozen=True)
class Brute:
    value: float
    mean: Floats
    variance: Floats


def brute(
    responses: Responses,
    priors: Priors,
    ability: Floats,
    noise: float = 1.0,
    counts: tuple[int, int, int] = (41, 71, 71),
) -> Brute:
    """Return the log-likelihood with the items integrated out, and the moments of (logit c, a, b)."""
    pairs = (priors.logit_feasibility, priors.discrimination, priors.difficulty)
    steps = [np.linspace(-REACH, REACH, count) for count in counts]
    away = np.stack([part.ravel() for part in np.meshgrid(*steps, indexing="ij")])
    prior = -0.5 * (away * away).sum(axis=0)
    prior -= np.log(np.exp(prior).sum())
    grid = np.array([[mean] for mean, _ in pairs]) + np.array([[sd] for _, sd in pairs]) * away
    curve = expit(grid[0]) * expit(grid[1] * (ability[:, None] - grid[2]))
    present = np.ones(responses.shape) if responses.present is None else responses.present
    value, means, variances = 0.0, [], []
    for answers, known in zip(responses.values.T, present.T, strict=True):
        if responses.response == "continuous":
            logs = -0.5 * ((answers[:, None] - curve) / noise) ** 2 - np.log(noise * np.sqrt(2.0 * np.pi))
        else:
            logs = np.log(np.abs(curve - (1.0 - answers[:, None])))
        logs = prior + known @ logs
        shares = np.exp(logs - logs.max())
        value += logs.max() + np.log(shares.sum())
        shares /= shares.sum()
        means.append(grid @ shares)
        variances.append((grid - means[-1][:, None]) ** 2 @ shares)
    return Brute(float(value), np.stack(means, axis=1), np.stack(variances, axis=1))
