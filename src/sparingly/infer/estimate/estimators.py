"""The estimators: each turns a sample into scores of the whole set, in linear form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import Method, method_class, method_from_call, parameter, register
from sparingly.base.text import parse_call
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.predictions import (
    FEWEST,
    Split,
    calibrate_predictions,
    check_metrics,
    fall_back,
    fold_groups,
    guard_predictions,
    known_metrics,
    labels_and_weights,
    metric_fields,
    metric_scores,
    moments,
    neighbour_predictions,
    splits_of,
    standardise,
    variates_of,
)
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, as_codes, difference_form, group_sums

UNEQUAL = "the items were not equally likely to be drawn, so their plain mean is not that of the whole set."
EMPTY = "{} strata have no drawn item, so the stratified mean is the weighted mean."
NO_STRATA = "the sample was not drawn in strata, so the stratified mean is the weighted mean."
UNCOUNTED = "how much was fitted to the judged items is not known, so errors may be too small: cross-fit."


@dataclass(frozen=True)
class Estimator(Method, ABC):
    """Turns the judged items into scores of the whole set."""

    kind: ClassVar[str] = "estimator"

    def resolve(self, data: EvalSet) -> Self:
        """Return the estimator with the choices made that depend on the data; raise if data are missing."""
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the estimator reads beside the judgements."""
        return frozenset()

    @abstractmethod
    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the scores as a fixed part and weighted residuals."""


def as_estimator(method: str | Method) -> Estimator:
    """Return an estimator from its text."""
    if isinstance(method, str):
        call = parse_call(method)
        # A method of another kind is known, but is no estimator: say that rather than that there is none.
        parsed: Method = method_from_call(call, (method_class(call.name).kind,))
    else:
        parsed = method
    if isinstance(parsed, Estimator):
        return parsed
    raise UsageError(f"The {parsed.kind} {parsed.name} does not estimate scores. See: sparingly methods.")


@register("mean")
@dataclass(frozen=True)
class Mean(Estimator):
    """The mean of the judged items, each counting the same.

    μ̂_j = n_j⁻¹ Σ_S y_ij over the items on which the model was judged (by importance where items have it).

    Use it on uniform samples, where it is unbiased. With unequal probabilities it is the mean of the
    sampled items and no more, and the estimate says so: take ``weighted_mean``.
    """

    reference: ClassVar[str] = "the baseline of Saldías et al. 2022, section 2"

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the mean with every item's deviation from it."""
        counts = np.where(sample.judged, sample.importance[:, None], 0.0)
        total = counts.sum(axis=0)
        means = np.divide(
            (counts * sample.values).sum(axis=0), total, out=np.full(sample.models, np.nan), where=total > 0
        )
        deviation = np.where(sample.judged, sample.values - np.nan_to_num(means), 0.0)
        # The linear form divides by the probability: then every judgement counts N/n.
        residual = deviation * counts * sample.probability * sample.size / np.where(total > 0, total, 1.0)
        probability = sample.probability[sample.judged]
        unequal = probability.size and np.ptp(probability) > 1e-9
        return LinearForm(means, residual, notes=(UNEQUAL,) if unequal else ())


@register("weighted_mean")
@dataclass(frozen=True)
class WeightedMean(Estimator):
    """The mean of the judged items, weighted by one over their inclusion probabilities.

    μ̂_j = Σ_S y_ij/π_ij / Σ_S 1/π_ij (form ``hajek``), or N⁻¹ Σ_S y_ij/π_ij (form ``horvitz_thompson``). On a
    uniform sample both are the plain mean. With unequal probabilities the second is exactly unbiased but
    changes when all scores are shifted; the first does not, and its bias vanishes as 1/n.

    Use it for any sample with known probabilities when no metric helps.
    """

    reference: ClassVar[str] = "Horvitz and Thompson 1952; Hájek 1971"

    form: Literal["hajek", "horvitz_thompson"] = parameter("hajek", "what the weighted sum is divided by")

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the weighted mean with every item's deviation from it."""
        return difference_form(sample, exact=self.form == "horvitz_thompson")


