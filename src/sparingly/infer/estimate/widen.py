"""Errors that grow by a source of variance beside the draw of items: raters, or epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.lazy import special
from sparingly.infer.estimate.intervals import EXACT, PROPORTION, IntervalSet, T, student
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.result import Estimate


class AddedVariance(Protocol):
    """What is added to the covariance of scores (models × models)."""

    @property
    def covariance(self) -> Floats:
        """All of it."""

    def of(self, contrast: Floats) -> tuple[Floats, Floats]:
        """Return what is added to the variances of contrasts (rows × models), and its degrees of freedom."""


def widened(estimate: Estimate, added: AddedVariance, notes: Sequence[str]) -> Estimate:
    """Return an estimate with more variance in its scores, in their intervals and in those of pairs.

    The covariance grows by that of ``added``, half-widths to √(h² + (t·se)²) with Student's t at the degrees
    of freedom of what is added.
    """
    pairs, count = estimate.pairs, len(estimate.models)
    covariance = estimate.covariance + added.covariance
    scale = None if pairs is None else pairs.scale
    intervals = IntervalSet(estimate.low, estimate.high, estimate.intervals, estimate.outcome)
    wider = _widen_intervals(intervals, estimate.scores, *added.of(np.eye(count)), estimate.level, scale)
    # Degrees of freedom of a model's distance from the mean (Welch and Satterthwaite).
    contrast = np.eye(count) - (1.0 / count if count > 1 else 0.0)
    item_covariance = np.nan_to_num(estimate.covariance)
    item_variance = float(np.einsum("cj,jk,ck->c", contrast, item_covariance, contrast).mean())
    variance, freedom = added.of(contrast)
    spent = float((variance**2 / freedom).mean()) + (
        item_variance**2 / estimate.freedom if estimate.freedom > 0 else 0.0
    )
    joint_freedom = (item_variance + float(variance.mean())) ** 2 / spent if spent > 0 else estimate.freedom
    wider_pairs = None
    if pairs is not None:
        parts = {part.name: getattr(pairs, part.name) for part in fields(PairErrors)}
        parts |= {"errors": replace(pairs.errors, covariance=covariance), "complete": False}
        wider_pairs = WiderPairErrors(**parts, before=pairs, added=added)
    return replace(
        estimate,
        standard_errors=np.sqrt(np.diag(covariance)),
        low=wider.low,
        high=wider.high,
        intervals=wider.kinds,
        covariance=covariance,
        freedom=joint_freedom,
        notes=(*estimate.notes, *notes),
        pairs=wider_pairs,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class WiderPairErrors(PairErrors):
    """What differences need: the errors before, and what is added to them."""

    before: PairErrors
    added: AddedVariance

    def intervals(
        self, first: Ints, second: Ints, centre: Floats, names: Sequence[str]
    ) -> tuple[Floats, IntervalSet]:
        """Return the standard errors of differences, and intervals around them."""
        errors, found = self.before.intervals(first, second, centre, names)
        variance, freedom = self._added_to(first, second)
        reach = None if self.scale is None else self.scale[1] - self.scale[0]
        ends = None if reach is None else (-reach, reach)
        wider = _widen_intervals(found, centre, variance, freedom, self.level, ends)
        return np.sqrt(errors**2 + variance), wider

    def p_values(self, first: Ints, second: Ints, centre: Floats) -> Floats:
        """Return the two-sided p-value of every difference.

        t = d / √(own² + added), with the degrees of freedom of Welch and Satterthwaite. The own error is the
        one to which the earlier p-value belongs, whatever its test: |d| / z of p/2, and 0 where p is 0.
        """
        variance, freedom = self._added_to(first, second)
        earlier = self.before.p_values(first, second, centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(earlier > 0, (centre / special.ndtri(np.maximum(earlier, 1e-300) / 2)) ** 2, 0.0)
            total = own + variance
            degrees = np.minimum(freedom * (total / np.where(variance > 0, variance, 1.0)) ** 2, 1e9)
            tail = special.stdtr(degrees, -np.abs(centre) / np.sqrt(total))
        return np.where(variance > 0, np.where(earlier >= 1, 1.0, 2.0 * tail), earlier)

    @cached_property
    def exact(self) -> Mask:
        """Which scores are known without error."""
        return np.asarray(self.before.exact & (np.diag(self.added.covariance) == 0))

    def _added_to(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        models = np.eye(self.sample.models)
        return self.added.of(models[first] - models[second])


def _widen_intervals(
    intervals: IntervalSet,
    centre: Floats,
    variance: Floats,
    freedom: Floats,
    level: float,
    scale: tuple[float, float] | None,
) -> IntervalSet:
    """Return intervals whose halves grow as independent errors add up, inside the scale."""
    quantile = np.array([student(level, degrees) for degrees in freedom])
    # Without variance there is nothing to add, whatever the quantile.
    half = np.where(variance > 0, quantile * np.sqrt(variance), 0.0)
    low = centre - np.sqrt((centre - intervals.low) ** 2 + half**2)
    high = centre + np.sqrt((intervals.high - centre) ** 2 + half**2)
    if scale is not None:
        low, high = np.maximum(low, scale[0]), np.minimum(high, scale[1])
    kinds = tuple(
        T if kind in (EXACT, PROPORTION) and more > 0 else kind
        for kind, more in zip(intervals.kinds, half, strict=True)
    )
    return replace(intervals, low=low, high=high, kinds=kinds)
