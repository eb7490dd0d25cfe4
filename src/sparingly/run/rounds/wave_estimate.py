"""The estimator behind ``waves`` and ``auto``: waves of judgements, combined, with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import EstimateRequest, Target, estimate_with_errors
from sparingly.infer.estimate.intervals import (
    BOOTSTRAP,
    EXACT,
    FEWEST_UNITS,
    NONE,
    T,
    outcome_of,
)
from sparingly.infer.estimate.result import Estimate, EstimateSignature
from sparingly.infer.estimate.sample import JudgedSample, dense, document_codes, group_sums, single_items
from sparingly.infer.estimate.scale import values_of
from sparingly.infer.estimate.variance import ONE_DOCUMENT, ScoreErrors, nearest_covariance
from sparingly.run.rounds.strategy import State, merge_rounds

# A wave is a draw from what was not yet asked for, with chances and predictions learned from earlier waves
# only. So each wave's estimate is unbiased given all that went before, and the estimates of different waves
# are uncorrelated: variances add up, and the increments are independent, which tests at several looks need.


@dataclass(frozen=True, eq=False)
class Wave:
    """A draw from the cells that no earlier wave asked for; all arrays are items × models."""

    earlier: Mask  # the cells that earlier waves asked for
    cells: Mask  # the cells that this wave asks for
    # The probability that a cell is asked for, given everything before; 1 where it is not drawn.
    chance: Floats
    predicted: Floats  # a prediction of every cell, learned without this wave's labels of it


@dataclass(frozen=True, eq=False)
class WaveTotals:
    """The estimate of the models' means from one wave."""

    scores: Floats  # μ̂⁽ᵏ⁾ of every model; NaN where the wave has no label of it
    covariance: Floats  # models × models, given everything before
    shape: Floats  # drawn items × models: what each contributes to the deviations
    weight: Floats  # the weight of the wave before normalising; infinite where it leaves nothing unjudged
    chance: Floats  # items × models: the chance that a cell was asked for and answered; 1 where it was not
    answered: Mask  # items × models: the cells that were answered


@dataclass(frozen=True, eq=False)
class CombinedWaves:
    """All waves together."""

    scores: Floats  # σ_k w_k μ̂⁽ᵏ⁾; NaN for a model without labels
    covariance: Floats  # σ_k w_k w_kᵀ ∘ V̂_k over the models, for this very set
    freedom: float  # degrees of freedom (Satterthwaite's, over the waves)
    shape: Floats  # drawn items × models: what each contributes to the scores' deviations
    stratum: Ints  # the wave of every row of ``shape``
    stands_for: Floats  # items × models: how many items a label stands for, ∂(N·μ̂)/∂y; 0 without a label


def combine(waves: Sequence[Wave], labels: Floats, importance: Floats | None = None) -> CombinedWaves:
    """Combine waves with weights that their sizes fix, w_k ∝ n_k/(|U_k|(|U_k| − n_k)).

    With equal probabilities and nothing learned this is exactly simple random sampling: the plain mean of all
    that was judged. A model that some waves left out is combined over its own waves.
    """
    item_weights = np.ones(len(labels)) if importance is None else importance
    totals = [wave_totals(wave, labels, item_weights) for wave in waves]
    counts = np.stack([wave.answered.sum(axis=0) for wave in totals])
    # Weights that add up to 1 for every model; a wave that leaves nothing unjudged takes all.
    weights = np.stack([wave.weight for wave in totals])
    certain = np.isinf(weights)
    weights = np.where(certain.any(axis=0), certain.astype(np.float64), weights)
    # One label alone tells nothing of its error, so such a wave counts only where a model has no other.
    enough = certain | (counts > 1)
    weights = np.where(enough | ~enough.any(axis=0), weights, 0.0)
    weights = ratio(weights, weights.sum(axis=0))
    parts = [np.outer(weight, weight) * wave.covariance for weight, wave in zip(weights, totals, strict=True)]
    sizes = [len(wave.shape) for wave in totals]
    # A label of wave k stands for w_k/π + Σ_{m>k} w_m items.
    later = np.cumsum(weights[::-1], axis=0)[::-1] - weights
    stands_for = np.zeros(totals[0].answered.shape)
    for weight, later_weight, wave in zip(weights, later, totals, strict=True):
        stands_for += np.where(wave.answered, weight / wave.chance + later_weight, 0.0)
    scores = weights * np.nan_to_num([wave.scores for wave in totals])
    return CombinedWaves(
        scores=np.where((weights > 0).any(axis=0), scores.sum(axis=0), np.nan),
        covariance=nearest_covariance(np.sum(parts, axis=0)),
        freedom=_freedom([float(np.trace(part)) for part in parts], sizes),
        shape=np.concatenate([wave.shape * weight for weight, wave in zip(weights, totals, strict=True)]),
        stratum=np.repeat(np.arange(len(totals)), sizes),
        stands_for=stands_for,
    )


