"""Predictions from metrics: variates, folds, nearest neighbours, and the guard for small samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.base.syntax import argument
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, difference_form
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
    from scipy.spatial import KDTree

    points = variates.T
    near = min(neighbours, len(rows))
    nearest = KDTree(points[rows]).query(points, k=near)[1].reshape(len(points), near)
    return np.asarray(scores[nearest].mean(axis=1))


# --- the guard for small samples ---
# Fitted to few items, a prediction costs more than it gains. The gain is the squared correlation ρ² of
# prediction and score, the cost about 1/(n − 2) (Saldías et al. 2022, section 5, warn below 30 items).

FEWEST = 30


@dataclass(frozen=True, eq=False)
class GuardedPredictions:
    """Predictions with shrunk slopes."""

    predicted: Floats  # N × models
    fallen_back: Mask  # the models for which no prediction is used
    too_few: Mask  # the models that were judged on too few units for one

    def linear(self, sample: JudgedSample, parameters: float) -> LinearForm:
        """Return the difference estimator with these predictions, and which models fell back."""
        linear = difference_form(sample, self.predicted, parameters=parameters)
        return replace(linear, fallen_back=self.fallen_back, notes=self.notes())

    def notes(self) -> tuple[str, ...]:
        """Say how many models fell back to the weighted mean, and why."""
        reasons = {
            "too few judged items to trust the prediction": self.too_few,
            "the prediction does not explain the judged scores": self.fallen_back & ~self.too_few,
        }
        total = len(self.fallen_back)
        counts = {reason: int(mask.sum()) for reason, mask in reasons.items() if mask.any()}
        return tuple(
            f"{'all models fall' if count == total else f'{count} of {total} models fall'} back to the "
            f"weighted mean: {reason}."
            for reason, count in counts.items()
        )


def fall_back(sample: JudgedSample) -> LinearForm:
    """Return the weighted mean, with the note that there are too few units for a prediction."""
    all_models = np.ones(sample.models, bool)
    notes = GuardedPredictions(np.zeros((0, 0)), all_models, all_models).notes()
    return replace(difference_form(sample), fallen_back=all_models, notes=notes)


def guard_predictions(sample: JudgedSample, predicted: Floats) -> GuardedPredictions:
    """Shrink each model's predictions by max(0, ρ̂² − 1/(n−2))/ρ̂²; use none where ρ̂² < 1/(n−2) or n < 30."""
    correlation = _correlation(*moments(sample, predicted))
    cost = 1.0 / (np.maximum(sample.units, 3) - 2.0)
    too_few = sample.units < FEWEST
    useless = too_few | (correlation <= 0) | (correlation**2 < cost)
    slope = np.where(useless, 0.0, _shrinkage(correlation**2, cost))
    return GuardedPredictions(predicted * slope, useless, too_few)


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


def calibrate_predictions(sample: JudgedSample, predicted: Floats) -> GuardedPredictions:
    """Give pooled predictions two slopes: for what all models find hard, and for how models differ.

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
    fallen_back = np.full(sample.models, not slopes.any())
    return GuardedPredictions(combined, fallen_back, np.full(sample.models, too_few))


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
    return np.divide(joint, scale, out=np.zeros(len(joint)), where=scale > 0)


def _shrinkage(gain: Floats, cost: Floats) -> Floats:
    return np.maximum(gain - cost, 0.0) / np.where(gain > 0, gain, 1.0)


def moments(sample: JudgedSample, predicted: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weighted Σxy, Σyy and Σxx of scores y and predictions x about their means, by model."""
    weight = sample.share
    score = _about_mean(sample.values, weight)
    prediction = _about_mean(np.where(sample.judged, predicted[sample.rows], 0.0), weight)
    joint, squares = (weight * prediction * score).sum(axis=0), (weight * score**2).sum(axis=0)
    return joint, squares, (weight * prediction**2).sum(axis=0)
