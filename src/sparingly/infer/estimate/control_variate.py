"""``control_variate``: a mean that is moved back by how much the sample's metric scores are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.registry import parameter, register
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.base import Estimator
from sparingly.infer.estimate.folds import Split, splits_of
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.neighbours import neighbour_predictions
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.small_sample import guarded
from sparingly.infer.estimate.variates import (
    checked_metrics,
    known_metrics,
    metric_fields,
    standardised,
    variates_of,
)


@register("control_variate")
@dataclass(frozen=True)
class ControlVariate(Estimator):
    """The weighted mean, moved back by how far the sample's metric scores are from those of all items.

    μ̂ = X̄_n − Cov(X, Z)·Z̄_n with Z a metric standardised on the whole set, the mean of several, or a kNN
    prediction from them (eq. 3), or μ̂ = X̄_n − (E ZZᵀ)⁻¹E(XZ)ᵀ·Z̄_n with several at once (eq. 4). Cov(X, Z) is
    n⁻¹ΣX_iZ_i (``published``) or centred on the sample (footnote 1: shifting all scores shifts the estimate
    alike). ``crossfit`` takes every item's slope from the other folds, which removes the bias;
    ``covariance=published,crossfit=false,guard=false`` is the paper's own.

    Use it when one metric follows people well and models are few; ``greg`` learns from all at once.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Saldías et al. 2022, eq. 3 and 4; Chaganty et al. 2018"

    metric: str | None = parameter(None, "the metric; the only one there is unless given")
    variate: Literal["one", "mean", "several", "knn"] = parameter("one", "what is made of the metrics")
    metrics: tuple[str, ...] = parameter((), "with mean, several and knn: the metrics; all unless given")
    covariance: Literal["centred", "published"] = parameter("centred", "how Cov(X, Z) is estimated")
    crossfit: bool = parameter(True, "whether slopes come from the other folds")
    folds: int = parameter(5, "the number of folds", minimum=2)
    neighbours: int = parameter(25, "the number of neighbours of kNN", minimum=1)
    guard: bool = parameter(True, "whether small samples shrink the slope or fall back")

    def resolve(self, data: EvalSet) -> Self:
        """Settle which metrics are meant."""
        if self.variate != "one":
            return replace(self, metrics=checked_metrics(data, self.metrics))
        if self.metric is None:
            how = f"Name one: {self.name}:metric=…, or take them together: {self.name}:variate=several."
            return replace(self, metric=the_only("metric", None, data.metrics, how))
        return replace(self, metric=the_only("metric", self.metric, known_metrics(data), ""))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics, or the texts whose length they are."""
        return metric_fields(data, self._names(data))

    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the difference estimator with the slope times the variate as prediction."""
        variates = variates_of(data, self._names(data))
        splits = splits_of(sample, data.keys, self.folds if self.crossfit else 1, seed)
        if self.variate == "mean":
            variates = standardised(variates.mean(axis=0))[None]
        if self.variate == "knn":
            told = neighbour_predictions(sample, variates, splits, self.neighbours)
            # The prediction is cross-fitted; one slope for it costs next to nothing.
            variates, splits = standardised(told)[None], splits_of(sample, data.keys, 1, seed)
        return self.moved(sample, variates, splits)

    def moved(
        self, sample: Sample, variates: Floats, splits: Sequence[Split], inverse: Floats | None = None
    ) -> Linear:
        """Return the estimator with variates that are made: standardised, variates × items × models.

        ``inverse`` is that of their products (see ``inverse_products``), for whoever has it from before.
        """
        predicted = self._fit(sample, variates, splits, inverse)
        parameters = 1.0 + (len(variates) if len(splits) == 1 else 0)
        if not self.guard:
            return difference_form(sample, predicted, parameters=parameters)
        kept = guarded(sample, predicted)
        linear = difference_form(sample, kept.predicted, parameters=parameters)
        return replace(linear, fallen_back=kept.fallen_back, notes=kept.notes())

    def _names(self, data: EvalSet) -> tuple[str, ...]:
        settled = self.resolve(data)
        return (settled.metric or "",) if self.variate == "one" else settled.metrics

    def _fit(
        self, sample: Sample, variates: Floats, splits: Sequence[Split], inverse: Floats | None
    ) -> Floats:
        """Return slope × variate for every item; judged ones by the slope of the other folds."""
        inverse = inverse_products(variates) if inverse is None else inverse
        slopes = [self._slopes(sample, variates, split.learn, inverse) for split in splits]
        predicted = np.einsum("kj,kij->ij", np.mean(slopes, axis=0), variates)
        for slope, split in zip(slopes, splits, strict=True):
            rows = sample.rows[split.use]
            predicted[rows] = np.einsum("kj,kij->ij", slope, variates[:, rows])
        return np.asarray(predicted)

    def _slopes(self, sample: Sample, variates: Floats, learn: Mask, inverse: Floats) -> Floats:
        """Return the slopes (variates × models) that some of the judged rows give."""
        weight = np.where(learn[:, None], sample.share, 0.0)
        total = np.maximum(weight.sum(axis=0), 1e-300)
        score = sample.values
        if self.covariance == "centred":
            score = score - (weight * score).sum(axis=0) / total
        joint = np.einsum("ij,kij->kj", weight * score, variates[:, sample.rows]) / total
        return np.asarray(np.einsum("jkl,lj->kj", inverse, joint))


def inverse_products(variates: Floats) -> Floats:
    """Return (E ZZᵀ)⁻¹ of each model's standardised variates over all items, models × variates × variates."""
    if len(variates) == 1:
        # A single one has variance 1.
        return np.ones((variates.shape[2], 1, 1))
    by_model = variates.transpose(2, 0, 1)
    squared = by_model @ by_model.transpose(0, 2, 1) / variates.shape[1]
    # Metrics that say the same make the matrix singular: the shortest of the equal slopes is taken.
    return np.asarray(np.linalg.pinv(squared, rcond=1e-9, hermitian=True))
