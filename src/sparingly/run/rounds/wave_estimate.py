"""From combined waves to an estimate: errors for both targets, intervals, what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method
from sparingly.data import fields
from sparingly.data.combine import truth_scale
from sparingly.data.importance import importance as importance_of
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import Asked, Target
from sparingly.infer.estimate.draw import document_codes
from sparingly.infer.estimate.intervals import (
    BOOTSTRAP,
    BOUND,
    EXACT,
    LEAST,
    NONE,
    Intervals,
    Outcome,
    T,
    find_intervals,
)
from sparingly.infer.estimate.pairs import PairErrors, spread_of
from sparingly.infer.estimate.result import Estimate, EstimateSignature
from sparingly.infer.estimate.sample import Sample, dense, group_sums
from sparingly.infer.estimate.scale import proportions_of, values_of
from sparingly.infer.estimate.variance import ONE_DOCUMENT, Errors, proper
from sparingly.run.rounds.merge import merged
from sparingly.run.rounds.state import State
from sparingly.run.rounds.wave import Combined, Wave, combine, combine_totals, wave_totals


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
    wanted = _asked(method, {**asked, "scale": asked.get("scale") or truth_scale(state.data, state.aspect)})
    if not waves or np.isnan(state.labels).all():
        raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
    whole, sample, errors, over_set = known_of(state, waves, wanted.target, fold)
    certain = wanted.target == "set" and sample.is_whole
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
    sample: Sample
    errors: Errors
    over_set: Errors


def known_of(state: State, waves: Sequence[Wave], target: Target, fold: Ints | None = None) -> Known:
    """Return what some waves say of the models."""
    whole = combine(waves, state.labels, importance_of(state.data), fold)
    return _known(state, whole, target)


def known_after_each(state: State, waves: Sequence[Wave], target: Target) -> Iterator[Known]:
    """Yield what the first wave says of the models, what the first two say, and so on.

    What a wave says does not depend on later ones, so every wave is summed up once.
    """
    importance = importance_of(state.data)
    matter = np.ones(len(state.data)) if importance is None else importance
    totals = [wave_totals(wave, state.labels, matter) for wave in waves]
    for count in range(1, len(totals) + 1):
        yield _known(state, combine_totals(totals[:count]), target)


def _known(state: State, whole: Combined, target: Target) -> Known:
    sample = _sample(whole, state, importance_of(state.data), document_codes(state.data))
    over_set = _set_errors(whole, sample)
    errors = over_set if target == "set" else population_errors(over_set, sample)
    return Known(whole, sample, errors, over_set)


def _asked(method: Method, asked: dict[str, Any]) -> Asked:
    for name in ("estimator", "by"):
        if asked.pop(name, None) is not None:
            raise UsageError(f"The strategy {method.name} estimates in its own way, without {name}=.")
    return Asked(**asked)


def _set_errors(whole: Combined, sample: Sample) -> Errors:
    """Return the errors over this very set."""
    varied = (np.abs(whole.shape) > 0).any(axis=1)
    judged = sample.judged.sum(axis=0).astype(np.float64)
    return Errors(
        covariance=whole.covariance,
        freedom=whole.freedom,
        units=float(varied.sum()),
        shape=whole.shape[varied],
        stratum=dense(whole.stratum[varied]),
        drawn="judged items",
        judged=judged,
        fraction=float(judged.mean()) / sample.size,
    )


def _sample(whole: Combined, state: State, importance: Floats | None, document: Ints | None) -> Sample:
    """Return the judged items with chances by which each label stands for as many as in the estimate."""
    stands = whole.stands_for
    rows = np.flatnonzero((stands > 0).any(axis=1))
    chance = np.where(stands[rows] > 0, 1.0 / np.maximum(stands[rows], 1.0), 1.0)
    return Sample(
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


def population_errors(over_set: Errors, sample: Sample) -> Errors:
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
        covariance=proper(over_set.covariance + proper(added)),
        freedom=min(over_set.freedom if over_set.units else np.inf, units - 1.0),
        units=units,
        shape=_population_shape(weight * away / sample.size, sample, units),
        stratum=np.zeros(int(units), np.int64),
        drawn="judged documents" if units < len(sample.rows) else "judged items",
        notes=notes,
        judged=(_population_shape(sample.judged.astype(np.float64), sample, units) > 0).sum(axis=0) * 1.0,
        fraction=0.0,
    )


def _population_shape(parts: Floats, sample: Sample, units: float) -> Floats:
    if sample.document is None or units == len(sample.rows):
        return parts
    return group_sums(parts, dense(sample.document[sample.rows]))


def _assembled(
    state: State,
    whole: Combined,
    sample: Sample,
    errors: Errors,
    over_set: Errors,
    asked: Asked,
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
    every: tuple[Errors, Errors], scores: Floats, state: State, asked: Asked, exact: Mask, certain: bool
) -> tuple[Errors, Errors]:
    """Return errors that are NaN where too few labels tell them."""
    errors, over_set = every
    labels = (~np.isnan(state.labels)).sum(axis=0)
    trusted = certain or asked.interval in (T, BOOTSTRAP)
    few = not trusted and np.minimum(labels, errors.units) < LEAST
    unknown = np.isnan(scores) | (few & ~exact)
    hidden = unknown[:, None] | unknown[None, :]
    # Where models were judged on different numbers of items, the one with fewest decides.
    most = float(max(labels[~unknown].min(initial=len(state.data)) - 1, 1))
    errors, over_set = (
        replace(one, covariance=np.where(hidden, np.nan, one.covariance), freedom=min(one.freedom, most))
        for one in (errors, over_set)
    )
    return errors, over_set


def _with_exact(found: Intervals, scores: Floats, exact: Mask) -> Intervals:
    """Return intervals of zero width for models that were judged on everything, unless none are asked for."""
    if not exact.any() or set(found.kinds) == {NONE}:
        return found
    low, high = (np.where(exact, scores, end) for end in (found.low, found.high))
    kinds = tuple(EXACT if sure else kind for sure, kind in zip(exact, found.kinds, strict=True))
    withheld, bounds = kinds.count(NONE), kinds.count(BOUND)
    outcome = Outcome(printed=len(kinds) - withheld - bounds, bounds=bounds, withheld=withheld)
    return Intervals(low, high, kinds, outcome, found.notes)


def _missing_note(waves: Sequence[Wave], state: State) -> tuple[str, ...]:
    lost = int(sum((wave.drawn & np.isnan(state.labels)).sum() for wave in waves))
    if not lost:
        return ()
    return (f"{counted(lost, 'output')} asked for without a judgement: taken to be missing at random.",)


def estimate_signature(
    state: State, method: Method, reads: frozenset[str], asked: Asked
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
