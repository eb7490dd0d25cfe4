"""``predict_scores``: from some labels to a prediction of every score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.crossfit import cross_fitted, fold_of_items, in_sample
from sparingly.signals.predict.features import Features, prepare_features
from sparingly.signals.predict.quality import pooled_correlation, within_correlation
from sparingly.signals.predict.regressors import as_regressor

FEWEST = 4


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted scores of every item and model.

    Attributes:
        everywhere: Items x models: the mean of the regressions of all folds, or the one fitted in sample.
        held_out: The same, but an item whose group has labels is predicted by the regression that did not see
            the group. An estimate takes this array for all items: N⁻¹ [Σ_all f + Σ_S (y − f)/π].
        folds: The fold of every item, −1 where its group has no label.
        parameters: The effective number of parameters (the trace of a ridge's hat matrix over the labels of
            one model, mean over models and folds); None where the regressor has no such number.
        correlation: Of held-out predictions and labels over all labelled cells, model means taken out.
        within: The mean over items of their correlation across models.
        regressor: The regressor as text.
        features: The names of what it learned from.
    """

    everywhere: Floats
    held_out: Floats
    folds: Ints
    parameters: float | None
    correlation: float
    within: float
    regressor: str
    features: tuple[str, ...]


def predict_scores(
    data: EvalSet,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    regressor: object = "ridge",
    features: Features | None = None,
    folds: int = 5,
    groups: ArrayLike | None = None,
    crossfit: bool = True,
    seed: int = 0,
) -> Predictions:
    """Learn people's scores from metrics and texts where there are labels, and predict them everywhere.

    One regression learns from the labels of all models together (an intercept for each). The prediction of a
    labelled item comes from a regression that saw nothing of it, which keeps an estimate that builds on it
    free of bias: f in μ̂ = N⁻¹ [Σ_all f + Σ_S (y − f)/π] is ``held_out``.

    Args:
        data: The evaluation set; no label in it is read.
        labels: Items x models in the order of ``data``, NaN where nobody has judged.
        weights: 1/π for each item, or for each cell; all the same unless given.
        regressor: ``ridge``, ``boosting``, ``knn``, a path such as ``sklearn.linear_model:Lasso``, or any
            object with scikit-learn's ``fit`` and ``predict``.
        features: What to learn from; the regressor's own choice unless given.
        folds: How many regressions; no more than there are labelled groups.
        groups: A number per item for what must stay together, such as its document; every item by itself
            unless given.
        crossfit: Without it one regression learns from all labels and predicts those, too (Saldías et al.
            2022): such predictions flatter themselves, and so do the correlations.
        seed: For the folds, and for what a regressor draws.
    """
    chosen = as_regressor(regressor)
    scores = _checked_labels(data, labels)
    weighed = _checked_weights(scores, weights)
    codes = _checked_groups(data, groups)
    labelled = np.asarray((weighed > 0).any(axis=1))
    units = len(np.unique(codes[labelled]))
    _enough(units, folds, "groups of items" if groups is not None else "items")
    table = prepare_features(data, chosen.features if features is None else features)
    if crossfit:
        fold = fold_of_items(data.keys, codes, labelled, min(folds, units), seed)
        found = cross_fitted(chosen, table, scores, weighed, fold, seed)
    else:
        fold = np.full(len(data), -1, np.int64)
        found = in_sample(chosen, table, scores, weighed, seed)
    return Predictions(
        everywhere=found.everywhere,
        held_out=found.held_out,
        folds=fold,
        parameters=None if found.parameters is None else found.parameters / len(data.models),
        correlation=pooled_correlation(scores, found.held_out),
        within=within_correlation(scores, found.held_out),
        regressor=chosen.text,
        features=table.names,
    )


def _checked_labels(data: EvalSet, labels: ArrayLike) -> Floats:
    scores = np.asarray(labels, np.float64)
    if scores.shape != data.shape:
        raise UsageError(f"Labels are items x models, {_shape(data.shape)}, not {_shape(scores.shape)}.")
    if np.isinf(scores).any():
        raise DataError("A label is infinite. Write NaN where nobody has judged.")
    if np.isnan(scores).all():
        raise DataError("Predictions need labels, and nothing has been judged yet.")
    return scores


def _checked_weights(scores: Floats, weights: ArrayLike | None) -> Floats:
    """Return the weight of every label with mean 1, and 0 where there is no label."""
    there = ~np.isnan(scores)
    given: NDArray[Any] = np.ones(()) if weights is None else np.asarray(weights, np.float64)
    if weights is not None and given.shape not in (scores.shape[:1], scores.shape):
        raise UsageError(
            f"Weights are one per item or one per cell ({_shape(scores.shape)}), not {_shape(given.shape)}."
        )
    each = np.broadcast_to(given[:, None] if given.ndim == 1 else given, scores.shape)[there]
    if not (np.isfinite(each) & (each > 0)).all():
        raise UsageError("The weight of a label is a positive number, 1/π of its item.")
    weighed = np.zeros(scores.shape)
    weighed[there] = each / each.mean()
    return weighed


def _checked_groups(data: EvalSet, groups: ArrayLike | None) -> Ints:
    if groups is None:
        return np.arange(len(data))
    given = np.asarray(groups)
    if given.shape != (len(data),):
        raise UsageError(f"Give one group for each of the {len(data)} items.")
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


def _enough(units: int, folds: int, what: str) -> None:
    if folds < 2:
        raise UsageError(f"Cross-fitting needs at least 2 folds, not {folds}.")
    if units < FEWEST:
        raise DataError(
            f"Predictions need labels in at least {FEWEST} {what}, and there are {units}. Judge more, or use "
            "the mean."
        )


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "a single number"
