"""The estimators: each turns a sample into scores of the whole set, in linear form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.lazy import spatial
from sparingly.base.registry import Method, method_class, method_from_call, parameter, register
from sparingly.base.syntax import argument
from sparingly.base.text import parse_call
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, as_codes, difference_form, group_sums
from sparingly.signals.length import LENGTHS, length_metric

# --- metrics as variates ---


def known_metrics(data: EvalSet) -> tuple[str, ...]:
    """Return the metrics of the set, and the lengths of its texts."""
    lengths = [name for name, text in LENGTHS.items() if text in data.fields and name not in data.metrics]
    return (*data.metrics, *lengths)


def check_metrics(data: EvalSet, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, or all metrics if there are none; raise UnknownNameError for an unknown one."""
    available = known_metrics(data)
    if not available:
        raise MissingDataError(
            "The evaluation set has no metrics, and no texts whose length could be one: use "
            f"{argument('estimator', 'weighted_mean')}."
        )
    metrics = tuple(names) or available
    for name in metrics:
        if name not in available:
            raise UnknownNameError("metric", name, available)
    return metrics


def metric_fields(data: EvalSet, names: Iterable[str]) -> frozenset[str]:
    """Return the fields that metrics are read from."""
    return frozenset(fields.metric(name) if name in data.metrics else LENGTHS[name] for name in names)


def metric_scores(data: EvalSet, name: str) -> Floats:
    """Return a metric's scores, items × models."""
    return data.metrics[name] if name in data.metrics else length_metric(data, name)


def standardise(scores: Floats) -> Floats:
    """Return scores with mean 0 and variance 1 for each model over the whole set; missing ones are 0."""
    scored = ~np.isnan(scores)
    count = np.maximum(scored.sum(axis=0), 1)
    mean = np.where(scored, scores, 0.0).sum(axis=0) / count
    deviation = np.where(scored, scores - mean, 0.0)
    spread = np.sqrt((deviation**2).sum(axis=0) / count)
    varies = spread > 1e-12 * (1.0 + np.abs(mean))
    return np.asarray(np.divide(deviation, spread, out=np.zeros_like(deviation), where=varies))


def variates_of(data: EvalSet, names: Iterable[str]) -> Floats:
    """Return standardised metrics as metrics × items × models."""
    return np.stack([standardise(metric_scores(data, name)) for name in names])


# --- folds ---


class Split(NamedTuple):
    """Which of the judged rows to learn from, and which to use it on."""

    learn: Mask
    use: Mask


def splits_of(sample: JudgedSample, keys: rng.Keys, folds: int, seed: int) -> list[Split]:
    """Return the splits of the judged rows into folds; with one fold all rows learn and are used.

    Folds are of drawn units (items, or documents where documents or a pool of them were drawn), equal in
    size, and depend on a hash of the seed and the ids. ``keys`` are those of all items.
    """
    first = np.unique(sample.cluster, return_index=True)[1]
    count = min(folds, len(first))
    if count < 2:
        all_rows = np.ones(len(sample.rows), bool)
        return [Split(all_rows, all_rows)]
    unit_keys = keys[sample.rows[first]]
    order = np.lexsort((unit_keys, rng.uniforms(unit_keys, seed, "folds")))
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(first)) % count
    of_row = fold[sample.cluster]
    return [Split(of_row != code, of_row == code) for code in range(count)]


def fold_groups(sample: JudgedSample) -> Ints | None:
    """Return the units of the draw or of the pool, which must stay in one fold: a code for every item.

    None where every judged item is a unit by itself.
    """
    if len(np.unique(sample.cluster)) == len(sample.rows):
        return None
    groups = np.arange(sample.size) + int(sample.cluster.max()) + 1
    groups[sample.rows] = sample.cluster
    return groups


def labels_and_weights(sample: JudgedSample, values: Floats) -> tuple[Floats, Floats]:
    """Return values of the judged outputs as items × models (NaN elsewhere), and the weights 1/π."""
    labels, weights = np.full((sample.size, sample.models), np.nan), np.ones((sample.size, sample.models))
    labels[sample.rows] = np.where(sample.judged, values, np.nan)
    weights[sample.rows] = 1.0 / sample.probability
    return labels, weights


# --- kNN ---


def neighbour_predictions(
    sample: JudgedSample, variates: Floats, splits: Sequence[Split], neighbours: int
) -> Floats:
    """Return kNN predictions for every item and model, from variates (metrics × items × models).

    For judged items from the other folds; items outside the sample get the mean over the folds.
    """
    predicted = np.zeros(variates.shape[1:])
    for model in range(sample.models):
        by_fold = []
        for learn, use in splits:
            rows = np.flatnonzero(learn & sample.judged[:, model])
            if len(rows):
                near, scores = variates[:, :, model], sample.scores[rows, model]
                by_fold.append((nearest_mean(near, sample.rows[rows], scores, neighbours), use))
        if by_fold:
            predicted[:, model] = np.mean([values for values, _ in by_fold], axis=0)
        for values, use in by_fold:
            predicted[sample.rows[use], model] = values[sample.rows[use]]
    return predicted


