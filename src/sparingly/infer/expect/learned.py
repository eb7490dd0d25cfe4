"""What the labels teach of the metrics: a prediction of every cell, and how good it is."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.cache import ResultCache
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.variates import known_metrics
from sparingly.signals.predict.features import FeatureTable, feature_arrays, prepare_features
from sparingly.signals.predict.intercepts import model_intercepts
from sparingly.signals.predict.regressors import Ridge
from sparingly.signals.predict.ridge import fit_ridge

# With labels on fewer items nothing is learned from metrics.
FEWEST = 3
_NOTHING = 1e-9


class Learned(NamedTuple):
    """What a ridge over all metrics learned.

    Attributes:
        predicted: Items × models, by the metrics alone: no model has an effect of its own.
        left_out: Items × models: a label less what is predicted of it (model effects included) when its item
            is left out; 0 without a label.
        held_out: Items × models: predictions with model effects; that of a label when its item is left out.
        within: The correlation of those predictions and labels, item and model means taken out.
        closeness: Of every pair of models: how far apart the metrics see them, with mean about 1.
    """

    predicted: Floats
    left_out: Floats
    held_out: Floats
    within: float
    closeness: Floats


# What is judged, what is estimated and what is expected all learn from the same labels.
_known: ResultCache[Learned] = ResultCache(most=8)


def learn_from(data: EvalSet, labels: Floats) -> Learned:
    """Learn from labels (items × models, NaN without one) what the metrics say of all items."""
    key = (data.keys.tobytes(), data.models, hashlib.sha256(labels.tobytes()).digest())
    return _known.of([data.store.items, *feature_arrays(data)], key, lambda: _learned(data, labels))


def _learned(data: EvalSet, labels: Floats) -> Learned:
    judged = ~np.isnan(labels)
    rows = np.flatnonzero(judged.any(axis=1))
    table = prepare_features(data, Ridge().features) if known_metrics(data) else None
    if table is None or not table.names or len(rows) < FEWEST:
        return _nothing(data, labels, judged)
    there = judged[rows]
    known = np.where(there, labels[rows], 0.0)
    fit = fit_ridge(table.at(rows) * table.scales, known, there.astype(np.float64))
    weights = fit.coefficients * table.scales
    predicted = np.zeros(data.shape)
    for block in table.blocks():
        predicted[block] = table.at(block) @ weights
    left_out = np.zeros(data.shape)
    left_out[rows] = np.where(there, fit.left_out, 0.0)
    # Leaving an item out also moves the model's own mean away from its label, which says nothing of metrics.
    counts = there.sum(axis=0)
    by_metrics = left_out[rows] * ((counts - 1) / np.maximum(counts, 1))
    within = _within(known - by_metrics, known, there)
    held_out = np.where(judged, labels - left_out, predicted + fit.intercepts)
    return Learned(predicted, left_out, held_out, within, _closeness(table))


def _nothing(data: EvalSet, labels: Floats, judged: Mask) -> Learned:
    """Return what is known without metrics: the models' means."""
    known = np.where(judged, labels, 0.0)
    means = model_intercepts(known, judged.astype(np.float64))
    counts = judged.sum(axis=0)
    # Leaving an item out moves its model's mean away from it.
    without = counts / np.maximum(counts - 1, 1)
    pairs = len(pair_indices(data.shape[1])[0])
    left_out = np.where(judged, (labels - means) * without, 0.0)
    held_out = np.where(judged, labels - left_out, means)
    return Learned(np.zeros(data.shape), left_out, held_out, 0.0, np.ones(pairs))


def _within(predicted: Floats, known: Floats, judged: Mask) -> float:
    """Return the correlation of predictions and labels when item means, then model means, are taken out."""
    one, other = _centred(predicted, judged), _centred(known, judged)
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / size if size > 0 else 0.0


def _centred(values: Floats, judged: Mask) -> Floats:
    kept = np.where(judged, values, 0.0)
    for axis in (1, 0):
        mean = kept.sum(axis=axis, keepdims=True) / np.maximum(judged.sum(axis=axis, keepdims=True), 1)
        kept = np.where(judged, kept - mean, 0.0)
    return kept


@lru_cache(maxsize=8)
def _closeness(table: FeatureTable) -> Floats:
    """Return the root mean square over items and metrics of the models' standardised differences."""
    count = len(table.columns)
    models = len(table.models)
    cross, energy = np.zeros((models, models, count)), np.zeros(count)
    for block in table.blocks():
        own = table.at(block)[:, :, :count]
        own = own - own.mean(axis=1, keepdims=True)
        cross += np.einsum("ijk,ilk->jlk", own, own)
        energy += (own**2).sum(axis=(0, 1))
    varies = energy > _NOTHING * max(float(energy.max(initial=0.0)), _NOTHING)
    if not varies.any():
        return np.ones(models * (models - 1) // 2)
    shared = (cross[:, :, varies] / energy[varies]).mean(axis=2)
    own_size = np.diag(shared)
    squares = np.maximum(own_size[:, None] + own_size - 2.0 * shared, 0.0)[pair_indices(models)]
    size = np.sqrt(squares)
    return np.asarray(np.maximum(size / max(float(size.mean()), _NOTHING), _NOTHING))
