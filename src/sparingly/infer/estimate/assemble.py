"""From a sample and a linear form to an estimate: its errors for the target, intervals and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_level
from sparingly.base.errors import UnknownNameError
from sparingly.data.scale import Ends, Scale
from sparingly.infer.estimate.intervals import (
    BOOTSTRAP,
    FEWEST_UNITS,
    BoundedInterval,
    Interval,
    T,
    find_intervals,
    why_withheld,
)
from sparingly.infer.estimate.pairs import PairErrors, interval_basis
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample, LinearForm
from sparingly.infer.estimate.scale import (
    ScoreValues,
    bounded_pairs,
    bounded_scores,
    passes_note,
    plain_size,
    proportions_of,
    values_of,
)
from sparingly.infer.estimate.variance import ScoreErrors, population_errors, set_errors

Target = Literal["set", "population"]
TARGETS = ("set", "population")
INTERVALS = ("auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none")


@dataclass(frozen=True)
class EstimateRequest:
    """What an estimate is to be: the options of ``estimate``, checked."""

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
    target, level, seed = request.target, request.level, request.seed
    scores = linear.scores(sample) + 0.0
    over_set = set_errors(sample, linear)
    errors = over_set if target == "set" else population_errors(sample, linear, over_set)
    complete = sample.is_complete and target == "set"
    exact = sample.fully_judged & (target == "set")
    values = values_of(sample.scores[sample.judged], request.scale)
    # The scale alone gives intervals of plain means only.
    scale = request.scale if linear.predicted is None or not linear.predicted.any() else None
    notes = (*sample.notes, *linear.notes, *errors.notes)
    if _too_few(errors, request, complete) and request.interval != "auto":
        # With ``auto`` the notes on the intervals say it.
        notes += (f"no standard errors: {why_withheld(errors.units, errors.unit_name)}.",)
    result = estimate_with_errors(
        *(sample, models, scores, errors, _known_errors(errors, scores, request, complete, exact)),
        *(_known_errors(over_set, scores, request, sample.is_complete, sample.fully_judged), request, values),
        complete=complete,
        exact=exact,
        bounded=bounded_scores(sample, target, scale, level, seed),
        bounded_pair=bounded_pairs(sample, target, scale, level, seed),
        plain=plain_size(sample, target),
        aspect=aspect,
        estimator=estimator,
        n=int((sample.importance > 0).sum()),
        size=sample.size if sample.weights is None else int((sample.weights > 0).sum()),
        notes=notes,
    )
    fallen_back = 0 if linear.fallen_back is None else int(linear.fallen_back.sum())
    passes = passes_note(sample.scores[sample.judged], request.scale)
    outcome = replace(result.outcome, fallen_back=fallen_back)
    return replace(result, outcome=outcome, notes=(*result.notes, *passes))


def estimate_with_errors(
    sample: JudgedSample,
    models: Sequence[str],
    scores: Floats,
    errors: ScoreErrors,
    known: ScoreErrors,
    over_set: ScoreErrors,
    request: EstimateRequest,
    values: ScoreValues,
    *,
    complete: bool,
    exact: Mask,
    bounded: BoundedInterval | None = None,
    bounded_pair: Callable[[Ints, Ints], BoundedInterval] | None = None,
    plain: float | None = None,
    notes: tuple[str, ...] = (),
    **described: Any,
) -> Estimate:
    """Return the estimate that scores with their errors give; ``known`` are NaN where these are unknown.

    The other arguments are those of ``PairErrors``, and what an ``Estimate`` says of itself.
    """
    target, level, kind, seed = request.target, request.level, request.interval, request.seed
    basis = replace(
        interval_basis(models, scores, known, complete),
        scale=values.scale,
        proportions=proportions_of(sample, errors, scores, values, target),
        exact=exact,
    )
    intervals = find_intervals(basis, level, kind, seed, bounded)
    size = float(sample.size) if target == "set" else np.inf
    scaled = values.scale, values.two_valued, plain, size
    return Estimate(
        models=tuple(models),
        scores=scores,
        standard_errors=basis.errors,
        low=intervals.low + 0.0,
        high=intervals.high + 0.0,
        intervals=intervals.kinds,
        covariance=known.covariance,
        freedom=errors.freedom,
        target=target,
        level=level,
        outcome=intervals.outcome,
        is_rate=values.is_rate,
        notes=(*notes, *intervals.notes),
        pairs=PairErrors(sample, known, over_set, level, kind, seed, complete, bounded_pair, *scaled),
        **described,
    )


def _too_few(errors: ScoreErrors, request: EstimateRequest, complete: bool) -> bool:
    """Whether too few units were drawn to learn an error from, unless a kind that needs none was named."""
    return errors.units < FEWEST_UNITS and not complete and request.interval not in (T, BOOTSTRAP)


def _known_errors(
    errors: ScoreErrors, scores: Floats, request: EstimateRequest, complete: bool, exact: Mask
) -> ScoreErrors:
    """Return the errors, NaN where they are unknown: without a score, or from too few units."""
    unknown = np.isnan(scores) | _too_few(errors, request, complete) | (errors.freedom <= 0 and not complete)
    if not complete and request.interval not in (T, BOOTSTRAP):
        unknown = unknown | ((errors.counts < FEWEST_UNITS) & ~exact)
    missing = unknown[:, None] | unknown[None, :]
    return replace(errors, covariance=np.where(missing, np.nan, errors.covariance))


# --- what numbers are about: one rule for all commands ---


class Targets(NamedTuple):
    """What scores with their intervals are about, and what claims of who is better are about."""

    scores: Target
    decisions: Target


def targets_of(target: Target | None = None) -> Targets:
    """Return the targets of numbers: the named one for all, else each kind of number has its own.

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
    """Return a target in a few words, for heads of columns and sentences."""
    return {"set": "this set", "population": "inputs like these"}.get(target, "the chosen items")
