"""Predicted full-set significance: what judging everything would show of two models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, ratio
from sparingly.base.checks import check_alpha
from sparingly.base.errors import UsageError
from sparingly.base.lazy import special
from sparingly.base.stats.moments import cluster_correction
from sparingly.base.stats.pairs import most_equal, pair_indices
from sparingly.infer.estimate.intervals import FEWEST_UNITS, UNSEEN_ALONE
from sparingly.infer.estimate.pairs import PairErrors

# --- how far apart models usually lie, before any label ---
# In standard deviations of what single items show, models spread by δ around their common mean, log δ ~
# N(log 0.5, 0.8²). Few models hardly tell δ, so it is integrated over and not estimated: with two models
# this is a prior that shrinks differences of noise, with many the scores themselves decide. The numbers
# were chosen on judged data of seven families, and are checked on families left out: see decisions.md.

_REACH, _EFFECTS, _SCALES = 3.0, 25, 9
# Beyond so many degrees of freedom the error is as good as known.
_INFINITE_FREEDOM = 1e6


@dataclass(frozen=True)
class EffectPrior:
    """The prior before any label."""

    centre: float = 0.5  # the middle of δ: how far models spread, in standard deviations of single items
    spread: float = 0.8  # the standard deviation of log δ
    # For every contrast of models, so many units' worth of belief that the models' errors are alike and,
    # beside what the models of an item share, independent.
    prior_units: float = 8.0
    # Items' worth of belief that a pair's differences vary as those of all pairs do.
    prior_items: float = 10.0
    # The correlation ρ of two items of a document in what they show of two models.
    document_correlation: float = 0.2
    document_items: float = 20.0  # items' worth of belief in that correlation


USUAL_EFFECTS = EffectPrior()


def effect_grid(prior: EffectPrior) -> tuple[Floats, Floats]:
    """Return δ, evenly spaced in log δ over three standard deviations to either side, and its log weight."""
    steps = np.linspace(-_REACH, _REACH, _EFFECTS)
    return prior.centre * np.exp(prior.spread * steps), -0.5 * steps**2


def error_scales(degrees: float) -> Floats:
    """Return equally likely values of (true variance)/(estimated variance) = df/χ²_df.

    A sample estimates its own error, too: this is what makes a normal belief one of Student's t.
    """
    if math.isinf(degrees) or degrees > _INFINITE_FREEDOM:
        return np.ones(1)
    shares = (np.arange(_SCALES) + 0.5) / _SCALES
    return np.asarray(degrees / (2.0 * special.gammaincinv(degrees / 2.0, shares)))


# --- what judging everything would show of two models ---

# With fewer items on which both models were judged, the spread of their differences is not trusted.
FEWEST_COMMON = 30
# From so many common items on, the chance that judging everything shows a difference is calibrated.
FEWEST_FOR_CHANCE = 10
# The number of significant pairs that the correction reckons with is found in steps, up to this change.
_STEPS, _CHANGE, _UNLIKELY = 40, 0.02, 1e-4


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
    """
    expected, spread = np.asarray(differences, np.float64), np.asarray(deviations, np.float64)
    if expected.shape != spread.shape or (errors is not None and np.shape(errors) != expected.shape):
        raise UsageError("There must be one deviation, and one error if any, for every difference.")
    if size < 1:
        raise UsageError(f"A set has one item or more, not {size}.")
    if errors is not None and expected.size:
        noise = np.asarray(errors, np.float64) ** 2
        between = max(0.0, float(np.nanmean(expected**2 - noise)))
        total = between + noise
        expected = expected * ratio(between, total, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = expected * np.sqrt(size) / spread
    # Items that all show the same difference leave no doubt; items that show none leave p at a half.
    z = np.where(np.isnan(z) & ~np.isnan(expected) & ~np.isnan(spread), 0.0, z)
    return np.asarray(special.ndtr(-z))


class SetDocuments(NamedTuple):
    """The documents of a set, by which the error of all its items is larger than that of single items."""

    number: int  # the number of documents in the set
    length: float  # the mean length of the document that an item is in, Σm²/Σm
    freedom: float  # degrees of freedom of the errors over all documents
    repeated_items: float  # how many judged items tell of the correlation within documents: items less units
    inflation: float  # by how much documents raise the variance, as the judged items have it

    def expected_inflation(self, prior: EffectPrior) -> float:
        """Return by how much documents raise the variance, where few items tell it: 1 + (length − 1)·ρ."""
        usual = 1.0 + (self.length - 1.0) * prior.document_correlation
        total = self.repeated_items + prior.document_items
        return (self.repeated_items * max(self.inflation, 1.0) + prior.document_items * usual) / total


def chance_full_set_shows(
    differences: Floats,
    errors: Floats,
    deviations: Floats,
    size: int,
    *,
    models: int,
    degrees: float = math.inf,
    alpha: float = 0.05,
    prior: EffectPrior = USUAL_EFFECTS,
    documents: SetDocuments | None = None,
    unseen: float | None = None,
    exact: bool = False,
) -> Floats:
    """Return the probability that ``rank`` calls each difference significant once all items are judged.

    With z = d/f for the whole set, f² = s²·D/N + κ·mean(s²)·D/N² (s the standard deviation of differences
    item by item, D what documents add, κ what ``rank`` adds for tails), the sample shows ẑ = d̂/f ~ N(z, c),
    c = se²/f², and z ~ N(0, (δs/f)²): models differ by δ standard deviations, where log δ ~ N(log 0.5, 0.8²)
    is weighed by all pairs, which count as M − 1 observations. The chance is that of z > t_{1−α/2t}, mean
    over δ and over how far s may be off (df/χ²_df). t is Shaffer's number of pairs that can be equal while as
    many clearer ones differ as are expected to be significant: the correction for all pairs.

    ``differences`` are those of all pairs of models, ``errors`` their standard errors over this very set,
    which go to 0 as everything is judged, and ``deviations`` s. ``unseen`` is κ, by default that of
    judgements without long tails. ``exact`` says that the ranking describes this very set, where any
    difference of all items counts.

    Use it to decide whether more labels are worth it. NaN where all judged items show the same difference.

    Examples:
        >>> import numpy as np
        >>> from sparingly.infer.estimate.full_set_p import chance_full_set_shows
        >>> apart, errors, spread = np.array([0.05, 0.3, 0.25]), np.full(3, 0.09), np.ones(3)
        >>> chance_full_set_shows(apart, errors, spread, 500, models=3, degrees=99).round(2)
        array([0.3 , 0.96, 0.93])
    """
    gaps, gap_errors, spreads = (
        np.asarray(values, np.float64) for values in (differences, errors, deviations)
    )
    if not gaps.shape == gap_errors.shape == spreads.shape or gaps.ndim != 1:
        raise UsageError("There must be one error and one deviation for every difference.")
    if size < 2 or models < 2:
        raise UsageError(f"A test needs two items and two models or more, not {size} and {models}.")
    check_alpha(alpha)
    usable = np.isfinite(gaps) & np.isfinite(gap_errors) & np.isfinite(spreads) & (spreads > 0)
    chance = np.full(usable.shape, np.nan)
    if not usable.any():
        return chance
    gaps, gap_errors, spreads = gaps[usable], gap_errors[usable], spreads[usable]
    single = spreads**2
    if not math.isinf(degrees):
        # Each pooled with the mean of all as a prior.
        pooled = degrees * spreads**2 + prior.prior_items * float((spreads**2).mean())
        single = np.sqrt(pooled / (degrees + prior.prior_items)) ** 2
    unit, inflation, freedom = size, 1.0, size - 1.0
    if documents is not None:
        unit, inflation, freedom = documents.number, documents.expected_inflation(prior), documents.freedom
    full_variance = single / size * inflation
    kappa = UNSEEN_ALONE / models if unseen is None else unseen
    full_variance = full_variance + kappa / unit * float(full_variance.mean())
    observed, information_ratio = np.abs(gaps) / np.sqrt(full_variance), single / full_variance
    noise = information_ratio * (gap_errors / spreads) ** 2
    scales = error_scales(degrees + (prior.prior_items if models > 2 else 0.0))

    effects, log_weight = effect_grid(prior)
    room = (effects**2 * float(information_ratio.mean()))[:, None]
    total = room + noise
    weight = log_weight - 0.5 * (np.log(total) + observed**2 / total).mean(axis=1) * (models - 1)
    weight = np.exp(weight - weight.max())
    # Values of δ that the sample rules out need not be reckoned with.
    plausible = weight > _UNLIKELY
    weight, room, total = weight[plausible] / weight[plausible].sum(), room[plausible], total[plausible]
    centre = room / total * observed
    deviation = np.maximum(np.sqrt(room / total * noise), 1e-9)
    if exact:
        parts = [weight @ special.ndtr(centre / math.sqrt(scale) / deviation) for scale in scales]
    else:
        parts, last = [], np.zeros(len(observed))
        # The larger the errors, the fewer pairs are significant: each scale begins where the last ended.
        for scale in np.sort(scales)[::-1]:
            last = _corrected(weight, centre / math.sqrt(scale), deviation, models, (alpha, freedom), last)
            parts.append(last)
    chance[usable] = np.mean(parts, axis=0)
    return chance


def _corrected(
    weight: Floats, centre: Floats, deviation: Floats, models: int, test: tuple[float, float], chance: Floats
) -> Floats:
    """Return the probability of every pair, as many clearer ones being significant as is expected."""
    alpha, freedom = test
    pairs = len(chance)
    equal = np.minimum(most_equal(models)[:pairs], np.arange(pairs, 0.0, -1.0))
    clearest = np.argsort(-(weight @ centre), kind="stable")
    for _ in range(_STEPS):
        clearer = np.empty(pairs)
        clearer[clearest] = np.cumsum(chance[clearest]) - chance[clearest]
        tests = np.interp(clearer, np.arange(pairs), equal)
        previous, critical = chance, special.stdtrit(freedom, 1.0 - alpha / (2.0 * tests))
        chance = np.asarray(weight @ special.ndtr((centre - critical) / deviation))
        if chance.sum() <= previous.sum() + _CHANGE:
            break
    return chance


def full_set_chances(scores: Floats, pairs: PairErrors, *, alpha: float = 0.05) -> Floats:
    """Return models × models: how likely a ranking of the fully judged set shows what the scores show.

    ``chance_full_set_shows`` for every pair of models of an estimate: for inputs like these a difference that
    is significant after the correction for all pairs, counted by documents where there are any; for this very
    set any difference in the same direction. NaN on the diagonal, where fewer than 10 items were judged for
    both models while others wait, and where the whole set has too few documents to decide anything.
    """
    square = np.full((len(scores), len(scores)), np.nan)
    scored, sample = int(np.isfinite(scores).sum()), pairs.sample
    exact = pairs.errors.fraction > 0
    documents = None if exact else set_documents(pairs)
    if scored < 2 or sample.size < 2 or (documents is not None and documents.number < FEWEST_UNITS):
        return square
    first, second = pair_indices(len(scores))
    chance = chance_full_set_shows(
        scores[first] - scores[second],
        pairs.over_set.of_pairs(first, second)[0],
        pairs.deviations(first, second),
        sample.size,
        models=scored,
        degrees=math.inf if sample.is_complete else pairs.over_set.freedom,
        alpha=alpha,
        documents=documents,
        unseen=pairs.tails.unseen,
        exact=exact,
    )
    too_few = (pairs.common_items(first, second) < FEWEST_FOR_CHANCE) & (not sample.is_complete)
    square[first, second] = square[second, first] = np.where(too_few, np.nan, chance)
    return square


def set_documents(pairs: PairErrors) -> SetDocuments | None:
    """Return the documents behind errors for inputs like these; None where items count by themselves."""
    sample = pairs.sample
    if sample.document is None or "document" not in pairs.errors.unit_name:
        return None
    # How many items that count every document of the set has.
    weights = None if sample.weights is None else (sample.weights > 0).astype(np.float64)
    lengths = np.bincount(sample.document, weights).astype(np.float64)
    lengths = lengths[lengths > 0]
    first, second = pair_indices(sample.models)
    variances = [errors.of_pairs(first, second)[0] ** 2 for errors in (pairs.errors, pairs.over_set)]
    single = pairs.deviations(first, second) ** 2
    finite = np.isfinite(single) & np.isfinite(variances[0]) & np.isfinite(variances[1])
    items = float(single[finite].sum()) / sample.size
    from_documents = float(np.maximum(variances[0] - variances[1], 0.0)[finite].sum())
    return SetDocuments(
        number=len(lengths),
        length=float((lengths**2).sum() / lengths.sum()),
        freedom=max(float(cluster_correction(lengths[:, None], lengths[:, None])[1][0]), 1.0),
        repeated_items=max(float((sample.importance > 0).sum()) - pairs.errors.units, 0.0),
        inflation=from_documents / items if items > 0 else 1.0,
    )