@register("stratified_mean")
@dataclass(frozen=True)
class StratifiedMean(Estimator):
    """The means of the strata, weighted by the number of items in each.

    μ̂_j = Σ_l (N_l/N)·μ̂_lj with μ̂_lj the mean of the judged items of stratum l. The strata are those of the
    draw, or the groups of a column (``by``) for a sample that was drawn without them. Where a stratum of the
    draw has no item, as small ones often have, it is the weighted mean; a stratum without a judgement of some
    model takes the mean of the others. The estimate says so.

    Use it for samples drawn in strata; ``by`` pays when the groups' scores differ.
    """

    reference: ClassVar[str] = "Saldías et al. 2022, eq. 1"

    by: str | None = parameter(None, "a column whose groups are the strata; default: those of the draw")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the column of the strata."""
        return frozenset() if self.by is None else frozenset({fields.column(self.by)})

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the stratified mean with every item's deviation from it."""
        codes = sample.stratum_of
        if self.by is not None:
            if self.by not in data.columns:
                raise UnknownNameError("column", self.by, data.columns, "It is the column of the strata.")
            codes = as_codes(data.columns[self.by], len(data), "strata")
        if codes is None:
            plain = difference_form(sample)
            return plain if sample.stratum.any() else replace(plain, notes=(NO_STRATA,))
        empty = len(np.setdiff1d(np.unique(codes), np.unique(codes[sample.rows])))
        if self.by is None and empty:
            # Small strata are more often empty, so the mean of the others would be biased for them; weights
            # by every item's own probability are not.
            return replace(difference_form(sample), notes=(EMPTY.format(empty),))
        means, represented, notes = _stratum_means(sample, codes)
        if self.by is not None:
            parameters = float(len(np.unique(codes[sample.rows])))
            return replace(difference_form(sample, means[codes], parameters=parameters), notes=notes)
        # Errors of the draw's own strata are within them; strata with a single item are joined.
        scores = np.where(sample.judged.any(axis=0), sample.whole_mean(means[codes]), np.nan)
        deviation = np.where(sample.judged, sample.values - scores, 0.0)
        residual = deviation * represented[codes[sample.rows]] * sample.share * sample.probability
        fixed = scores - (residual / sample.probability).sum(axis=0) / sample.size
        return LinearForm(fixed, residual, notes=notes)


def _stratum_means(sample: JudgedSample, codes: Ints) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return the means of strata × models, how much of a stratum an item's share represents, and notes."""
    sample_codes, count = codes[sample.rows], int(codes.max()) + 1
    weight = _padded(group_sums(sample.share, sample_codes), count)
    total = _padded(group_sums(sample.share * sample.values, sample_codes), count)
    overall = total.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    means = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), overall)
    sizes = np.bincount(codes, sample.weights, minlength=count).astype(np.float64)
    represented = np.divide(sizes[:, None], weight, out=np.zeros_like(weight), where=weight > 0)
    # All others represent a stratum that takes their mean.
    unseen = np.where(weight > 0, 0.0, sizes[:, None]).sum(axis=0)
    represented = np.where(weight > 0, represented + unseen / np.maximum(weight.sum(axis=0), 1e-300), 0.0)
    # A model that nobody judged has no score.
    incomplete = int((((weight == 0) & (weight.sum(axis=0) > 0)).any(axis=1) & (sizes > 0)).sum())
    note = f"{incomplete} of {count} strata lack judgements of some model and take the mean of the others."
    return means, represented, (note,) if incomplete else ()


def _padded(values: Floats, count: int) -> Floats:
    return np.concatenate([values, np.zeros((count - len(values), values.shape[1]))])


