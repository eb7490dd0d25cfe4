"""``weighted_mean``: every judged item stands for as many as one over its chance to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sparingly.base.registry import parameter, register
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample


@register("weighted_mean")
@dataclass(frozen=True)
class WeightedMean(Estimator):
    """The mean of the judged items, weighted by one over their inclusion probabilities.

    μ̂_j = Σ_S y_ij/π_ij / Σ_S 1/π_ij (form ``hajek``), or N⁻¹ Σ_S y_ij/π_ij (form ``horvitz_thompson``). On a
    uniform sample both are the plain mean. With unequal chances the second is exactly unbiased but strays
    when all scores are shifted; the first does not, and its bias vanishes as 1/n.

    Use it for any sample with known probabilities when no metric helps.
    """

    reference: ClassVar[str] = "Horvitz and Thompson 1952; Hájek 1971"

    form: Literal["hajek", "horvitz_thompson"] = parameter("hajek", "what the weighted sum is divided by")

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the weighted mean with what every item is away from it."""
        return difference_form(sample, exact=self.form == "horvitz_thompson")
