"""Errors that grow by a source of variance beside the draw of items: raters, or epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.lazy import special
from sparingly.data.evalset import HOW, Combination, EvalSet
from sparingly.infer.estimate.intervals import EXACT, PROPORTION, IntervalSet, T, student
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample


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


# --- Noise between epochs, where outputs are repeated ---
# The score of a model is its mean over the items *and* over the epochs that could be run: μ_j = N⁻¹ Σ_i
# μ_ij, with μ_ij the expected score of an output. What is known of an item is the mean ȳ_ij over its R_ij
# epochs. The error of an estimate made of these parts,
#
#     μ̂_j − μ_j = (μ̂_j − N⁻¹ Σ_i ȳ_ij) + N⁻¹ Σ_i (ȳ_ij − μ_ij),
#
# is that of the draw of items, which the estimate has (0 where all are judged), and that of the epochs.
# Given the epochs the draw is unbiased, so the parts are uncorrelated and their variances add up:
#
#     V_j = V_draw,j + Σ_i ω_i² σ²_ij / R_ij,   ω_i = w_i / N,
#
# with σ²_ij the variance between the outputs of a cell, estimated by s²_ij = Σ_r (y_ijr − ȳ_ij)² / (R_ij −
# 1). A cell that was run once, or that was not judged, takes the mean of the model's s². Of inputs like
# these nothing is added: their variance between items already holds σ²/R (see ``data.describe.epochs``).
# Epochs of different models are independent.
#
# With V = Σ v_i over cells of several epochs, the degrees of freedom are f = V² / Σ v_i²/(R_i − 1) (Welch
# and Satterthwaite). Where outputs pass or fail, few cells may disagree: two more are counted in which one
# of R outputs differs, v = (reach·ω/R)². Without any disagreement between 2 epochs of N items, this is a
# half-width of 3.04/N, about that of the rule of three.


_UNSEEN = 2.0
NOISE = (
    "{share} of the variance of these scores is noise between epochs; sparingly plan says what would cut it."
)
ONLY_NOISE = "all items are judged: errors are noise between epochs."
ONE_EPOCH = (
    "outputs are repeated and {aspect} is known of one of each: the errors leave out noise between epochs."
)


@dataclass(frozen=True, eq=False)
class EpochNoise:
    """What noise between epochs adds to the variance of every model's score, and its degrees of freedom."""

    variance: Floats
    freedom: Floats

    @property
    def covariance(self) -> Floats:
        """All of it, models × models."""
        return np.diag(self.variance)

    def of(self, contrast: Floats) -> tuple[Floats, Floats]:
        """Return what is added to the variances of contrasts (rows × models), and its degrees of freedom."""
        total = contrast**2 @ self.variance
        spent = contrast**4 @ (self.variance**2 / self.freedom)
        return total, np.divide(total**2, spent, out=np.full(len(total), np.inf), where=spent > 0)


def epoch_noise(
    data: EvalSet, aspect: str, sample: JudgedSample, scale: tuple[float, float] | None
) -> EpochNoise | None:
    """Return what noise between epochs adds to the scores of a set; None where no score is repeated."""
    table, names = data.repeats, data.truth_fields(aspect)
    if not set(names) <= set(table.scores):
        return None
    parts = {name.partition(":")[2]: table.scores[name] for name in names}
    is_combined = aspect.partition(":")[0] in HOW
    values = Combination.parse(aspect).combine(parts) if is_combined else next(iter(parts.values()))
    scored = ~np.isnan(values)
    item, model, values = table.item[scored], table.model[scored], values[scored]
    squared_weight = (np.ones(len(data)) if sample.weights is None else sample.weights**2) / sample.size**2
    low, high = (float(values.min(initial=0)), float(values.max(initial=1))) if scale is None else scale
    reach = high - low if bool(np.isin(values, (low, high)).all()) else 0.0
    judged = np.zeros((len(data), len(data.models)), bool)
    judged[sample.rows] = sample.judged
    variance, freedom = np.zeros(len(data.models)), np.full(len(data.models), np.inf)
    for code in range(len(data.models)):
        cells, places, counts = np.unique(item[model == code], return_inverse=True, return_counts=True)
        if not (several := counts > 1).any():
            continue
        own, epochs = values[model == code], counts[several]
        means = np.bincount(places, own) / counts
        spread = np.bincount(places, (own - means[places]) ** 2)[several] / (epochs - 1)
        # Cells that were run once, and those that are not judged, have the mean spread of the others.
        others = np.where(judged[:, code], 1.0, (1.0 / epochs).mean()) * squared_weight
        others[cells[several]] = 0.0
        weight = squared_weight[cells[several]] / epochs + others.sum() / len(epochs)
        # A group is about its own cells.
        counted = squared_weight[cells[several]] > 0
        counted |= not counted.any()
        unseen = _UNSEEN * float((reach**2 * weight / epochs)[counted].mean())
        shares = weight * spread
        variance[code] = shares.sum() + unseen
        spent = (shares**2 / (epochs - 1)).sum() + unseen**2 / (_UNSEEN * (epochs - 1).mean())
        if spent > 0:
            freedom[code] = variance[code] ** 2 / spent
    return EpochNoise(variance, freedom)


def with_epoch_noise(estimate: Estimate, data: EvalSet) -> Estimate:
    """Return an estimate of this set whose errors hold the noise between epochs; any other as it is.

    ``data`` are the items that the estimate describes.
    """
    pairs = estimate.pairs
    if estimate.target != "set" or pairs is None or not len(data.repeats):
        return estimate
    noise = epoch_noise(data, estimate.aspect, pairs.sample, pairs.scale)
    if noise is None:
        return replace(estimate, notes=(*estimate.notes, ONE_EPOCH.format(aspect=estimate.aspect)))
    wider = widened(estimate, noise, ())
    known = np.isfinite(wider.standard_errors)
    total = float((wider.standard_errors[known] ** 2).sum())
    share = float(noise.variance[known].sum()) / total if total > 0 else 0.0
    note = ONLY_NOISE if pairs.complete else NOISE.format(share=f"{100 * share:.0f} %")
    return replace(
        wider,
        notes=(*estimate.notes, note) if share > 0 else estimate.notes,
        groups={name: with_epoch_noise(group, data) for name, group in estimate.groups.items()},
    )
