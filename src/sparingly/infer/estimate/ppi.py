"""``ppi``: prediction-powered inference, with one metric as the prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.small_sample import guarded, moments
from sparingly.infer.estimate.variates import known_metrics, metric_fields, metric_scores


@register("ppi")
@dataclass(frozen=True)
class Ppi(Estimator):
    """The mean of a metric over all items, corrected by what it misses on the judged ones (PPI++).

    μ̂_j = λ_j·N⁻¹ Σ_all f_ij + Σ_S (y_ij − λ_j·f_ij)/π_ij / Σ_S 1/π_ij with f the metric as it stands (on the
    scale of the scores), λ_j = Cov(y, f)/Var(f) over the judged and over all items, kept between 0 and
    1/(1 − n/N); ``power`` fixes it. Published PPI++ speaks of unjudged items as a second sample: its λ is
    (1 − n/N) times this one, and its interval is that of the target ``population``.

    Use it for an LLM judge that scores on people's own scale; ``greg`` is the same with a learned prediction.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Angelopoulos, Duchi and Zrnic 2023 (PPI++), section 6"

    metric: str | None = parameter(None, "the metric; the only one there is unless given")
    power: float | None = parameter(None, "the factor λ of the metric; tuned for each model unless given")
    guard: bool = parameter(True, "whether small samples shrink the tuned λ or fall back")

    def resolve(self, data: EvalSet) -> Self:
        """Settle which metric is meant."""
        known = data.metrics if self.metric is None else known_metrics(data)
        return replace(self, metric=the_only("metric", self.metric, known, f"Name one: {self.name}:metric=…"))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric, or the texts whose length it is."""
        return metric_fields(data, (self.resolve(data).metric or "",))

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the difference estimator with λ times the metric as prediction."""
        scores = metric_scores(data, self.resolve(data).metric or "")
        there = ~np.isnan(scores)
        # A model without any metric score is given 0 throughout, which predicts nothing.
        means = np.where(there, scores, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        filled = np.where(there, scores, means)
        if self.power is not None:
            return difference_form(sample, self.power * filled)
        tuned = self._tuned(sample, filled) * filled
        if not self.guard:
            return difference_form(sample, tuned, parameters=2.0)
        kept = guarded(sample, tuned)
        linear = difference_form(sample, kept.predicted, parameters=2.0)
        return replace(linear, fallen_back=kept.fallen_back, notes=kept.notes())

    def _tuned(self, sample: Sample, scores: Floats) -> Floats:
        """Return λ of every model."""
        counted = sample.share.sum(axis=0)
        covariance = moments(sample, scores)[0] / np.maximum(counted, 1e-300)
        variance = scores.var(axis=0, ddof=1)
        slope = np.divide(covariance, variance, out=np.zeros(sample.models), where=variance > 0)
        left = 1.0 - sample.judged.sum(axis=0) / sample.size
        most = np.divide(1.0, left, out=np.full(sample.models, np.inf), where=left > 0)
        return np.asarray(np.clip(slope, 0.0, most))
