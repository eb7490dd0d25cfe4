"""Error bars that speak of other raters, too: what the choice of raters adds to the errors of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.drawn import frame_of
from sparingly.infer.estimate.guard import EXACT, T
from sparingly.infer.estimate.intervals import Intervals, student
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.rated import Rated, rated
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.severity import NOISE, OUTPUT, RATER, TASTE, Severity, severity
from sparingly.infer.estimate.variance import proper

ADDED = "errors count that other raters would have scored otherwise."
NOT_KNOWN = "{share:.0%} of the judgements do not say who gave them: what their raters add is not counted."
_NO_ERRORS = (
    "Raters can be added to errors that an estimate has: this one has scores of the chosen items only."
)
_FROM_FILE = (
    "An estimate that was read from a file does not say who judged what: estimate again from the data."
)


@dataclass(frozen=True, eq=False)
class RaterVariance:
    """What raters add to the covariance of scores: by their severity, their tastes, and their noise.

    Attributes:
        severity: models × models.
        taste: One variance per model.
        noise: One variance per model.
        freedom: Degrees of freedom of the variances of severities and of tastes.
        unknown: The share of what was judged of which no rater is known.
    """

    severity: Floats
    taste: Floats
    noise: Floats
    freedom: tuple[float, float]
    unknown: float

    @property
    def covariance(self) -> Floats:
        """All of it, models × models."""
        return self.severity + np.diag(self.taste + self.noise)

    def of(self, contrast: Floats) -> tuple[Floats, Floats]:
        """Return what is added to the variances of contrasts (rows × models), and its degrees of freedom."""
        severe = np.maximum(np.einsum("cj,jk,ck->c", contrast, self.severity, contrast), 0.0)
        taste, noise = (contrast**2 @ part for part in (self.taste, self.noise))
        total = severe + taste + noise
        squared = severe**2 / self.freedom[0] + taste**2 / self.freedom[1]
        freedom = np.divide(total**2, squared, out=np.full(len(total), np.inf), where=squared > 0)
        return total, freedom


def rater_covariance(estimate: Estimate, data: EvalSet, severity: Severity | None = None) -> Floats:
    """Return the covariance (models × models) that raters add to that of an estimate.

    With w_rj the share of model j's score that rater r gave: σ_s² Σ_r w_rj w_rk, and σ_δ² Σ_r w_rj² for a
    model by itself. Severity cancels from differences where every rater has the same share in both models,
    tastes do not. What the draw of items counts already (raters who differ from item to item look like items
    that differ) is left out, so that nothing is counted twice.

    Args:
        estimate: What ``estimate`` returned.
        data: The set that it was made from, with ratings that say who gave them.
        severity: How raters vary; ``severity(data, estimate.aspect)`` unless given.
    """
    known = severity if severity is not None else _severity_of(estimate, data)
    return _variance_of(estimate, data, frame_of(data, estimate.selection), known).covariance


def with_rater_errors(estimate: Estimate, data: EvalSet, severity: Severity | None = None) -> Estimate:
    """Return an estimate whose errors speak of a population of raters, not only of those who judged.

    Scores stay as they are. Their covariance grows by ``rater_covariance``; half-widths of intervals by
    √(h² + (t·se_raters)²) with Student's t at the degrees of freedom that so many raters leave. Take it when
    the question is how good the models are, not how good these very people find them. With fewer than five
    raters the intervals become wide, and rightly so.

    Args:
        estimate: What ``estimate`` returned.
        data: The set that it was made from, with ratings that say who gave them.
        severity: How raters vary; ``severity(data, estimate.aspect)`` unless given.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.estimate(data, None, "overall", target="population")
        >>> wider = sparingly.with_rater_errors(found, data)
        >>> bool((wider.standard_errors > found.standard_errors).all())
        True
    """
    known = severity if severity is not None else _severity_of(estimate, data)
    view = frame_of(data, estimate.selection)
    wider = _widened(estimate, data, view, known)
    if severity is not None or estimate.signature is None:
        # A severity that was handed over is in no data, so nobody could derive it again.
        return wider
    return replace(wider, signature=replace(estimate.signature, raters=data.digest(["ratings"])))


def _errors_of(estimate: Estimate) -> PairErrors:
    if estimate.pairs is None:
        raise UsageError(_NO_ERRORS if estimate.target == CHOSEN else _FROM_FILE)
    return estimate.pairs


def _severity_of(estimate: Estimate, data: EvalSet) -> Severity:
    _errors_of(estimate)
    return severity(data, estimate.aspect)


def _widened(estimate: Estimate, data: EvalSet, view: EvalSet, known: Severity) -> Estimate:
    pairs = _errors_of(estimate)
    added = _variance_of(estimate, data, view, known)
    variance, freedom = added.of(np.eye(len(estimate.models)))
    covariance = estimate.covariance + added.covariance
    intervals = Intervals(estimate.low, estimate.high, estimate.intervals, estimate.outcome)
    found = _wider(intervals, estimate.scores, variance, freedom, estimate.level)
    groups: Mapping[str, Estimate] = {
        name: _widened(group, data, view, known) for name, group in estimate.groups.items()
    }
    return replace(
        estimate,
        standard_errors=np.sqrt(np.diag(covariance)),
        low=found.low,
        high=found.high,
        intervals=found.kinds,
        covariance=covariance,
        freedom=_joint_freedom(estimate, added),
        notes=(*estimate.notes, ADDED, *known.notes, *_unknown_notes(added)),
        groups=groups,
        signature=None,
        pairs=RaterPairErrors(
            **{**vars(pairs), "errors": replace(pairs.errors, covariance=covariance), "whole": False},
            before=pairs,
            added=added,
        ),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class RaterPairErrors(PairErrors):
    """What differences need, raters included: the errors before, and what raters add to them."""

    before: PairErrors
    added: RaterVariance

    def intervals(
        self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]
    ) -> tuple[Floats, Intervals]:
        """Return the standard errors of differences, and intervals around them."""
        wrong, found = self.before.intervals(first, second, centre, names)
        contrast = np.eye(len(self.added.taste))[first] - np.eye(len(self.added.taste))[second]
        variance, freedom = self.added.of(contrast)
        return np.sqrt(wrong**2 + variance), _wider(found, centre, variance, freedom, self.level)


def _wider(found: Intervals, centre: Floats, variance: Floats, freedom: Floats, level: float) -> Intervals:
    """Return intervals whose halves grow by those of the raters, as independent errors add up."""
    quantile = np.array([student(level, one) for one in freedom])
    # Without variance there is nothing to add, whatever the quantile.
    half = np.where(variance > 0, quantile * np.sqrt(variance), 0.0)
    low = centre - np.sqrt((centre - found.low) ** 2 + half**2)
    high = centre + np.sqrt((found.high - centre) ** 2 + half**2)
    kinds = tuple(
        T if kind == EXACT and more > 0 else kind for kind, more in zip(found.kinds, half, strict=True)
    )
    return replace(found, low=low, high=high, kinds=kinds)


def _joint_freedom(estimate: Estimate, added: RaterVariance) -> float:
    """Return the degrees of freedom of a model's distance from the mean (Welch and Satterthwaite)."""
    count = len(estimate.models)
    contrast = np.eye(count) - (1.0 / count if count > 1 else 0.0)
    known = np.nan_to_num(estimate.covariance)
    own = float(np.einsum("cj,jk,ck->c", contrast, known, contrast).mean())
    more, freedom = added.of(contrast)
    spent = float((more**2 / freedom).mean()) + (own**2 / estimate.freedom if estimate.freedom > 0 else 0.0)
    return (own + float(more.mean())) ** 2 / spent if spent > 0 else estimate.freedom


