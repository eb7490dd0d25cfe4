"""``greg``: predictions learned from all metrics and all models at once, corrected by the judged items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparingly.base.registry import parameter, register
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.folds import together
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.small_sample import FEWEST, calibrated, too_few
from sparingly.infer.estimate.variates import checked_metrics, metric_fields

if TYPE_CHECKING:
    from sparingly.signals.predict import Predictions

UNCOUNTED = "how much was fitted to the judged items is not known, so errors may be too small: cross-fit."


@register("greg")
@dataclass(frozen=True)
class Greg(Estimator):
    """The mean of learned predictions over all items, corrected by what they miss on the judged ones.

    μ̂_j = N⁻¹ Σ_all f̂_ij + Σ_S (y_ij − f̂_ij)/π_ij / Σ_S 1/π_ij, f̂ learned from all metrics, their means over
    the models and the lengths of the texts, over the judged cells of all models with weights 1/π. With
    ``crossfit`` a judged item is predicted from the other folds (of documents where these were drawn), an
    unjudged one by the mean of the fold models: then residuals are honest. ``guard`` gives predictions two
    slopes (what is hard for all models, and what sets them apart), shrinks both, and falls back to the
    weighted mean below 30 units or where predictions tell nothing.

    Use it wherever there are metrics: it is hardly ever worse than the weighted mean, and much better where
    they follow people. PPI++ is the same with one prediction that is not learned.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Särndal, Swensson and Wretman 1992, chapter 6; Breidt and Opsomer 2017"

    regressor: str = parameter("ridge", "what learns the predictions: ridge, boosting, knn …")
    crossfit: bool = parameter(True, "whether judged items are predicted from the other folds")
    folds: int = parameter(5, "the number of folds", minimum=2)
    guard: bool = parameter(True, "whether small samples shrink the slopes or fall back")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read all metrics, and the texts for their lengths."""
        return metric_fields(data, checked_metrics(data, ()))

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the difference estimator with the learned predictions."""
        if sample.is_whole:
            return difference_form(sample)
        if self.guard and sample.fewest_units < FEWEST:
            return too_few(sample)
        told = self._predicted(sample, data, seed)
        predicted = told.held_out if self.crossfit else told.everywhere
        # The mean is among the numbers that the regression fitted.
        fitted = 1.0 if self.crossfit else max(1.0, told.parameters or 1.0)
        notes = (UNCOUNTED,) if not self.crossfit and told.parameters is None else ()
        if not self.guard:
            return replace(difference_form(sample, predicted, parameters=fitted), notes=notes)
        kept = calibrated(sample, predicted)
        linear = difference_form(sample, kept.predicted, parameters=fitted + 1.0)
        return replace(linear, fallen_back=kept.fallen_back, notes=(*kept.notes(), *notes))

    def _predicted(self, sample: Sample, data: EvalSet, seed: int) -> Predictions:
        from sparingly.signals.predict import predict_scores

        labels = np.full((sample.size, sample.models), np.nan)
        weights = np.ones(labels.shape)
        labels[sample.rows] = sample.scores
        weights[sample.rows] = 1.0 / sample.probability
        return predict_scores(
            data,
            labels,
            weights=weights,
            regressor=self.regressor,
            folds=self.folds,
            groups=together(sample),
            crossfit=self.crossfit,
            seed=seed,
        )