@register("control_variate")
@dataclass(frozen=True)
class ControlVariate(Estimator):
    """The weighted mean, corrected by how far the sample's metric scores are from those of all items.

    μ̂ = X̄_n − Cov(X, Z)·Z̄_n with Z a metric standardised on the whole set, the mean of several, or a kNN
    prediction from them (eq. 3), or μ̂ = X̄_n − (E ZZᵀ)⁻¹E(XZ)ᵀ·Z̄_n with several at once (eq. 4). Cov(X, Z) is
    n⁻¹ΣX_iZ_i (``published``) or centred on the sample (footnote 1: shifting all scores shifts the estimate
    alike). ``crossfit`` takes every item's slope from the other folds, which removes the bias;
    ``covariance=published,crossfit=false,guard=false`` is the paper's own.

    Use it when one metric agrees with people and models are few; ``greg`` learns from all at once.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Saldías et al. 2022, eq. 3 and 4; Chaganty et al. 2018"

    metric: str | None = parameter(None, "the metric; default: the only one there is")
    variate: Literal["one", "mean", "several", "knn"] = parameter("one", "what is made of the metrics")
    metrics: tuple[str, ...] = parameter((), "with mean, several and knn: the metrics; default: all")
    covariance: Literal["centred", "published"] = parameter("centred", "how Cov(X, Z) is estimated")
    crossfit: bool = parameter(True, "whether slopes come from the other folds")
    folds: int = parameter(5, "the number of folds", minimum=2)
    neighbours: int = parameter(25, "the number of neighbours of kNN", minimum=1)
    guard: bool = parameter(True, "whether small samples shrink the slope or fall back")

    def resolve(self, data: EvalSet) -> Self:
        """Return the estimator with its metrics named."""
        if self.variate != "one":
            return replace(self, metrics=check_metrics(data, self.metrics))
        if self.metric is None:
            how = f"Name one: {self.name}:metric=…, or take them together: {self.name}:variate=several."
            return replace(self, metric=the_only("metric", None, data.metrics, how))
        return replace(self, metric=the_only("metric", self.metric, known_metrics(data), ""))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics, or the texts whose length they are."""
        return metric_fields(data, self._names(data))

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the difference estimator with the slope times the variate as prediction."""
        variates = variates_of(data, self._names(data))
        splits = splits_of(sample, data.keys, self.folds if self.crossfit else 1, seed)
        if self.variate == "mean":
            variates = standardise(variates.mean(axis=0))[None]
        if self.variate == "knn":
            predictions = neighbour_predictions(sample, variates, splits, self.neighbours)
            # The prediction is cross-fitted; one slope for it costs next to nothing.
            variates, splits = standardise(predictions)[None], splits_of(sample, data.keys, 1, seed)
        return self.with_variates(sample, variates, splits)

    def with_variates(
        self, sample: JudgedSample, variates: Floats, splits: Sequence[Split], inverse: Floats | None = None
    ) -> LinearForm:
        """Return the estimate with given variates: standardised, variates × items × models.

        ``inverse`` is ``inverse_products`` of them, if it is known already.
        """
        # Slope × variate for every item; judged ones by the slope of the other folds.
        inverse = inverse_products(variates) if inverse is None else inverse
        slopes = [self._slopes(sample, variates, split.learn, inverse) for split in splits]
        predicted = np.einsum("kj,kij->ij", np.mean(slopes, axis=0), variates)
        for slope, split in zip(slopes, splits, strict=True):
            rows = sample.rows[split.use]
            predicted[rows] = np.einsum("kj,kij->ij", slope, variates[:, rows])
        parameters = 1.0 + (len(variates) if len(splits) == 1 else 0)
        if not self.guard:
            return difference_form(sample, predicted, parameters=parameters)
        return guard_predictions(sample, predicted).linear(sample, parameters)

    def _names(self, data: EvalSet) -> tuple[str, ...]:
        resolved = self.resolve(data)
        return (resolved.metric or "",) if self.variate == "one" else resolved.metrics

    def _slopes(self, sample: JudgedSample, variates: Floats, learn: Mask, inverse: Floats) -> Floats:
        """Return the slopes (variates × models), learned from some of the judged rows."""
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
        # A single standardised variate has variance 1.
        return np.ones((variates.shape[2], 1, 1))
    by_model = variates.transpose(2, 0, 1)
    squared = by_model @ by_model.transpose(0, 2, 1) / variates.shape[1]
    # Collinear metrics make the matrix singular: the pseudo-inverse gives the shortest slopes.
    return np.asarray(np.linalg.pinv(squared, rcond=1e-9, hermitian=True))


@register("greg")
@dataclass(frozen=True)
class Greg(Estimator):
    """The mean of learned predictions over all items, corrected by their errors on the judged ones.

    μ̂_j = N⁻¹ Σ_all f̂_ij + Σ_S (y_ij − f̂_ij)/π_ij / Σ_S 1/π_ij, f̂ learned from all metrics, their means over
    the models and the lengths of the texts, over the judged cells of all models with weights 1/π. With
    ``crossfit`` a judged item is predicted from the other folds (of documents where these were drawn), an
    unjudged one by the mean of the fold models: so residuals are unbiased. ``guard`` gives predictions two
    slopes (what is hard for all models, and what sets them apart), shrinks both, and falls back to the
    weighted mean below 30 units or where predictions explain nothing.

    Use it wherever there are metrics: it is hardly ever worse than the weighted mean, and much better where
    they agree with people. PPI++ is the same with one prediction that is not learned.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Särndal, Swensson and Wretman 1992, chapter 6; Breidt and Opsomer 2017"

    regressor: str = parameter("ridge", "what learns the predictions: ridge, boosting, knn …")
    crossfit: bool = parameter(True, "whether judged items are predicted from the other folds")
    folds: int = parameter(5, "the number of folds", minimum=2)
    guard: bool = parameter(True, "whether small samples shrink the slopes or fall back")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read all metrics, and the texts for their lengths."""
        return metric_fields(data, check_metrics(data, ()))

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the difference estimator with the learned predictions."""
        if sample.is_complete:
            return difference_form(sample)
        if self.guard and sample.fewest_units < FEWEST:
            return fall_back(sample)
        from sparingly.signals.predict import predict_scores

        labels, weights = labels_and_weights(sample, sample.scores)
        predictions = predict_scores(
            data,
            labels,
            weights=weights,
            regressor=self.regressor,
            folds=self.folds,
            groups=fold_groups(sample),
            crossfit=self.crossfit,
            seed=seed,
        )
        predicted = predictions.held_out if self.crossfit else predictions.everywhere
        # The mean is among the numbers that the regression fitted.
        parameters = 1.0 if self.crossfit else max(1.0, predictions.parameters or 1.0)
        notes = (UNCOUNTED,) if not self.crossfit and predictions.parameters is None else ()
        if not self.guard:
            return replace(difference_form(sample, predicted, parameters=parameters), notes=notes)
        linear = calibrate_predictions(sample, predicted).linear(sample, parameters + 1.0)
        return replace(linear, notes=(*linear.notes, *notes))