def _unknown_notes(added: RaterVariance) -> tuple[str, ...]:
    return (NOT_KNOWN.format(share=added.unknown),) if added.unknown > 1e-9 else ()


def _variance_of(estimate: Estimate, data: EvalSet, view: EvalSet, known: Severity) -> RaterVariance:
    sample, count = _errors_of(estimate).sample, len(estimate.models)
    if estimate.models != data.models:
        raise UsageError("The estimate is of other models than the data: take the data it was made from.")
    shares = _shares(sample, rated(data, estimate.aspect), data, view)
    if len(known.raters) < 2:
        none = np.zeros(count)
        return RaterVariance(np.zeros((count, count)), none, none, (1.0, 1.0), shares.unknown)
    unit, counted = _counted(sample, estimate.target)
    together = shares.sums(shares.rater)
    places = unit[shares.row] * (int(shares.rater.max(initial=0)) + 1) + shares.rater
    apart = shares.sums(places, np.sqrt(counted[shares.row]))
    severe = together.T @ together - apart.T @ apart
    # A single rating's noise is counted by the draw as far as the draw is left to chance.
    left = (1.0 - counted[shares.row]) * shares.share**2 / shares.count
    noise = known.variances[NOISE] if OUTPUT in known.variances else 0.0
    return RaterVariance(
        # Where raters cancel out more than items do, errors stay as they were: they never shrink.
        severity=known.variances[RATER] * proper(severe),
        taste=known.variances.get(TASTE, 0.0) * np.maximum(np.diag(severe), 0.0),
        noise=np.asarray(noise * np.bincount(shares.model, left, minlength=count), np.float64),
        freedom=known.freedom,
        unknown=shares.unknown,
    )


@dataclass(frozen=True, eq=False)
class _Shares:
    """What share every rating has in the score of its model; ``row`` is the judged item of the sample."""

    row: Ints
    model: Ints
    rater: Ints
    share: Floats
    count: Floats
    models: int
    unknown: float

    def sums(self, codes: Ints, factor: Floats | float = 1.0) -> Floats:
        """Return the sums of shares by code, codes × models."""
        dense = np.unique(codes, return_inverse=True)[1]
        total = np.zeros((int(dense.max(initial=-1)) + 1, self.models))
        np.add.at(total, (dense, self.model), factor * self.share)
        return total


def _shares(sample: Sample, judged: Rated, data: EvalSet, view: EvalSet) -> _Shares:
    """Return the share of every rating: that of its output, in equal parts over the output's ratings."""
    weight = sample.share / np.maximum(sample.share.sum(axis=0), 1e-300)
    place = np.full(len(data), -1, np.int64)
    place[data.positions(view.items[sample.rows])] = np.arange(len(sample.rows))
    often = np.bincount(judged.cell, judged.count)[judged.cell]
    row = place[judged.item]
    used = (row >= 0) & (sample.share[row, judged.model] > 0)
    row, model = row[used], judged.model[used]
    share = weight[row, model] * judged.count[used] / often[used]
    counting = float((weight.sum(axis=0) > 0).sum())
    return _Shares(
        row=row,
        model=model,
        rater=judged.rater[used],
        share=share,
        count=judged.count[used],
        models=sample.models,
        unknown=max(0.0, 1.0 - float(share.sum()) / max(counting, 1.0)),
    )


def _counted(sample: Sample, target: str) -> tuple[Ints, Floats]:
    """Return the unit of every judged item, and how much of its variance the draw's own error counts."""
    if target == "set":
        return sample.cluster, 1.0 - sample.draw
    rows = np.arange(len(sample.rows))
    if sample.document is not None and len(np.unique(sample.document[sample.rows])) > 1:
        rows = sample.document[sample.rows]
    return rows, np.ones(len(rows))
