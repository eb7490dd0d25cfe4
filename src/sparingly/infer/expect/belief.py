"""From an estimate and the metrics to a belief about what the whole set would show.

In units in which the whole set's own noise is 1, a pair of models differs by z. Labels show ẑ = z + noise of
variance c = (1/n − 1/N)·N; the metrics alone say g, up to a factor b. The belief before the labels:

    z = b·g + r,   r ~ N(0, ζ²(1 − ρ²)),   b = ρ·ζ/rms(g)
    log ζ ~ N(log 8, 0.7²),   atanh ρ ~ N(2.5·w, 0.6²)

ζ is how far apart the models lie, ρ how well the metrics order them, and w the correlation of predictions and
labels *within* items, cross-validated, which hints at ρ and is known after few labels. Labels weigh all
values of (ζ, ρ); the answer is the mean of z. As w and the evidence vanish, so does the weight of g; as
labels come, k = ζ²(1 − ρ²)/(ζ²(1 − ρ²) + c) goes to 1 and the labels alone speak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats

_DEVIATIONS = np.linspace(-2.5, 2.5, 11)
_TRUSTS = np.array([-0.4, 0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.2, 2.7])
_NO_SIGNAL = 1e-6


@dataclass(frozen=True)
class BeliefPrior:
    """What is believed before any label; chosen on fully judged sets, see docs/research/coverage.md."""

    distance: float = 8.0  # ζ: how far apart models usually lie, in standard errors of the whole set
    distance_sd: float = 0.7  # the standard deviation of log ζ
    trust: float = 0.0  # atanh ρ where the metrics explain nothing within items
    trust_by_within: float = 2.5  # how much atanh ρ grows with the correlation within items
    trust_sd: float = 0.6  # its standard deviation


USUAL_PRIOR = BeliefPrior()


class Belief(NamedTuple):
    """What is believed of every pair of models."""

    z: Floats  # the mean of the belief
    sd: Floats  # its standard deviation
    label_weight: float  # the share k of what the labels say beyond the metrics, mean over the pairs
    trust: float  # the mean of ρ: how well the metrics are believed to order the models; 0 without metrics


def believe(
    observed: Floats,
    predicted: Floats,
    noise: Floats,
    *,
    models: int,
    within: float,
    scale: float,
    prior: BeliefPrior = USUAL_PRIOR,
) -> Belief:
    """Return the belief about every pair, in the symbols above.

    ``observed`` is ẑ, ``predicted`` g, ``noise`` c and ``within`` w. Pairs are as many observations as there
    are ``models`` less one, not more. ``scale`` is the whole set's noise in the units of ẑ, for ζ (residuals
    vary less than scores).
    """
    size = float(np.sqrt(np.mean(predicted**2)))
    # The values of log ζ and atanh ρ that are weighed; ρ is 0 without metrics.
    steps = np.log(prior.distance) + prior.distance_sd * _DEVIATIONS
    grid = np.meshgrid(steps, _TRUSTS if size > _NO_SIGNAL else np.zeros(1), indexing="ij")
    log_apart, trust = (values.ravel() for values in grid)
    distance = np.exp(log_apart) * scale
    correlation = np.tanh(trust)
    slope = correlation * distance / size if size > _NO_SIGNAL else np.zeros(len(distance))
    prior_variance = distance**2 * (1.0 - correlation**2)
    residual = observed - slope[:, None] * predicted
    total = prior_variance[:, None] + noise
    log_likelihood = -0.5 * (np.log(total) + residual**2 / total).mean(axis=1) * (models - 1)
    log_prior = -0.5 * ((log_apart - np.log(prior.distance)) / prior.distance_sd) ** 2
    if size > _NO_SIGNAL:
        centre = prior.trust + prior.trust_by_within * max(within, 0.0)
        log_prior = log_prior - 0.5 * ((trust - centre) / prior.trust_sd) ** 2
    weight = np.exp(log_prior + log_likelihood - (log_prior + log_likelihood).max())
    weight /= weight.sum()
    label_weight = prior_variance[:, None] / total
    means = slope[:, None] * predicted + label_weight * residual
    mean = weight @ means
    deviation = np.sqrt(np.maximum(weight @ (means**2 + label_weight * noise) - mean**2, 0.0))
    return Belief(mean, deviation, float(weight @ label_weight.mean(axis=1)), float(weight @ correlation))
