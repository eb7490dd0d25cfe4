"""The small-sample guard of estimators that use predictions: shrink the slope, or do without.

Fitted to few items, a prediction costs more than it gains. The gain is the squared correlation ρ² of
prediction and score, the cost about 1/(n − 2) (Saldías et al. 2022, section 5, warn below 30 items).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.sample import Sample

FEWEST = 30


@dataclass(frozen=True, eq=False)
class Guarded:
    """Predictions (N × models) with their slopes shrunk, and the models for which none is used.

    Attributes:
        predicted: N × models.
        fallen_back: The models for which no prediction is used.
        few: The models that were judged on too few units for one.
    """

    predicted: Floats
    fallen_back: Mask
    few: Mask

    def notes(self) -> tuple[str, ...]:
        """Say how many models fell back to the weighted mean, and why."""
        few = self._note(self.few, "too few judged items to trust the prediction")
        useless = self.fallen_back & ~self.few
        return few + self._note(useless, "the prediction tells nothing of the judged scores")

    def _note(self, which: Mask, why: str) -> tuple[str, ...]:
        count, total = int(which.sum()), len(which)
        who = "all models fall" if count == total else f"{count} of {total} models fall"
        return (f"{who} back to the weighted mean: {why}.",) if count else ()


def too_few(sample: Sample) -> Linear:
    """Return the weighted mean, with the note that there are too few units for a prediction."""
    everyone = np.ones(sample.models, bool)
    notes = Guarded(np.zeros((0, 0)), everyone, everyone).notes()
    return replace(difference_form(sample), fallen_back=everyone, notes=notes)


def guarded(sample: Sample, predicted: Floats) -> Guarded:
    """Shrink each model's predictions by max(0, ρ̂² − 1/(n−2))/ρ̂²; use none where ρ̂² < 1/(n−2) or n < 30."""
    correlation = _correlation(*moments(sample, predicted))
    cost = 1.0 / (np.maximum(sample.units, 3) - 2.0)
    few = sample.units < FEWEST
    useless = few | (correlation <= 0) | (correlation**2 < cost)
    slope = np.where(useless, 0.0, _kept(correlation**2, cost))
    return Guarded(predicted * slope, useless, few)


def calibrated(sample: Sample, predicted: Floats) -> Guarded:
    """Give pooled predictions two slopes: one for what is hard for all models, one for what sets them apart.

    A prediction less its model's mean is the mean over the models, g_i, and the rest, h_ij. Least squares of
    the scores on both, over all judged cells, gives the slopes; each is shrunk by max(0, ρ̂² − 1/(n−2))/ρ̂²
    with its own ρ̂² (the second with n times the models but one). All models are corrected alike, so that
    differences of models are free of what makes items hard. With n < 30 units, or where both slopes come to
    0, no prediction is used.
    """
    centred = predicted - sample.whole_mean(predicted)
    level = centred.mean(axis=1, keepdims=True)
    parts = np.stack([np.broadcast_to(level, centred.shape), centred - level])
    few = sample.fewest_units < FEWEST
    slopes = np.zeros(2) if few else _two_slopes(sample, parts)
    used = np.einsum("k,kij->ij", slopes, parts)
    return Guarded(np.asarray(used), np.full(sample.models, not slopes.any()), np.full(sample.models, few))


def _two_slopes(sample: Sample, parts: Floats) -> Floats:
    """Return the shrunk slopes of the two parts of predictions, 0 where a part tells nothing."""
    weight = sample.share
    score = _about_mean(sample.values, weight)
    seen = _about_mean(np.where(sample.judged, parts[:, sample.rows], 0.0), weight)
    squared = np.einsum("ij,kij,lij->kl", weight, seen, seen)
    joint = np.einsum("ij,ij,kij->k", weight, score, seen)
    slopes = np.linalg.lstsq(squared, joint, rcond=1e-10)[0]
    of_item = (weight * score).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    own = np.array([(weight * of_item**2).sum(), (weight * (score - of_item) ** 2).sum()])
    gain = _correlation(joint, own, np.diag(squared)) ** 2
    # What sets models apart is learned from all of them but one.
    counts = sample.fewest_units * np.array([1.0, max(sample.models - 1.0, 1.0)])
    cost = 1.0 / (counts - 2.0)
    return np.where(slopes > 0, slopes * _kept(gain, cost), 0.0)


def _about_mean(values: Floats, weight: Floats) -> Floats:
    """Return values (… × items × models) less their weighted mean over the items."""
    total = np.maximum(weight.sum(axis=0), 1e-300)
    return np.asarray(values - (weight * values).sum(axis=-2, keepdims=True) / total)


def _correlation(joint: Floats, own: Floats, ahead: Floats) -> Floats:
    scale = np.sqrt(own * ahead)
    return np.divide(joint, scale, out=np.zeros(len(joint)), where=scale > 0)


def _kept(gain: Floats, cost: Floats) -> Floats:
    return np.maximum(gain - cost, 0.0) / np.where(gain > 0, gain, 1.0)


def moments(sample: Sample, predicted: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weighted Σxy, Σyy and Σxx of scores y and predictions x about their means, by model."""
    weight = sample.share
    score = _about_mean(sample.values, weight)
    ahead = _about_mean(np.where(sample.judged, predicted[sample.rows], 0.0), weight)
    joint, own = (weight * ahead * score).sum(axis=0), (weight * score**2).sum(axis=0)
    return np.asarray(joint), np.asarray(own), np.asarray((weight * ahead**2).sum(axis=0))
