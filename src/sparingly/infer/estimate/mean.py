"""``mean``: the plain mean of the judged items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.registry import register
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Sample

UNEQUAL = "the items were not equally likely to be drawn, so their plain mean is not that of the whole set."


@register("mean")
@dataclass(frozen=True)
class Mean(Estimator):
    """The mean of the judged items, each counting the same.

    μ̂_j = n_j⁻¹ Σ_S y_ij over the items on which the model was judged (by importance where items have it).

    Use it on uniform samples, where it is unbiased. Where items had unequal chances it is the mean of the
    items that were drawn and no more, and the estimate says so: take ``weighted_mean``.
    """

    reference: ClassVar[str] = "the baseline of Saldías et al. 2022, section 2"

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the mean with what every item is away from it."""
        counts = np.where(sample.judged, sample.importance[:, None], 0.0)
        total = counts.sum(axis=0)
        means = np.divide(
            (counts * sample.values).sum(axis=0), total, out=np.full(sample.models, np.nan), where=total > 0
        )
        away = np.where(sample.judged, sample.values - np.nan_to_num(means), 0.0)
        # Divided by the chance in the linear form, every judgement counts N/n.
        residual = away * counts * sample.probability * sample.size / np.where(total > 0, total, 1.0)
        chances = sample.probability[sample.judged]
        unequal = chances.size and np.ptp(chances) > 1e-9
        return Linear(means, residual, notes=(UNEQUAL,) if unequal else ())
