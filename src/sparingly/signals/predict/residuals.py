"""How large the residuals of predictions will be on items that nobody has judged, learned from a pilot.

Scores are predicted from the metrics, cross-fitted. The absolute residuals |e| of the judged outputs are then
learned in the same way, shrunk towards a constant as far as nothing can be learned. That gives every item an
expected size of its residuals, which is what inclusion probabilities should be proportional to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Ints
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import Features
from sparingly.signals.predict.predict import predict_scores

Goal = Literal["scores", "ranking"]
# No item's expected residual is below this share of the mean one.
_SMALLEST_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class ResidualSizes:
    """Squared residuals of a pilot's items, and the expected ones of all items."""

    rows: Ints  # the judged items
    own: Floats  # for each of them Σ_j e_ij² over the models (for a ranking Σ_j (e_ij − ē_i)²)
    # The same as expected of every item; of a judged one by a regression that did not see it.
    expected: Floats
    # The cross-fitted correlation of prediction and score across the models of an item (of a single model:
    # over the items).
    within: float


def residual_sizes(
    data: EvalSet,
    labels: ArrayLike,
    *,
    goal: Goal = "scores",
    weights: ArrayLike | None = None,
    features: Features | None = None,
    seed: int = 0,
) -> ResidualSizes:
    """Learn from the ratings of a pilot how large the residuals of every item will be.

    Args:
        data: The evaluation set; no label in it is read.
        labels: Items × models, NaN where nobody has judged.
        goal: What matters: the models' ``scores``, or what sets them centre_on_items, their ``ranking``.
        weights: 1/π of the pilot for each item; default: all the same.
        features: What to learn from (see ``predict_scores``).
        seed: Of the folds.
    """
    scores = np.asarray(labels, np.float64)
    predictions = predict_scores(data, scores, weights=weights, features=features, seed=seed)
    residual = scores - predictions.held_out
    if goal == "ranking":
        residual = centre_on_items(residual)
    rows = np.flatnonzero(~np.isnan(residual).all(axis=1))
    expected = expected_squares(data, residual, weights=weights, features=features, seed=seed, held_out=True)
    # Models that were not judged on an item count as the mean of the judged ones.
    squares = np.nanmean(residual[rows] ** 2, axis=1) * residual.shape[1]
    return ResidualSizes(
        rows, squares, expected, predictions.within if scores.shape[1] > 1 else predictions.correlation
    )


def centre_on_items(residual: Floats) -> Floats:
    """Return residuals minus their mean over the judged models of an item: the part that orders the models.

    An item on which fewer than two models were judged orders nothing: NaN.
    """
    present = ~np.isnan(residual)
    counts = present.sum(axis=1, keepdims=True)
    means = np.where(present, residual, 0.0).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    return np.where(counts > 1, residual - means, np.nan)


def expected_squares(
    data: EvalSet,
    residual: Floats,
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    features: Features | None = None,
    seed: int = 0,
    held_out: bool = False,
) -> Floats:
    """Return every item's expected squared residual, Σ_j â_ij² over the models, with â learned from |e|.

    ``residual`` is items × models, NaN where nobody has judged. With ``held_out``, what is expected of a
    judged item comes from a regression that did not see it.
    """
    sizes = np.abs(residual)
    if np.isnan(sizes).all():
        return np.zeros(len(sizes))
    predictions = predict_scores(data, sizes, weights=weights, groups=groups, features=features, seed=seed)
    sizes_predicted = predictions.held_out if held_out else predictions.everywhere
    smallest = _SMALLEST_SHARE * float(np.nanmean(sizes))
    return np.asarray((np.maximum(sizes_predicted, smallest) ** 2).sum(axis=1))
