"""Predicted full-set significance: what judging everything would show of two models."""

from __future__ import annotations

import math

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.base.levels import check_alpha
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.effect_prior import USUAL, EffectGrid, EffectPrior, effect_grid, error_scales
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.sample import Floats

# With fewer items on which both models were judged, the spread of their differences is not trusted.
FEWEST_COMMON = 30
# From so many common items on, the chance that judging everything shows a difference is calibrated.
FEWEST_FOR_CHANCE = 10


def full_set_p_values(
    differences: Floats, deviations: Floats, size: int, *, errors: Floats | None = None
) -> Floats:
    """Return the one-sided p-value that the whole set is expected to give for each difference of two models.

    z_full = d̂·√N/s_d with s_d the standard deviation of the raw differences item by item, p = Φ(−z_full): the
    posterior median of the whole set's p-value under a flat prior. With the standard errors given, d̂ is first
    shrunk by τ²/(τ² + se²), τ² = max(0, mean(d̂² − se²)) over all the pairs (empirical Bayes): differences
    that are mostly noise are pulled to 0.

    It says what to expect of judging everything; it is no evidence beyond what was judged, so read it beside
    the ordinary p-value, never in its place.

    Args:
        differences: The estimated difference of each pair, first less second.
        deviations: The standard deviation of the pair's differences over the items.
        size: The number of items of the whole set.
        errors: The standard error of each difference, to shrink by; None for no shrinking.
    """
    from scipy.special import ndtr

    given, spread = np.asarray(differences, np.float64), np.asarray(deviations, np.float64)
    if given.shape != spread.shape or (errors is not None and np.shape(errors) != given.shape):
        raise UsageError("There must be one deviation, and one error if any, for every difference.")
    if size < 1:
        raise UsageError(f"A set has one item or more, not {size}.")
    if errors is not None:
        given = given * _kept(given, np.asarray(errors, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = given * np.sqrt(size) / spread
    # Items that all show the same difference leave no doubt; items that show none leave p at a half.
    z = np.where(np.isnan(z) & ~np.isnan(given) & ~np.isnan(spread), 0.0, z)
    return np.asarray(ndtr(-z))


def _kept(differences: Floats, errors: Floats) -> Floats:
    """Return which part of each difference is kept."""
    between = max(0.0, float(np.nanmean(differences**2 - errors**2))) if differences.size else 0.0
    total = between + errors**2
    return np.divide(between, total, out=np.ones_like(total), where=total > 0)


def chance_full_set_shows(
    differences: Floats,
    errors: Floats,
    deviations: Floats,
    size: int,
    *,
    models: int,
    degrees: float = math.inf,
    alpha: float = 0.05,
    prior: EffectPrior = USUAL,
) -> Floats:
    """Return how likely judging all items shows each difference: same sign, two-sided p < α, paired t test.

    With z = d·√N/s for the whole set (s the standard deviation of differences item by item), the sample shows
    ẑ = d̂·√N/s ~ N(z, c), c = N·se²/s², and z ~ N(0, δ²N): models differ by δ standard deviations, where
    log δ ~ N(log 0.5, 0.8²) is weighed by all pairs, which count as M − 1 observations. The chance is that of
    z > t_{N−1, 1−α/2}, mean over δ and over how far s may be off (df/χ²_df).

    Use it to decide whether more labels are worth it: a difference that judging everything would hardly show
    is not worth chasing. It is no evidence beyond what was judged. NaN where the judged items all show the
    same difference, since that says nothing of the others. The chance of a difference the other way round
    is not given: replays do not support it.

    Args:
        differences: The estimated difference of each pair of models; of all pairs, since how far models lie
            apart is learned from them.
        errors: Its standard error over this very set, which goes to 0 as everything is judged.
        deviations: The standard deviation of the pair's differences over the items.
        size: The number of items of the whole set.
        models: The number of models behind the pairs.
        degrees: Degrees of freedom of the errors.
        alpha: The level of the whole set's test.
        prior: What is believed of models before any label.

    Examples:
        >>> import numpy as np
        >>> from sparingly.infer.estimate.full_set_p import chance_full_set_shows
        >>> apart, errors, spread = np.array([0.05, 0.3]), np.array([0.09, 0.09]), np.array([1.0, 1.0])
        >>> chance_full_set_shows(apart, errors, spread, 500, models=3, degrees=99).round(2)
        array([0.3 , 0.97])
    """
    from scipy.special import stdtrit

    given, wrong, own = (np.asarray(values, np.float64) for values in (differences, errors, deviations))
    if not given.shape == wrong.shape == own.shape or given.ndim != 1:
        raise UsageError("There must be one error and one deviation for every difference.")
    if size < 2 or models < 2:
        raise UsageError(f"A test needs two items and two models or more, not {size} and {models}.")
    check_alpha(alpha)
    usable = np.isfinite(given) & np.isfinite(wrong) & np.isfinite(own) & (own > 0)
    chance = np.full(given.shape, np.nan)
    if usable.any():
        seen = np.abs(given[usable]) * math.sqrt(size) / _steadied(own[usable], degrees, prior.borrowed)
        noise = size * (wrong[usable] / own[usable]) ** 2
        scales = error_scales(degrees + (prior.borrowed if models > 2 else 0.0))
        least = float(stdtrit(size - 1, 1 - alpha / 2))
        chance[usable] = _chance_above(least, seen, noise, effect_grid(prior), scales, size, models)
    return chance


def _steadied(deviations: Floats, degrees: float, borrowed: float) -> Floats:
    """Return the standard deviations, each with some more items' worth of the mean of all."""
    if math.isinf(degrees):
        return deviations
    common = float((deviations**2).mean())
    return np.asarray(np.sqrt((degrees * deviations**2 + borrowed * common) / (degrees + borrowed)))


def _chance_above(
    least: float, seen: Floats, noise: Floats, effects: EffectGrid, scales: Floats, size: int, models: int
) -> Floats:
    """Return the posterior probability that z of the whole set lies above the critical value."""
    from scipy.special import ndtr

    room = (effects.values**2 * size)[:, None]
    likely = -0.5 * (np.log(room + noise) + seen**2 / (room + noise)).mean(axis=1) * (models - 1)
    weight = likely + effects.log_weight
    weight = np.exp(weight - weight.max())
    pull = room / (room + noise)
    away = np.maximum(np.sqrt(pull * noise), 1e-9)
    above = [weight @ ndtr((pull * seen / math.sqrt(scale) - least) / away) for scale in scales]
    return np.asarray(np.mean(above, axis=0) / weight.sum())


def full_set_chances(scores: Floats, pairs: PairErrors, *, alpha: float = 0.05) -> Floats:
    """Return models × models: how likely judging all items shows the difference that the scores show.

    ``chance_full_set_shows`` for every pair of models of an estimate, over this very set whatever its target.
    NaN on the diagonal, and where fewer than 10 items were judged for both models while others wait.
    """
    square = np.full((len(scores), len(scores)), np.nan)
    scored = int(np.isfinite(scores).sum())
    if scored < 2 or pairs.sample.size < 2:
        return square
    first, second = pair_indices(len(scores))
    errors = pairs.over_set.of_pairs(first, second)[0]
    chance = chance_full_set_shows(
        scores[first] - scores[second],
        errors,
        pairs.deviations(first, second),
        pairs.sample.size,
        models=scored,
        degrees=math.inf if pairs.sample.is_whole else pairs.over_set.freedom,
        alpha=alpha,
    )
    few = (pairs.common(first, second) < FEWEST_FOR_CHANCE) & (not pairs.sample.is_whole)
    square[first, second] = square[second, first] = np.where(few, np.nan, chance)
    return square
