"""From combined waves to an estimate: errors for both targets, intervals, what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import EstimateRequest, Target
from sparingly.infer.estimate.draw import document_codes
from sparingly.infer.estimate.intervals import (
    BOOTSTRAP,
    BOUND,
    EXACT,
    FEWEST_UNITS,
    NONE,
    IntervalOutcome,
    IntervalSet,
    T,
    find_intervals,
)
from sparingly.infer.estimate.pairs import PairErrors, spread_of
from sparingly.infer.estimate.result import Estimate, EstimateSignature
from sparingly.infer.estimate.sample import JudgedSample, dense, group_sums
from sparingly.infer.estimate.scale import proportions_of, values_of
from sparingly.infer.estimate.variance import ONE_DOCUMENT, ScoreErrors, nearest_covariance
from sparingly.run.rounds.strategy import State, merged

# One wave of judgements and how waves are combined: the estimator behind ``waves`` and ``allocate``.
# A wave is a draw from what was not yet asked for, with chances and predictions learned from earlier waves
# only. So each wave's estimate is unbiased given all that went before, and the estimates of different waves
# are uncorrelated: variances add up, and the increments are independent, which tests at several looks need.


@dataclass(frozen=True, eq=False)
class Wave:
    """A draw from what was not yet asked for; all arrays are items × models.

    Attributes:
        before: What had been asked for in earlier waves.
        drawn: What this wave asks for.
        chance: The chance that a cell is asked for, given everything before; 1 where it is not drawn.
        predicted: What is predicted of every cell, learned without this wave's labels of it.
    """

    before: Mask
    drawn: Mask
    chance: Floats
    predicted: Floats


@dataclass(frozen=True, eq=False)
class WaveTotals:
    """What one wave says of the models' means.

    Attributes:
        scores: μ̂⁽ᵏ⁾ of every model; NaN where the wave has no label of it.
        covariance: models × models, given everything before.
        shape: drawn items × models: what each contributes to the deviations.
        weight: The weight of the wave before normalising; infinite where it leaves nothing unjudged.
        chance: items × models: the chance that a cell was asked for and answered; 1 where it was not.
        came: items × models: what was answered.
    """

    scores: Floats
    covariance: Floats
    shape: Floats
    weight: Floats
    chance: Floats
    came: Mask


@dataclass(frozen=True, eq=False)
class Combined:
    """All waves together.

    Attributes:
        scores: Σ_k w_k μ̂⁽ᵏ⁾; NaN for a model without labels.
        covariance: Σ_k w_k w_kᵀ ∘ V̂_k over the models, for this very set.
        freedom: Degrees of freedom (Satterthwaite's, over the waves).
        shape: drawn items × models: what each contributes to the scores' deviations.
        stratum: The wave of every row of ``shape``.
        stands_for: items × models: how many items a label stands for, ∂(N·μ̂)/∂y; 0 without a label.
    """

    scores: Floats
    covariance: Floats
    freedom: float
    shape: Floats
    stratum: Ints
    stands_for: Floats


def combine(
    waves: Sequence[Wave], labels: Floats, importance: Floats | None = None, fold: Ints | None = None
) -> Combined:
    """Combine waves with weights that their sizes fix, w_k ∝ n_k/(|U_k|(|U_k| − n_k)).

    With equal chances and nothing learned this is simple random sampling, exactly: the plain mean of all that
    was judged. A model that some waves left out is combined over its own waves. With folds, every fold is
    combined by itself, by its own sizes, and counts by its number of items.
    """
    matter = np.ones(len(labels)) if importance is None else importance
    if fold is not None and fold.any():
        return _combine_folds(waves, labels, matter, fold)
    return combine_totals([wave_totals(wave, labels, matter) for wave in waves])


def _combine_folds(waves: Sequence[Wave], labels: Floats, matter: Floats, fold: Ints) -> Combined:
    """Combine waves fold by fold; the error of a wave is learned from all of its folds together."""
    size, folds = len(labels), int(fold.max()) + 1
    waves = [replace(wave, chance=_within_folds(wave, fold, folds)) for wave in waves]
    weights = np.zeros((len(waves), *labels.shape))
    means = np.zeros((folds, labels.shape[1]))
    for own in range(folds):
        rows = np.flatnonzero(fold == own)
        inside = [
            wave_totals(
                Wave(wave.before[rows], wave.drawn[rows], wave.chance[rows], wave.predicted[rows]),
                labels[rows],
                matter[rows],
            )
            for wave in waves
        ]
        # One label is enough in a fold: other folds tell of its error.
        weight = _normalised(np.stack([one.weight for one in inside]), np.full((len(waves), 1), 2))
        weights[:, rows] = weight[:, None]
        parts = [
            np.where(own_weight > 0, own_weight * np.nan_to_num(one.scores), 0.0)
            for own_weight, one in zip(weight, inside, strict=True)
        ]
        means[own] = np.where((weight > 0).any(axis=0), np.sum(parts, axis=0), np.nan)
    share = np.bincount(fold, minlength=folds)[:, None] * np.isfinite(means)
    total = share.sum(axis=0)
    scores = np.divide(
        (share * np.nan_to_num(means)).sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0
    )
    covariances, shapes, stands = [], [], np.zeros(labels.shape)
    later = np.cumsum(weights[::-1], axis=0)[::-1] - weights
    there = ~np.isnan(labels)
    for weight, rest, wave in zip(weights, later, waves, strict=True):
        came = wave.drawn & there
        shared = _shares(came, wave.drawn, fold, folds)
        chance = np.where(came, wave.chance * shared[fold], 1.0)
        missed = np.where(came, labels - wave.predicted, 0.0) * matter[:, None] * weight * size / total
        rows = np.flatnonzero(came.any(axis=1))
        covariance, shape = _covariance(missed[rows], chance[rows], came[rows])
        covariances.append(covariance / size**2)
        shapes.append(shape / size)
        stands += np.where(came, weight / chance + rest, 0.0)
    sizes = [len(one) for one in shapes]
    return Combined(
        scores=scores,
        covariance=nearest_covariance(np.sum(covariances, axis=0)),
        freedom=_freedom([float(np.trace(one)) for one in covariances], sizes),
        shape=np.concatenate(shapes),
        stratum=np.repeat(np.arange(len(waves)), sizes),
        stands_for=stands,
    )


def _within_folds(wave: Wave, fold: Ints, folds: int) -> Floats:
    """Return the chances with equal ones replaced by the share of a fold's open cells that was drawn."""
    chance = wave.chance.copy()
    for own in range(folds):
        rows = fold == own
        drawn = wave.drawn[rows]
        asked, left = drawn.sum(axis=0), (~wave.before[rows]).sum(axis=0)
        same = np.ptp(
            np.where(drawn, chance[rows], chance[rows].max(axis=0, where=drawn, initial=0.0)), axis=0
        )
        even = np.where((same <= 1e-12) & (asked > 0), asked / np.maximum(left, 1), np.nan)
        chance[rows] = np.where(drawn & ~np.isnan(even), even, chance[rows])
    return chance


def _shares(came: Mask, drawn: Mask, fold: Ints, folds: int) -> Floats:
    """Return folds × models: the share of what was asked for that came."""
    found = np.ones((folds, came.shape[1]))
    for own in range(folds):
        asked = drawn[fold == own].sum(axis=0)
        found[own] = np.where(asked > 0, came[fold == own].sum(axis=0) / np.maximum(asked, 1), 1.0)
    return found


def combine_totals(found: Sequence[WaveTotals]) -> Combined:
    """Combine what each wave says, with the weights of ``combine``."""
    answered = np.stack([one.came.sum(axis=0) for one in found])
    weights = _normalised(np.stack([one.weight for one in found]), answered)
    scores = np.where(
        (weights > 0).any(axis=0),
        sum(
            np.where(weight > 0, weight * np.nan_to_num(one.scores), 0.0)
            for weight, one in zip(weights, found, strict=True)
        ),
        np.nan,
    )
    parts = [np.outer(weight, weight) * one.covariance for weight, one in zip(weights, found, strict=True)]
    sizes = [len(one.shape) for one in found]
    return Combined(
        scores=np.asarray(scores),
        covariance=nearest_covariance(np.sum(parts, axis=0)),
        freedom=_freedom([float(np.trace(part)) for part in parts], sizes),
        shape=np.concatenate([one.shape * weight for weight, one in zip(weights, found, strict=True)]),
        stratum=np.repeat(np.arange(len(found)), sizes),
        stands_for=_stands_for(found, weights),
    )


def wave_totals(wave: Wave, labels: Floats, importance: Floats) -> WaveTotals:
    """Return N⁻¹ [Σ_L y + Σ_U f + Σ_S (y − f)/π] of one wave, with its variance.

    What was asked for and did not come in is taken for missing at random: the chances of the rest are
    multiplied by the share that came, and a missing label of an earlier wave is replaced by its prediction.
    """
    size = len(labels)
    there = ~np.isnan(labels)
    came = wave.drawn & there
    asked, answered = wave.drawn.sum(axis=0), came.sum(axis=0)
    chance = np.where(came, wave.chance * (answered / np.maximum(asked, 1)), 1.0)
    known = np.where(wave.before & there, labels, wave.predicted)
    missed = np.where(came, labels - wave.predicted, 0.0) * importance[:, None]
    scores = (importance @ known + (missed / chance).sum(axis=0)) / size
    left = size - wave.before.sum(axis=0)
    rest = left * np.maximum(left - asked, 0)
    weight = np.divide(asked, rest, out=np.full(len(rest), np.inf), where=rest > 0)
    weight = np.where(answered > 0, weight, 0.0)
    rows = np.flatnonzero(came.any(axis=1))
    covariance, shape = _covariance(missed[rows], chance[rows], came[rows])
    return WaveTotals(
        np.where(answered > 0, scores, np.nan), covariance / size**2, shape / size, weight, chance, came
    )


def _covariance(missed: Floats, chance: Floats, came: Mask) -> tuple[Floats, Floats]:
    """Return the covariance of Σ_S e/π over the models (Hájek–Deville), and every item's part in it.

    V̂_jl = n/(n − 1) Σ (1 − max(π_ij, π_il)) (e_ij/π_ij − A_j)(e_il/π_il − A_l) over the n items on which both
    were judged; A_j is the mean of e/π weighted by 1 − π. Draws of different models are coordinated (the
    smaller sample lies within the larger one), so the chance of both is the smaller of the two.
    """
    left = np.where(came, 1.0 - chance, 0.0)
    raised = np.where(came, missed / chance, 0.0)
    total = left.sum(axis=0)
    centre = np.divide((left * raised).sum(axis=0), total, out=np.zeros(len(total)), where=total > 0)
    away = np.where(came, raised - centre, 0.0)
    shared = came.T.astype(np.float64) @ came
    if np.ptp(np.where(came, left, np.nan), axis=1).max(initial=0.0) <= 1e-12 and came.all():
        products = (away * left).T @ away
    else:
        products = np.stack(
            [
                (np.minimum(left, left[:, [model]]) * away * away[:, [model]]).sum(axis=0)
                for model in range(missed.shape[1])
            ]
        )
    few = np.divide(shared, shared - 1.0, out=np.zeros_like(shared), where=shared > 1)
    own = np.sqrt(np.diag(few) * left)
    return products * few, np.asarray(own * away)


def _normalised(weights: Floats, answered: Ints) -> Floats:
    """Return weights that add up to 1 for every model; a wave that leaves nothing unjudged takes all.

    One label alone tells nothing of its error, so such a wave counts only where a model has no other.
    """
    certain = np.isinf(weights)
    settled = np.where(certain.any(axis=0), certain.astype(np.float64), weights)
    enough = certain | (answered > 1)
    settled = np.where(enough | ~enough.any(axis=0), settled, 0.0)
    total = settled.sum(axis=0)
    return np.asarray(np.divide(settled, total, out=np.zeros_like(settled), where=total > 0))


def _freedom(variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Return (Σ v_k)² / Σ v_k²/(n_k − 1), for variances v_k that add up."""
    total = sum(variances)
    spent = sum(own**2 / (size - 1.0) for own, size in zip(variances, sizes, strict=True) if size > 1)
    return total**2 / spent if spent > 0 else max(float(sum(sizes)) - 1.0, 0.0)


def _stands_for(found: Sequence[WaveTotals], weights: Floats) -> Floats:
    """Return w_k/π + Σ_{m>k} w_m for what came in wave k: how many items each label stands for."""
    later = np.cumsum(weights[::-1], axis=0)[::-1] - weights
    whole = np.zeros(found[0].came.shape)
    for weight, rest, one in zip(weights, later, found, strict=True):
        whole += np.where(one.came, weight / one.chance + rest, 0.0)
    return whole


# From combined waves to an estimate: errors for both targets, intervals, what to mind.


def estimate_waves(
    state: State,
    waves: Sequence[Wave],
    method: Method,
    reads: frozenset[str],
    fold: Ints | None = None,
    **asked: Any,
) -> Estimate:
    """Return the models' scores from the waves of a strategy.

    Args:
        state: The rounds and their labels.
        waves: What each round was.
        method: The strategy, for the estimate's signature.
        reads: The fields that its predictions read.
        fold: The fold of every item, where models were left out fold by fold.
        asked: ``target``, ``level``, ``interval`` and ``seed`` as in ``sparingly.estimate``.
    """
    wanted = _asked(method, {**asked, "scale": asked.get("scale") or state.data.truth_scale(state.aspect)})
    if not waves or np.isnan(state.labels).all():
        raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
    whole, sample, errors, over_set = known_of(state, waves, wanted.target, fold)
    certain = wanted.target == "set" and sample.is_complete
    found = _assembled(state, whole, sample, errors, over_set, wanted, certain)
    return replace(
        found,
        estimator=str(method),
        notes=(*_missing_note(waves, state), *found.notes),
        selection=merged(state.rounds),
        signature=estimate_signature(state, method, reads, wanted),
    )


class Known(NamedTuple):
    """What waves say: combined, as a sample, and their errors for a target and over this very set."""

    whole: Combined
    sample: JudgedSample
    errors: ScoreErrors
    over_set: ScoreErrors


def known_of(state: State, waves: Sequence[Wave], target: Target, fold: Ints | None = None) -> Known:
    """Return what some waves say of the models."""
    whole = combine(waves, state.labels, state.data.importance, fold)
    return _known(state, whole, target)


def known_after_each(state: State, waves: Sequence[Wave], target: Target) -> Iterator[Known]:
    """Yield what the first wave says of the models, what the first two say, and so on.

    What a wave says does not depend on later ones, so every wave is summed up once.
    """
    importance = state.data.importance
    matter = np.ones(len(state.data)) if importance is None else importance
    totals = [wave_totals(wave, state.labels, matter) for wave in waves]
    for count in range(1, len(totals) + 1):
        yield _known(state, combine_totals(totals[:count]), target)


def _known(state: State, whole: Combined, target: Target) -> Known:
    sample = _sample(whole, state, state.data.importance, document_codes(state.data))
    over_set = _set_errors(whole, sample)
    errors = over_set if target == "set" else population_errors(over_set, sample)
    return Known(whole, sample, errors, over_set)


def _asked(method: Method, asked: dict[str, Any]) -> EstimateRequest:
    for name in ("estimator", "by"):
        if asked.pop(name, None) is not None:
            raise UsageError(f"The strategy {method.name} estimates in its own way, without {name}=.")
    return EstimateRequest(**asked)


def _set_errors(whole: Combined, sample: JudgedSample) -> ScoreErrors:
    """Return the errors over this very set."""
    varied = (np.abs(whole.shape) > 0).any(axis=1)
    judged = sample.judged.sum(axis=0).astype(np.float64)
    return ScoreErrors(
        covariance=whole.covariance,
        freedom=whole.freedom,
        units=float(varied.sum()),
        shape=whole.shape[varied],
        stratum=dense(whole.stratum[varied]),
        unit_name="judged items",
        units_judged=judged,
        fraction=float(judged.mean()) / sample.size,
    )


def _sample(whole: Combined, state: State, importance: Floats | None, document: Ints | None) -> JudgedSample:
    """Return the judged items with chances by which each label stands for as many as in the estimate."""
    stands = whole.stands_for
    rows = np.flatnonzero((stands > 0).any(axis=1))
    chance = np.where(stands[rows] > 0, 1.0 / np.maximum(stands[rows], 1.0), 1.0)
    return JudgedSample(
        rows=rows,
        scores=np.where(stands[rows] > 0, state.labels[rows], np.nan),
        probability=chance,
        size=len(state.data),
        draw=chance.max(axis=1),
        unit=np.arange(len(rows)),
        stratum=np.zeros(len(rows), np.int64),
        weights=importance,
        document=document,
        design="waves",
    )


def population_errors(over_set: ScoreErrors, sample: JudgedSample) -> ScoreErrors:
    """Return the errors for inputs like these, V̂_set + Ŝ_y²/N, clustered by document where there are any.

    Labels count by what they stand for (a_i): Ŝ² = Σ a z zᵀ/Σ a · n/(n − 1) with z the distance from the
    mean; within a document the products of different items are added, Σ_{i≠k} a_i a_k z_i z_kᵀ.
    """
    weight = np.where(sample.judged, 1.0 / sample.probability, 0.0)
    total = np.maximum(weight.sum(axis=0), 1e-300)
    away = np.where(sample.judged, sample.values - (weight * sample.values).sum(axis=0) / total, 0.0)
    away = away * sample.importance[:, None]
    root = np.sqrt(weight)
    both = sample.judged.T.astype(np.float64) @ sample.judged
    few = np.divide(both, both - 1.0, out=np.zeros_like(both), where=both > 1)
    spread = (root * away).T @ (root * away) / np.maximum(root.T @ root, 1e-300) * few
    notes: tuple[str, ...] = ()
    added, units = spread / sample.size, float(len(sample.rows))
    if sample.document is not None:
        codes = dense(sample.document[sample.rows])
        units = float(codes.max(initial=-1) + 1)
        raised = weight * away
        if units > 1:
            together = group_sums(raised, codes)
            added = added + (together.T @ together - raised.T @ raised) / sample.size**2
            added = added * units / (units - 1.0)
        else:
            units, notes = float(len(sample.rows)), (ONE_DOCUMENT,)
    return replace(
        over_set,
        covariance=nearest_covariance(over_set.covariance + nearest_covariance(added)),
        freedom=min(over_set.freedom if over_set.units else np.inf, units - 1.0),
        units=units,
        shape=_population_shape(weight * away / sample.size, sample, units),
        stratum=np.zeros(int(units), np.int64),
        unit_name="judged documents" if units < len(sample.rows) else "judged items",
        notes=notes,
        units_judged=(_population_shape(sample.judged.astype(np.float64), sample, units) > 0).sum(axis=0)
        * 1.0,
        fraction=0.0,
    )


def _population_shape(parts: Floats, sample: JudgedSample, units: float) -> Floats:
    if sample.document is None or units == len(sample.rows):
        return parts
    return group_sums(parts, dense(sample.document[sample.rows]))


def _assembled(
    state: State,
    whole: Combined,
    sample: JudgedSample,
    errors: ScoreErrors,
    over_set: ScoreErrors,
    asked: EstimateRequest,
    certain: bool,
) -> Estimate:
    exact = (sample.judged.sum(axis=0) == len(state.data)) & (asked.target == "set")
    errors, over_set = _hidden((errors, over_set), whole.scores, state, asked, exact, certain)
    values = values_of(sample.scores[sample.judged], asked.scale)
    spread = replace(
        spread_of(state.data.models, whole.scores, errors.standard_errors, errors.shape, errors, certain),
        scale=values.scale,
        proportions=proportions_of(sample, errors, whole.scores, values, asked.target),
        exact=exact,
    )
    found = _with_exact(find_intervals(spread, asked.level, asked.interval, asked.seed), whole.scores, exact)
    return Estimate(
        models=tuple(state.data.models),
        scores=whole.scores,
        standard_errors=spread.errors,
        low=found.low,
        high=found.high,
        intervals=found.kinds,
        covariance=errors.covariance,
        freedom=errors.freedom,
        target=asked.target,
        level=asked.level,
        aspect=state.aspect,
        estimator="",
        n=len(sample.rows),
        size=len(state.data),
        outcome=found.outcome,
        is_rate=values.is_rate,
        notes=(*errors.notes, *found.notes),
        pairs=PairErrors(
            sample,
            errors,
            over_set,
            asked.level,
            asked.interval,
            asked.seed,
            certain,
            None,
            values.scale,
            values.two_valued,
        ),
    )


def _hidden(
    every: tuple[ScoreErrors, ScoreErrors],
    scores: Floats,
    state: State,
    asked: EstimateRequest,
    exact: Mask,
    certain: bool,
) -> tuple[ScoreErrors, ScoreErrors]:
    """Return errors that are NaN where too few labels tell them."""
    errors, over_set = every
    labels = (~np.isnan(state.labels)).sum(axis=0)
    trusted = certain or asked.interval in (T, BOOTSTRAP)
    few = not trusted and np.minimum(labels, errors.units) < FEWEST_UNITS
    unknown = np.isnan(scores) | (few & ~exact)
    hidden = unknown[:, None] | unknown[None, :]
    # Where models were judged on different numbers of items, the one with fewest decides.
    most = float(max(labels[~unknown].min(initial=len(state.data)) - 1, 1))
    errors, over_set = (
        replace(one, covariance=np.where(hidden, np.nan, one.covariance), freedom=min(one.freedom, most))
        for one in (errors, over_set)
    )
    return errors, over_set


def _with_exact(found: IntervalSet, scores: Floats, exact: Mask) -> IntervalSet:
    """Return intervals of zero width for models that were judged on everything, unless none are asked for."""
    if not exact.any() or set(found.kinds) == {NONE}:
        return found
    low, high = (np.where(exact, scores, end) for end in (found.low, found.high))
    kinds = tuple(EXACT if sure else kind for sure, kind in zip(exact, found.kinds, strict=True))
    withheld, bounds = kinds.count(NONE), kinds.count(BOUND)
    outcome = IntervalOutcome(printed=len(kinds) - withheld - bounds, bounds=bounds, withheld=withheld)
    return IntervalSet(low, high, kinds, outcome, found.notes)


def _missing_note(waves: Sequence[Wave], state: State) -> tuple[str, ...]:
    lost = int(sum((wave.drawn & np.isnan(state.labels)).sum() for wave in waves))
    if not lost:
        return ()
    return (f"{counted(lost, 'output')} asked for without a judgement: taken to be missing at random.",)


def estimate_signature(
    state: State, method: Method, reads: frozenset[str], asked: EstimateRequest
) -> EstimateSignature:
    """Return from what the estimate of a strategy can be had again."""
    labels = np.where(state.asked, state.labels, np.nan)
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    told = {fields.column(name) for name in (fields.DOCUMENT, fields.WEIGHT) if name in state.data.columns}
    return EstimateSignature(
        estimator=method.full_text,
        aspect=state.aspect,
        target=asked.target,
        level=asked.level,
        interval=asked.interval,
        scale=asked.scale,
        by=None,
        seed=asked.seed,
        n=len(rows),
        of=len(state.data),
        inputs=state.data.digest(reads | told),
        labels=digest_scores(state.data.items[rows], state.data.models, labels[rows]),
        version=__version__,
        selection=str(state.rounds[-1].signature),
    )