def nearest_mean(variates: Floats, rows: Ints, scores: Floats, neighbours: int) -> Floats:
    """Return the mean score of the nearest judged items for every item of metrics × items."""
    points = variates.T
    near = min(neighbours, len(rows))
    nearest = spatial.KDTree(points[rows]).query(points, k=near)[1].reshape(len(points), near)
    return np.asarray(scores[nearest].mean(axis=1))


# --- the guard for small samples ---
# Fitted to few items, a prediction costs more than it gains. The gain is the squared correlation ρ² of
# prediction and score, the cost about 1/(n − 2) (Saldías et al. 2022, section 5, warn below 30 items).

FEWEST = 30


def guarded_form(linear: LinearForm, fallen_back: Mask, too_few: Mask) -> LinearForm:
    """Return a linear form that says how many models fell back to the weighted mean, and why."""
    reasons = {
        "too few judged items to trust the prediction": too_few,
        "the prediction does not explain the judged scores": fallen_back & ~too_few,
    }
    total = len(fallen_back)
    counts = {reason: int(mask.sum()) for reason, mask in reasons.items() if mask.any()}
    notes = tuple(
        f"{'all models fall' if count == total else f'{count} of {total} models fall'} back to the "
        f"weighted mean: {reason}."
        for reason, count in counts.items()
    )
    return replace(linear, fallen_back=fallen_back, notes=notes)


def guard_predictions(sample: JudgedSample, predicted: Floats, parameters: float) -> LinearForm:
    """Return the estimate with predictions shrunk for each model by max(0, ρ̂² − 1/(n−2))/ρ̂².

    None is used where ρ̂² < 1/(n−2) or n < 30.
    """
    correlation = _correlation(*moments(sample, predicted))
    cost = 1.0 / (np.maximum(sample.units, 3) - 2.0)
    too_few = sample.units < FEWEST
    useless = too_few | (correlation <= 0) | (correlation**2 < cost)
    slope = np.where(useless, 0.0, _shrinkage(correlation**2, cost))
    return guarded_form(difference_form(sample, predicted * slope, parameters=parameters), useless, too_few)


def own_slopes(sample: JudgedSample, parts: Floats) -> Floats:
    """Return each model's own slopes on two parts of its predictions (2 × items × models), 2 × models.

    Least squares of the model's scores on both parts; one that goes against the scores is left out. Then
    both are shrunk by max(0, ρ̂² − k/(n−1−k))/ρ̂², ρ̂ the correlation of fit and scores, k the slopes fitted.
    """
    slopes, weight = np.zeros((2, sample.models)), sample.share
    scores = _about_mean(sample.values, weight)
    predictions = _about_mean(np.where(sample.judged, parts[:, sample.rows], 0.0), weight)
    squared = np.einsum("ij,kij,lij->jkl", weight, predictions, predictions)
    joint, total = np.einsum("ij,ij,kij->jk", weight, scores, predictions), (weight * scores**2).sum(axis=0)
    for model in np.flatnonzero(total > 0).tolist():
        fitted = [part for part in (0, 1) if squared[model, part, part] > 0]
        while fitted:
            inner = squared[model][np.ix_(fitted, fitted)]
            slope = np.linalg.lstsq(inner, joint[model, fitted], rcond=1e-10)[0]
            if (slope > 0).all():
                gain = float(slope @ joint[model, fitted]) / total[model]
                cost = len(fitted) / max(sample.units[model] - 1.0 - len(fitted), 1.0)
                slopes[fitted, model] = slope * max(gain - cost, 0.0) / gain
                break
            fitted.pop(int(np.argmin(slope)))
    return slopes


def calibrate_predictions(sample: JudgedSample, predicted: Floats, parameters: float) -> LinearForm:
    """Return the estimate with two slopes for predictions: for what all find hard, and how models differ.

    A prediction less its model's mean is the mean over the models, g_i, and the rest, h_ij. Least squares of
    the scores on both, over all judged cells, gives the slopes; each is shrunk by max(0, ρ̂² − 1/(n−2))/ρ̂²
    with its own ρ̂² (the second with n times the models but one). All models have the same slopes, so that
    differences of models do not depend on how hard the items are. With n < 30 units, or where both slopes are
    0, no prediction is used.
    """
    centred = predicted - sample.whole_mean(predicted)
    level = centred.mean(axis=1, keepdims=True)
    parts = np.stack([np.broadcast_to(level, centred.shape), centred - level])
    too_few = sample.fewest_units < FEWEST
    slopes = np.zeros(2) if too_few else _two_slopes(sample, parts)
    combined = np.asarray(np.einsum("k,kij->ij", slopes, parts))
    linear, fallen_back = difference_form(sample, combined, parameters=parameters), not slopes.any()
    return guarded_form(linear, *(np.full(sample.models, part) for part in (fallen_back, too_few)))


