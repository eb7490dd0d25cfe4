"""What noise between epochs adds to the errors of this set, where outputs are repeated.

The score of a model is its mean over the items *and* over the epochs that could be run: μ_j = N⁻¹ Σ_i μ_ij,
with μ_ij the expected score of an output. What is known of an item is the mean ȳ_ij over its R_ij epochs.
The error of an estimate made of these parts,

    μ̂_j − μ_j = (μ̂_j − N⁻¹ Σ_i ȳ_ij) + N⁻¹ Σ_i (ȳ_ij − μ_ij),

is that of the draw of items, which the estimate has (0 where all are judged), and that of the epochs. Given
the epochs the draw is unbiased, so the parts are uncorrelated and their variances add up:

    V_j = V_draw,j + Σ_i ω_i² σ²_ij / R_ij,   ω_i = w_i / N,

with σ²_ij the variance between the outputs of a cell, estimated by s²_ij = Σ_r (y_ijr − ȳ_ij)² / (R_ij − 1).
A cell that was run once, or that was not judged, takes the mean of the model's s². Of inputs like these
nothing is added: their variance between items already holds σ²/R (see ``data.describe.epochs``). Epochs of
different models are independent.

With V = Σ v_i over cells of several epochs, the degrees of freedom are f = V² / Σ v_i²/(R_i − 1) (Welch and
Satterthwaite). Where outputs pass or fail, few cells may disagree: two more are counted in which one of R
outputs differs, v = (reach·ω/R)². Without any disagreement between 2 epochs of N items, this is a half-width
of 3.04/N, about that of the rule of three.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.combine import HOW, Combination
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample
from sparingly.infer.estimate.widen import widened

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
