"""The chance of every model to be the best, from scores and covariance."""

from __future__ import annotations

import math

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.full_set_p import USUAL_EFFECTS, EffectPrior, effect_grid, error_scales
from sparingly.infer.rank.pair_tests import checked_scores, pair_errors, pair_tells

DRAWS = 20_000
# Up to this ratio, unequal error variances of the models are laid to chance or skew.
_UNEQUAL = 3.0
# Units behind scores whose covariance is taken for known.
_UNITS = 100.0


def chance_of_best(
    scores: Floats,
    covariance: Floats,
    *,
    degrees: float = math.inf,
    units: float | Floats | None = None,
    prior: EffectPrior = USUAL_EFFECTS,
    seed: int = 0,
    draws: int = DRAWS,
) -> Floats:
    """Return for every model the posterior probability that it is the best.

    μ̂ | μ ~ t_ν(μ, Σ̂),  μ_j ~ N(m, τ²),  log(τ/σ) ~ N(log 0.5, 0.8²), m unknown, σ² = units × mean error
    variance: empirical Bayes with τ and the scale of Σ̂ integrated over (Gelman et al., Bayesian Data
    Analysis, section 5.4). Σ̂ of few units is noise, too: it is shrunk to independent errors of like size,
    as if these had been seen in 8(M − 1) more units. A flat prior is too sure: the best of several noisy
    scores is partly luck. Models that never differ share their chance; one that is behind another by the
    same on every item has none.

    Use it to decide between few candidates; claims come from the tests. It speaks of what the covariance
    speaks of: the population of inputs like these, or this very set.

    Args:
        scores: One score per model, NaN for none; higher is better.
        covariance: The joint covariance of the scores.
        degrees: Its degrees of freedom.
        units: The number of judged units (items, documents) behind the scores, or behind each score where
            models were judged on different numbers of them; degrees + 1 unless given, 100 where the
            covariance is known.
        prior: What is believed of models before any label.
        seed: Settles the draws.
        draws: Their number.

    Examples:
        >>> import numpy as np, sparingly
        >>> chance_of_best(np.array([1.0, 1.0, -9.0]), np.diag([1.0, 1.0, 1.0])).round(1)
        array([0.5, 0.5, 0. ])
    """
    scores, covariance = checked_scores(scores, covariance)
    scored = np.flatnonzero(~np.isnan(scores))
    classes = _classes(scores[scored], covariance[np.ix_(scored, scored)])
    first = scored[[members[0] for members in classes]]
    usual = _UNITS if math.isinf(degrees) else degrees + 1.0
    count = np.broadcast_to(np.asarray(usual if units is None else units, np.float64), scores.shape)[first]
    normal = rng.generator(seed, "best").standard_normal((draws, len(first) - 1))
    shares = _shares_of_best(scores[first], covariance[np.ix_(first, first)], degrees, count, prior, normal)
    chance = np.zeros(len(scores))
    for members, share in zip(classes, shares, strict=True):
        chance[scored[members]] = share / len(members)
    return chance


def _classes(scores: Floats, covariance: Floats) -> list[list[int]]:
    """Return the models that may be the best in classes of equals, without those behind by a fixed amount."""
    differs = pair_tells(covariance)
    step = 1e-9 * max(float(np.ptp(scores)), float(pair_errors(covariance).max()), 1e-300)
    remaining, classes = list(range(len(scores))), []
    while remaining:
        first = remaining[0]
        alike = [model for model in remaining if model == first or not differs[first, model]]
        top = max(scores[alike])
        classes.append([model for model in alike if scores[model] >= top - step])
        remaining = [model for model in remaining if model not in alike]
    return classes


def _shares_of_best(
    scores: Floats, covariance: Floats, degrees: float, units: Floats, prior: EffectPrior, normal: Floats
) -> Floats:
    """Return the share of posterior draws in which each model is the best; every pair has an error."""
    count, draws = len(scores), len(normal)
    if count == 1:
        return np.ones(1)
    # Helmert's orthonormal contrasts, models × (models − 1).
    steps, basis = np.arange(1, count), np.triu(np.ones((count, count - 1)))
    basis[steps, steps - 1] = -steps
    basis = basis / np.sqrt(steps * (steps + 1.0))
    raw = basis.T @ covariance @ basis
    mean = float(np.trace(raw)) / (count - 1)
    errors, vectors = np.linalg.eigh(_shrunk(raw, covariance, basis, units, degrees, prior))
    errors, observed = np.maximum(errors, 0.0), vectors.T @ (basis.T @ scores)
    # Errors that are alike are estimated from all contrasts together (Satterthwaite).
    scales = error_scales(degrees * float(np.trace(raw)) ** 2 / float((raw**2).sum()))
    effects, log_weight = effect_grid(prior)
    single = mean * len(units) / float((1.0 / units).sum())
    spread, scale = np.repeat(effects**2 * single, len(scales)), np.tile(scales, len(effects))
    total = spread[:, None] + scale[:, None] * errors
    log_likelihood = -0.5 * (np.log(total) + observed**2 / total).sum(axis=1)
    weight = log_likelihood + np.repeat(log_weight, len(scales))
    weight = np.exp(weight - weight.max())
    cell = np.searchsorted(np.cumsum(weight) / weight.sum(), (np.arange(draws) + 0.5) / draws)
    noise = scale[cell, None] * errors
    pull = spread[cell, None] / (spread[cell, None] + noise)
    samples = (pull * observed + np.sqrt(pull * noise) * normal) @ (basis @ vectors).T
    return np.bincount(samples.argmax(axis=1), minlength=count) / draws


def _shrunk(
    raw: Floats, covariance: Floats, basis: Floats, units: Floats, degrees: float, prior: EffectPrior
) -> Floats:
    """Return the covariance of contrasts, shrunk to models with like and independent errors."""
    count = len(covariance)
    borrowed = prior.prior_units * (count - 1)
    weight = 0.0 if math.isinf(degrees) else borrowed / (borrowed + degrees)
    if count == 2 or weight == 0.0:
        return raw
    # The variances whose sums come nearest to those of the differences: se_jk² = r_j + r_k.
    squares = pair_errors(covariance) ** 2
    variances = (squares.sum(axis=1) - squares.sum() / (2 * (count - 1))) / (count - 2)
    variances = np.maximum(variances, 0.0) * units
    middle = float(np.median(variances[variances > 0]))
    ratio = np.clip(variances / middle, 1 / _UNEQUAL, _UNEQUAL)
    alike = basis.T @ np.diag(variances / ratio / units) @ basis
    return np.asarray((1 - weight) * raw + weight * alike * (np.trace(raw) / np.trace(alike)))