def _two_slopes(sample: JudgedSample, parts: Floats) -> Floats:
    """Return the shrunk slopes of the two parts of predictions, 0 where a part tells nothing."""
    weight = sample.share
    score = _about_mean(sample.values, weight)
    predictions = _about_mean(np.where(sample.judged, parts[:, sample.rows], 0.0), weight)
    squared = np.einsum("ij,kij,lij->kl", weight, predictions, predictions)
    joint = np.einsum("ij,ij,kij->k", weight, score, predictions)
    slopes = np.linalg.lstsq(squared, joint, rcond=1e-10)[0]
    of_item = (weight * score).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    score_squares = np.array([(weight * of_item**2).sum(), (weight * (score - of_item) ** 2).sum()])
    gain = _correlation(joint, score_squares, np.diag(squared)) ** 2
    # How models differ is learned from all of them but one.
    counts = sample.fewest_units * np.array([1.0, max(sample.models - 1.0, 1.0)])
    return np.where(slopes > 0, slopes * _shrinkage(gain, 1.0 / (counts - 2.0)), 0.0)


def _about_mean(values: Floats, weight: Floats) -> Floats:
    """Return values (… × items × models) less their weighted mean over the items."""
    total = np.maximum(weight.sum(axis=0), 1e-300)
    return np.asarray(values - (weight * values).sum(axis=-2, keepdims=True) / total)


def _correlation(joint: Floats, score_squares: Floats, prediction_squares: Floats) -> Floats:
    scale = np.sqrt(score_squares * prediction_squares)
    return ratio(joint, scale)


def _shrinkage(gain: Floats, cost: Floats) -> Floats:
    return np.maximum(gain - cost, 0.0) / np.where(gain > 0, gain, 1.0)


def moments(sample: JudgedSample, predicted: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weighted Σxy, Σyy and Σxx of scores y and predictions x about their means, by model."""
    weight = sample.share
    score = _about_mean(sample.values, weight)
    prediction = _about_mean(np.where(sample.judged, predicted[sample.rows], 0.0), weight)
    joint, squares = (weight * prediction * score).sum(axis=0), (weight * score**2).sum(axis=0)
    return joint, squares, (weight * prediction**2).sum(axis=0)


# --- the estimators ---

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
        # A method of another kind is known, but is not an estimator: say that rather than that there is none.
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
        means = ratio((counts * sample.values).sum(axis=0), total, np.nan)
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
        # The means of strata × models, how much of a stratum an item's share represents, and notes.
        sample_codes, count = codes[sample.rows], int(codes.max()) + 1
        weight = _padded(group_sums(sample.share, sample_codes), count)
        total = _padded(group_sums(sample.share * sample.values, sample_codes), count)
        overall = total.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
        means = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), overall)
        sizes = np.bincount(codes, sample.weights, minlength=count).astype(np.float64)
        represented = ratio(sizes[:, None], weight)
        # All others represent a stratum that takes their mean.
        unseen = np.where(weight > 0, 0.0, sizes[:, None]).sum(axis=0)
        represented = np.where(weight > 0, represented + unseen / np.maximum(weight.sum(axis=0), 1e-300), 0.0)
        # A model that nobody judged has no score.
        incomplete = int((((weight == 0) & (weight.sum(axis=0) > 0)).any(axis=1) & (sizes > 0)).sum())
        note = (
            f"{incomplete} of {count} strata lack judgements of some model and take the mean of the others."
        )
        notes = (note,) if incomplete else ()
        if self.by is not None:
            parameters = float(len(np.unique(codes[sample.rows])))
            return replace(difference_form(sample, means[codes], parameters=parameters), notes=notes)
        # Errors of the draw's own strata are within them; strata with a single item are joined.
        scores = np.where(sample.judged.any(axis=0), sample.whole_mean(means[codes]), np.nan)
        deviation = np.where(sample.judged, sample.values - scores, 0.0)
        residual = deviation * represented[codes[sample.rows]] * sample.share * sample.probability
        fixed = scores - (residual / sample.probability).sum(axis=0) / sample.size
        return LinearForm(fixed, residual, notes=notes)


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
        return guard_predictions(sample, predicted, parameters)

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
            # The weighted mean, with the note that there are too few units for a prediction.
            all_models = np.ones(sample.models, bool)
            return guarded_form(difference_form(sample), all_models, all_models)
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
        linear = calibrate_predictions(sample, predicted, parameters + 1.0)
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
        slope = ratio(covariance, variance)
        unjudged = 1.0 - sample.judged.sum(axis=0) / sample.size
        largest = ratio(1.0, unjudged, np.inf)
        tuned = np.clip(slope, 0.0, largest) * predictions
        if not self.guard:
            return difference_form(sample, tuned, parameters=2.0)
        return guard_predictions(sample, tuned, 2.0)
