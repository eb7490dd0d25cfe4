"""From a sample and a linear form to an estimate: errors for the target, intervals, what to mind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError
from sparingly.base.levels import check_level
from sparingly.data.scale import Ends, Scale
from sparingly.infer.estimate.intervals import (
    BOOTSTRAP,
    FEWEST_UNITS,
    Interval,
    T,
    find_intervals,
    why_withheld,
)
from sparingly.infer.estimate.pairs import PairErrors, spread_of
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample, LinearForm
from sparingly.infer.estimate.scale import (
    bounded_pairs,
    bounded_scores,
    passes_note,
    proportions_of,
    values_of,
)
from sparingly.infer.estimate.variance import ScoreErrors, population_errors, set_errors

Target = Literal["set", "population"]
TARGETS = ("set", "population")
INTERVALS = ("auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none")


@dataclass(frozen=True)
class EstimateRequest:
    """What is asked of an estimate.

    Attributes:
        target: What the scores are to speak about.
        level: The level of the intervals.
        interval: Their kind.
        scale: The lowest and the highest score that there can be; None where it is not known.
        seed: The seed of folds and bootstrap.
    """

    target: Target = "set"
    level: float = 0.95
    interval: Interval = "auto"
    scale: Ends | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.target not in TARGETS:
            raise UnknownNameError("target", self.target, TARGETS)
        if self.interval not in INTERVALS:
            raise UnknownNameError("interval", self.interval, INTERVALS)
        if self.scale is not None:
            Scale(*self.scale)


def assemble(
    sample: JudgedSample,
    linear: LinearForm,
    models: Sequence[str],
    request: EstimateRequest,
    *,
    aspect: str,
    estimator: str,
) -> Estimate:
    """Return the estimate that a sample and a linear form give."""
    scores = linear.scores(sample) + 0.0
    over_set = set_errors(sample, linear)
    errors = over_set if request.target == "set" else population_errors(sample, linear)
    complete = sample.is_complete and request.target == "set"
    too_few = _too_few(errors, request, complete)
    covariance = _known_covariance(errors, scores, complete, too_few)
    labels = sample.scores[sample.judged]
    values = values_of(labels, request.scale)
    basis = replace(
        spread_of(models, scores, np.sqrt(np.diag(covariance)), errors.shape, errors, complete),
        scale=values.scale,
        proportions=proportions_of(sample, errors, scores, values, request.target),
        exact=sample.fully_judged & (request.target == "set"),
    )
    # From the scale alone one can speak of plain means only.
    scale = request.scale if linear.predicted is None or not linear.predicted.any() else None
    bounded = bounded_scores(sample, request.target, scale, request.level, request.seed)
    intervals = find_intervals(basis, request.level, request.interval, request.seed, bounded)
    fallen_back = 0 if linear.fallen_back is None else int(linear.fallen_back.sum())
    return Estimate(
        models=tuple(models),
        scores=scores,
        standard_errors=basis.errors,
        low=intervals.low + 0.0,
        high=intervals.high + 0.0,
        intervals=intervals.kinds,
        covariance=covariance,
        freedom=errors.freedom,
        target=request.target,
        level=request.level,
        aspect=aspect,
        estimator=estimator,
        n=int((sample.importance > 0).sum()),
        size=sample.size if sample.weights is None else int((sample.weights > 0).sum()),
        outcome=replace(intervals.outcome, fallen_back=fallen_back),
        is_rate=values.is_rate,
        notes=(
            *(
                *sample.notes,
                *linear.notes,
                *errors.notes,
                *_error_notes(errors, request, too_few),
                *intervals.notes,
            ),
            *passes_note(labels, request.scale),
        ),
        pairs=PairErrors(
            sample,
            replace(errors, covariance=covariance),
            _over_set(over_set, scores, request, sample.is_complete),
            request.level,
            request.interval,
            request.seed,
            complete,
            bounded_pairs(sample, request.target, scale, request.level, request.seed),
            values.scale,
            values.two_valued,
        ),
    )


def _too_few(errors: ScoreErrors, request: EstimateRequest, complete: bool) -> bool:
    """Say whether too few units were drawn to learn an error from, and none is insisted on."""
    return errors.units < FEWEST_UNITS and not complete and request.interval not in (T, BOOTSTRAP)


def _error_notes(errors: ScoreErrors, request: EstimateRequest, too_few: bool) -> tuple[str, ...]:
    """Say why there are no standard errors, where the missing intervals do not say it already."""
    if not too_few or request.interval == "auto":
        return ()
    return (f"no standard errors: {why_withheld(errors.units, errors.unit_name)}.",)


def _over_set(errors: ScoreErrors, scores: Floats, request: EstimateRequest, complete: bool) -> ScoreErrors:
    """Return the errors over this very set, NaN where nothing can be said."""
    too_few = _too_few(errors, request, complete)
    return replace(errors, covariance=_known_covariance(errors, scores, complete, too_few))


def _known_covariance(errors: ScoreErrors, scores: Floats, complete: bool, too_few: bool) -> Floats:
    """Return the covariance, NaN where nothing can be said: without a score, or from too few units."""
    unknown = np.isnan(scores) | too_few | (errors.freedom <= 0 and not complete)
    return np.where(unknown[:, None] | unknown[None, :], np.nan, errors.covariance)


# --- the one rule for what numbers speak of: scores of this set, claims of inputs like these ---


class Targets(NamedTuple):
    """What scores with their intervals speak of, and what claims of who is better speak of."""

    scores: Target
    decisions: Target


def targets_of(target: Target | None = None) -> Targets:
    """Return what numbers speak of: a named target is that of all numbers, else each has its own.

    Scores, standard errors and intervals are those of this set; p-values, ranks, groups and who may be best
    are those of inputs like these, as otherwise a fully judged set would call every difference significant.
    Every command, page and report takes its targets from here, so that a number is the same everywhere.

    Examples:
        >>> from sparingly.infer.estimate.assemble import targets_of
        >>> targets_of(), targets_of("set").decisions
        (Targets(scores='set', decisions='population'), 'set')
    """
    if target is None:
        return Targets("set", "population")
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    return Targets(target, target)


def target_text(target: str) -> str:
    """Return what a target is in a few words, for the heads of columns and for sentences."""
    return {"set": "this set", "population": "inputs like these"}.get(target, "the chosen items")