def wave_totals(wave: Wave, labels: Floats, importance: Floats) -> WaveTotals:
    """Return N⁻¹ [Σ_L y + Σ_U f + Σ_S (y − f)/π] of one wave, with its variance.

    What was asked for and did not come in is taken for missing at random: the probabilities of the rest are
    multiplied by the share that came, and a missing label of an earlier wave is replaced by its prediction.
    """
    size = len(labels)
    judged = ~np.isnan(labels)
    answered = wave.cells & judged
    counts, answered_counts = wave.cells.sum(axis=0), answered.sum(axis=0)
    chance = np.where(answered, wave.chance * (answered_counts / np.maximum(counts, 1)), 1.0)
    values = np.where(wave.earlier & judged, labels, wave.predicted)
    missed = np.where(answered, labels - wave.predicted, 0.0) * importance[:, None]
    scores = (importance @ values + (missed / chance).sum(axis=0)) / size
    open_counts = size - wave.earlier.sum(axis=0)
    unjudged = open_counts * np.maximum(open_counts - counts, 0)
    weight = ratio(counts, unjudged, np.inf)
    weight = np.where(answered_counts > 0, weight, 0.0)
    rows = np.flatnonzero(answered.any(axis=1))
    covariance, shape = _covariance(missed[rows], chance[rows], answered[rows])
    return WaveTotals(
        np.where(answered_counts > 0, scores, np.nan),
        covariance / size**2,
        shape / size,
        weight,
        chance,
        answered,
    )


def _covariance(missed: Floats, chance: Floats, answered: Mask) -> tuple[Floats, Floats]:
    """Return the covariance of Σ_S e/π over the models (Hájek–Deville), and every item's part in it.

    V̂_jl = n/(n − 1) Σ (1 − max(π_ij, π_il)) (e_ij/π_ij − A_j)(e_il/π_il − A_l) over the n items on which both
    were judged; A_j is the mean of e/π weighted by 1 − π. Draws of different models are coordinated (the
    smaller sample lies within the larger one), so the chance of both is the smaller of the two.
    """
    unlikely = np.where(answered, 1.0 - chance, 0.0)
    raised = np.where(answered, missed / chance, 0.0)
    total = unlikely.sum(axis=0)
    centre = ratio((unlikely * raised).sum(axis=0), total)
    deviations = np.where(answered, raised - centre, 0.0)
    shared = answered.T.astype(np.float64) @ answered
    if np.ptp(np.where(answered, unlikely, np.nan), axis=1).max(initial=0.0) <= 1e-12 and answered.all():
        products = (deviations * unlikely).T @ deviations
    else:
        products = np.stack(
            [
                (np.minimum(unlikely, unlikely[:, [model]]) * deviations * deviations[:, [model]]).sum(axis=0)
                for model in range(missed.shape[1])
            ]
        )
    correction = np.divide(shared, shared - 1.0, out=np.zeros_like(shared), where=shared > 1)
    scale = np.sqrt(np.diag(correction) * unlikely)
    return products * correction, np.asarray(scale * deviations)


