"""The linear form in which every estimator writes its scores, and from which their errors follow.

μ̂_j = fixed_j + N⁻¹ Σ_S residual_ij / π_ij. What is fixed is known without error once the sample is given a
prediction; only the residuals are left to chance, so variances, covariances, bootstraps, differences and
parts of the set are all computed from them, whatever the estimator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.infer.estimate.sample import Sample

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores as a fixed part and weighted residuals.

    Attributes:
        fixed: The part of each model's score that is not left to chance.
        residual: judged items × models, importance included, 0 where not judged.
        predicted: N × models: what was predicted for every item; None where nothing was.
        parameters: How many numbers were fitted to the very items that they are used on, the mean included.
        fallen_back: Which models fell back to the weighted mean.
        notes: What to mind.
    """

    fixed: Floats
    residual: Floats
    predicted: Floats | None = None
    parameters: float = 1.0
    fallen_back: Mask | None = None
    notes: tuple[str, ...] = ()

    def scores(self, sample: Sample) -> Floats:
        """Return the models' scores."""
        return np.asarray(self.fixed + (self.residual / sample.probability).sum(axis=0) / sample.size)

    def of_model(self, model: int, kept: Mask) -> Linear:
        """Return the form of one model over some of the rows."""
        column = slice(model, model + 1)
        return replace(
            self,
            fixed=self.fixed[column],
            residual=self.residual[kept, column],
            predicted=None if self.predicted is None else self.predicted[:, column],
            fallen_back=None if self.fallen_back is None else self.fallen_back[column],
        )


def difference_form(
    sample: Sample, predicted: Floats | None = None, *, parameters: float = 1.0, exact: bool = False
) -> Linear:
    """Return the difference estimator: the mean prediction plus the weighted mean of what it missed.

    μ̂_j = N⁻¹ Σ_all w_i f_ij + Σ_S (w_i/π_ij)(y_ij − f_ij) / Σ_S w_i/π_ij (Hájek's form; with a uniform draw
    it is the generalised difference estimator of Särndal, Swensson and Wretman 1992, eq. 6.3.3). Without
    predictions it is the weighted mean. ``exact`` divides by N instead of the estimated number of items: that
    is free of any bias, but moves when all scores are shifted. A model without judgements has the score NaN.
    """
    ahead = np.zeros_like(sample.scores) if predicted is None else predicted[sample.rows]
    missed = np.where(sample.judged, sample.values - ahead, 0.0)
    known = np.zeros(sample.models) if predicted is None else sample.whole_mean(predicted)
    counted = sample.share.sum(axis=0)
    unjudged = np.where(counted > 0, 0.0, np.nan)
    weighed = missed * sample.importance[:, None]
    if exact:
        return Linear(known + unjudged, weighed, predicted, parameters)
    seen = np.where(counted > 0, counted, 1.0)
    mean = (sample.share * missed).sum(axis=0) / seen
    left = np.where(sample.judged, weighed - mean * sample.importance[:, None], 0.0)
    # What is left of equal scores after subtracting their mean is rounding, and no error to learn from.
    left = np.where(np.abs(left) <= _ROUNDING * np.abs(missed).max(axis=0, initial=0.0), 0.0, left)
    return Linear(known + mean + unjudged, left * (sample.size / seen), predicted, parameters)


def part_of(sample: Sample, linear: Linear, inside: Mask) -> tuple[Sample, Linear]:
    """Return the estimate of a part of the set (a domain), with the whole draw behind it.

    μ̂_D = N_D⁻¹ Σ_D f + Σ_{S∩D} (y − f)/π / Σ_{S∩D} 1/π. The residuals of the other items are 0 but they
    count as drawn: how many items of the part were drawn is left to chance, too.
    """
    size = float(inside.sum()) if sample.weights is None else float(sample.weights[inside].sum())
    weights = np.ones(sample.size) if sample.weights is None else sample.weights
    within = replace(sample, weights=np.where(inside, weights, 0.0) * sample.size / size)
    return within, replace(
        difference_form(within, linear.predicted, parameters=linear.parameters),
        fallen_back=linear.fallen_back,
        notes=linear.notes,
    )