@register("ppi")
@dataclass(frozen=True)
class Ppi(Estimator):
    """The mean of a metric over all items, corrected by its errors on the judged ones (PPI++).

    μ̂_j = λ_j·N⁻¹ Σ_all f_ij + Σ_S (y_ij − λ_j·f_ij)/π_ij / Σ_S 1/π_ij with f the metric as it stands (on the
    scale of the scores), λ_j = Cov(y, f)/Var(f) over the judged and over all items, kept between 0 and
    1/(1 − n/N); ``power`` fixes it. Published PPI++ treats unjudged items as a second sample: its λ is
    (1 − n/N) times this one, and its interval is that of the target ``population``.

    Use it for an LLM judge that scores on people's own scale; ``greg`` is the same with a learned prediction.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Angelopoulos, Duchi and Zrnic 2023 (PPI++), section 6"

    metric: str | None = parameter(None, "the metric; default: the only one there is")
    power: float | None = parameter(None, "the factor λ of the metric; default: tuned for each model")
    guard: bool = parameter(True, "whether small samples shrink the tuned λ or fall back")

    def resolve(self, data: EvalSet) -> Self:
        """Return the estimator with its metric named."""
        metrics = data.metrics if self.metric is None else known_metrics(data)
        return replace(
            self, metric=the_only("metric", self.metric, metrics, f"Name one: {self.name}:metric=…")
        )

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric, or the texts whose length it is."""
        return metric_fields(data, (self.resolve(data).metric or "",))

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the difference estimator with λ times the metric as prediction."""
        scores = metric_scores(data, self.resolve(data).metric or "")
        scored = ~np.isnan(scores)
        # A model without any metric score gets 0 everywhere, which predicts nothing.
        means = np.where(scored, scores, 0.0).sum(axis=0) / np.maximum(scored.sum(axis=0), 1)
        predictions = np.where(scored, scores, means)
        if self.power is not None:
            return difference_form(sample, self.power * predictions)
        covariance = moments(sample, predictions)[0] / np.maximum(sample.share.sum(axis=0), 1e-300)
        variance = predictions.var(axis=0, ddof=1)
        slope = np.divide(covariance, variance, out=np.zeros(sample.models), where=variance > 0)
        unjudged = 1.0 - sample.judged.sum(axis=0) / sample.size
        largest = np.divide(1.0, unjudged, out=np.full(sample.models, np.inf), where=unjudged > 0)
        tuned = np.clip(slope, 0.0, largest) * predictions
        if not self.guard:
            return difference_form(sample, tuned, parameters=2.0)
        return guard_predictions(sample, tuned).linear(sample, 2.0)