def _freedom(variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Return (Σ v_k)² / Σ v_k²/(n_k − 1), for variances v_k that add up."""
    total = sum(variances)
    spent = sum(
        variance**2 / (size - 1.0) for variance, size in zip(variances, sizes, strict=True) if size > 1
    )
    return total**2 / spent if spent > 0 else max(float(sum(sizes)) - 1.0, 0.0)


# --- from combined waves to an estimate ---


def estimate_waves(
    state: State,
    waves: Sequence[Wave],
    method: Method,
    reads: frozenset[str],
    **options: Any,
) -> Estimate:
    """Return the models' scores from the waves of a strategy.

    Args:
        state: The rounds and their labels.
        waves: What each round was.
        method: The strategy, for the estimate's signature.
        reads: The fields that its predictions read.
        **options: ``target``, ``level``, ``interval`` and ``seed`` as in ``sparingly.estimate``.
    """
    request = estimate_request(
        method, {**options, "scale": options.get("scale") or state.data.truth_scale(state.aspect)}
    )
    if not waves or np.isnan(state.labels).all():
        raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
    combined, sample, errors, set_errors = wave_result(state, waves, request.target)
    scores, size = combined.scores, len(state.data)
    certain = request.target == "set" and sample.is_complete
    exact = (sample.judged.sum(axis=0) == size) & (request.target == "set")
    # Errors of models with too few labels are not known.
    labels = (~np.isnan(state.labels)).sum(axis=0)
    trusted = certain or request.interval in (T, BOOTSTRAP)
    too_few = not trusted and np.minimum(labels, errors.units) < FEWEST_UNITS
    unknown = np.isnan(scores) | (too_few & ~exact)
    errors, set_errors = (
        replace(each, covariance=np.where(unknown[:, None] | unknown, np.nan, each.covariance))
        for each in (errors, set_errors)
    )
    missing = int(sum((wave.cells & np.isnan(state.labels)).sum() for wave in waves))
    values = values_of(sample.scores[sample.judged], request.scale)
    result = estimate_with_errors(
        *(sample, state.data.models, scores, errors, errors, set_errors, request, values),
        complete=certain,
        exact=exact,
        aspect=state.aspect,
        estimator=str(method),
        n=len(sample.rows),
        size=size,
        notes=(*missing_note(missing), *errors.notes),
    )
    return replace(
        _with_exact(result, exact),
        # Joint claims have one number: that of the model that was judged on fewest items.
        freedom=float(errors.freedoms[~unknown].min(initial=errors.freedom)),
        selection=merge_rounds(state.rounds),
        signature=estimate_signature(state, method, reads, request),
    )


class WaveResult(NamedTuple):
    """Waves combined, as a sample, with their errors for a target and over this very set."""

    combined: CombinedWaves
    sample: JudgedSample
    errors: ScoreErrors
    set_errors: ScoreErrors


def wave_result(state: State, waves: Sequence[Wave], target: Target) -> WaveResult:
    """Return the result of some waves."""
    combined = combine(waves, state.labels, state.data.importance)
    stands_for = combined.stands_for
    rows = np.flatnonzero((stands_for > 0).any(axis=1))
    # Probabilities that give each label its weight in the estimate.
    chance = np.where(stands_for[rows] > 0, 1.0 / np.maximum(stands_for[rows], 1.0), 1.0)
    sample = single_items(
        rows,
        np.where(stands_for[rows] > 0, state.labels[rows], np.nan),
        chance,
        len(state.data),
        weights=state.data.importance,
        document=document_codes(state.data),
        design="waves",
    )
    varied = (np.abs(combined.shape) > 0).any(axis=1)
    judged = sample.judged.sum(axis=0).astype(np.float64)
    set_errors = ScoreErrors(
        covariance=combined.covariance,
        freedom=combined.freedom,
        units=float(varied.sum()),
        shape=combined.shape[varied],
        stratum=dense(combined.stratum[varied]),
        unit_name="judged items",
        units_judged=judged,
        fraction=float(judged.mean()) / sample.size,
    )
    errors = set_errors if target == "set" else population_errors(set_errors, sample)
    return WaveResult(combined, sample, errors, set_errors)


def estimate_request(method: Method, options: dict[str, Any]) -> EstimateRequest:
    """Return the options of an estimate; raise UsageError for those that a strategy does not take."""
    for name in ("estimator", "by"):
        if options.pop(name, None) is not None:
            raise UsageError(f"The strategy {method.name} estimates in its own way, without {name}=.")
    return EstimateRequest(**options)


def population_errors(set_errors: ScoreErrors, sample: JudgedSample) -> ScoreErrors:
    """Return the errors for inputs like these, V̂_set + Ŝ_y²/N, clustered by document where there are any.

    Labels count by what they stand for (a_i): Ŝ² = Σ a z zᵀ/Σ a · n/(n − 1) with z the distance from the
    mean; within a document the products of different items are added, Σ_{i≠k} a_i a_k z_i z_kᵀ.
    """
    weight = np.where(sample.judged, 1.0 / sample.probability, 0.0)
    total = np.maximum(weight.sum(axis=0), 1e-300)
    deviations = np.where(sample.judged, sample.values - (weight * sample.values).sum(axis=0) / total, 0.0)
    deviations = deviations * sample.importance[:, None]
    root = np.sqrt(weight)
    shared = sample.judged.T.astype(np.float64) @ sample.judged
    correction = np.divide(shared, shared - 1.0, out=np.zeros_like(shared), where=shared > 1)
    spread = (root * deviations).T @ (root * deviations) / np.maximum(root.T @ root, 1e-300) * correction
    notes: tuple[str, ...] = ()
    variance, units = spread / sample.size, float(len(sample.rows))
    if sample.document is not None:
        codes = dense(sample.document[sample.rows])
        units = float(codes.max(initial=-1) + 1)
        raised = weight * deviations
        if units > 1:
            sums = group_sums(raised, codes)
            variance = variance + (sums.T @ sums - raised.T @ raised) / sample.size**2
            variance = variance * units / (units - 1.0)
        else:
            units, notes = float(len(sample.rows)), (ONE_DOCUMENT,)
    judged_units = _population_shape(sample.judged.astype(np.float64), sample, units) > 0
    return replace(
        set_errors,
        covariance=nearest_covariance(set_errors.covariance + nearest_covariance(variance)),
        freedom=min(set_errors.freedom if set_errors.units else np.inf, units - 1.0),
        units=units,
        shape=_population_shape(weight * deviations / sample.size, sample, units),
        stratum=np.zeros(int(units), np.int64),
        unit_name="judged documents" if units < len(sample.rows) else "judged items",
        notes=notes,
        units_judged=judged_units.sum(axis=0) * 1.0,
        fraction=0.0,
    )


def _population_shape(parts: Floats, sample: JudgedSample, units: float) -> Floats:
    if sample.document is None or units == len(sample.rows):
        return parts
    return group_sums(parts, dense(sample.document[sample.rows]))


def _with_exact(result: Estimate, exact: Mask) -> Estimate:
    """Return intervals of zero width for models that were judged on everything, unless none are asked for."""
    if not exact.any() or set(result.intervals) == {NONE}:
        return result
    low, high = (np.where(exact, result.scores, end) for end in (result.low, result.high))
    kinds = tuple(EXACT if sure else kind for sure, kind in zip(exact, result.intervals, strict=True))
    return replace(result, low=low, high=high, intervals=kinds, outcome=outcome_of(kinds))


def missing_note(missing: int) -> tuple[str, ...]:
    """Say how many outputs were asked for and have no judgement."""
    if not missing:
        return ()
    return (f"{counted(missing, 'output')} drawn but not judged: assumed to be missing at random.",)


def estimate_signature(
    state: State, method: Method, reads: frozenset[str], request: EstimateRequest
) -> EstimateSignature:
    """Return the signature from which the estimate of a strategy can be derived again."""
    labels = np.where(state.asked, state.labels, np.nan)
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    columns = {fields.column(name) for name in (fields.DOCUMENT, fields.WEIGHT) if name in state.data.columns}
    return EstimateSignature(
        estimator=method.full_text,
        aspect=state.aspect,
        target=request.target,
        level=request.level,
        interval=request.interval,
        scale=request.scale,
        by=None,
        seed=request.seed,
        n=len(rows),
        of=len(state.data),
        inputs=state.data.digest(reads | columns),
        labels=digest_scores(state.data.items[rows], state.data.models, labels[rows]),
        version=__version__,
        selection=str(state.rounds[-1].signature),
    )
