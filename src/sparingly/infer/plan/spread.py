"""How far scores vary over the items of a set, and over its documents, as a sample tells it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.infer.estimate.sample import Sample, group_sums
from sparingly.infer.estimate.variance import proper

# Fewer pairs of judged items in the same document than this tell nothing of how alike they are.
FEWEST_REPEATS = 10


def spread_of(sample: Sample, residual: Floats, parameters: float = 1.0) -> Floats:
    """Return the covariance over all items (models × models) of what a linear form leaves to chance.

    S = Σ_S e eᵀ/π / Σ_S 1/π · n/(n − p), so that a uniform draw of n items has the covariance (1 − n/N)·S/n.
    It is taken over the items on which both of two models were judged; 0 where there are none.
    """
    weight = np.where(sample.judged, 1.0 / np.sqrt(sample.probability), 0.0)
    weighed = residual * weight
    total = weight.T @ weight
    found = np.divide(weighed.T @ weighed, total, out=np.zeros_like(total), where=total > 0)
    count = len(sample.rows)
    return proper(found * count / max(count - parameters, 1.0))


@dataclass(frozen=True)
class Documents:
    """What drawing whole documents does to the variance.

    Attributes:
        length: The mean number of items in an item's document, itself included (Σm²/Σm).
        shared: The design effect on what all models share (the mean over models): how much larger its
            variance is than that of as many items drawn one by one.
        differences: The design effect on differences between models.
        scores: The design effect on the scores of single models, which have a part of both.
    """

    length: float
    shared: float
    differences: float
    scores: float

    def raised(self, spread: Floats) -> Floats:
        """Return the spread that items have when whole documents are drawn, as if drawn one by one."""
        return _raised(spread, self.shared, self.differences)


def documents_of(sample: Sample, residual: Floats, spread: Floats) -> Documents | None:
    """Return the design effects of documents, 1 + (Σm²/Σm − 1)·ICC; None where too little is known.

    ICC is the share of the variance that lies between documents, by analysis of variance over the judged
    items (Kish 1965, section 5.4), for the mean over the models and for what sets them apart.
    """
    if sample.document is None:
        return None
    codes = np.unique(sample.document[sample.rows], return_inverse=True)[1]
    groups = int(codes.max()) + 1
    if groups < 2 or len(codes) - groups < FEWEST_REPEATS:
        return None
    sizes = np.bincount(sample.document).astype(np.float64)
    length = float((sizes**2).sum() / sizes.sum())
    mean = residual.mean(axis=1, keepdims=True)
    shared, apart = (1.0 + (length - 1.0) * alike(part, codes) for part in (mean, residual - mean))
    total = float(np.trace(spread))
    scores = float(np.trace(_raised(spread, shared, apart))) / total if total > 0 else 1.0
    return Documents(length, shared, apart, scores)


def alike(values: Floats, codes: Ints) -> float:
    """Return the intraclass correlation of values (items × columns) over groups, from 0 to 1.

    (MSB − MSW)/(MSB + (m₀ − 1)·MSW), squares summed over the columns.
    """
    sizes = np.bincount(codes).astype(np.float64)
    count, groups = float(len(codes)), float(len(sizes))
    away = values - values.mean(axis=0)
    means = group_sums(away, codes) / sizes[:, None]
    within = float(((away - means[codes]) ** 2).sum()) / (count - groups)
    between = float((sizes[:, None] * means**2).sum()) / (groups - 1.0)
    typical = (count - float((sizes**2).sum()) / count) / (groups - 1.0)
    total = between + (typical - 1.0) * within
    return float(np.clip((between - within) / total, 0.0, 1.0)) if total > 0 else 0.0


def _raised(spread: Floats, shared: float, apart: float) -> Floats:
    """Return A·S·A, A = √shared on the mean over the models and √apart on what is at right angles to it."""
    count = len(spread)
    level = np.full((count, count), 1.0 / count)
    root = np.sqrt(shared) * level + np.sqrt(apart) * (np.eye(count) - level)
    return np.asarray(root @ spread @ root)


def pair_deviations(spread: Floats) -> Floats:
    """Return the standard deviation of the difference of every pair of models, √(S_jj + S_kk − 2S_jk)."""
    first, second = np.triu_indices(len(spread), 1)
    variance = np.diag(spread)
    squared = variance[first] + variance[second] - 2.0 * spread[first, second]
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def pair_total(spread: Floats) -> float:
    """Return the sum over all pairs of models of the variance of their difference."""
    return float(len(spread) * np.trace(spread) - spread.sum())
