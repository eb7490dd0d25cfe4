"""``predict_scores``: from some labels to a prediction of every score, cross-fitted.

Labelled items are dealt to folds, whole documents together where groups are given; one model per fold learns
from all other folds. ``held_out`` holds, for every item of a labelled group, the prediction of the model that
did not see it, and elsewhere the mean of all models, each weighted by its fold's share of the labels.

Take that one array as f in N⁻¹ [Σ_all f + Σ_S (y − f)/π]. For fold k of a uniform sample, the scores of the
items that its model did not see (N − n + n_k of them, n_k sampled) sum to Σ f_k + (N − n + n_k)/n_k ·
Σ_{S_k} (y − f_k) without bias, and the others are known; the mean of these totals over folds, weighted by
n_k/n, is exactly that formula. If labelled items were predicted by the mean of all models too, the first sum
would hold predictions of models that learned from those very items, and part of the finite-population
correction would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.progress import tracked
from sparingly.base.stats.correlation import pearson
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import Features, FeatureTable, prepare_features
from sparingly.signals.predict.regressors import FittedRegressor, Regressor, TrainingData, parse_regressor

FEWEST = 4
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted scores of every item and model."""

    # Items x models: the mean of the regressions of all folds, or the one fitted in sample.
    everywhere: Floats
    # The same, but an item whose group has labels is predicted by the regression that did not see the group.
    # An estimate takes this array for all items: N⁻¹ [Σ_all f + Σ_S (y − f)/π].
    held_out: Floats
    folds: Ints  # the fold of every item, −1 where its group has no label
    # The effective number of parameters (the trace of a ridge's hat matrix over the labels of one model, mean
    # over models and folds); None where the regressor has no such number.
    parameters: float | None
    correlation: float  # of held-out predictions and labels over all labelled cells, model means taken out
    within: float  # the mean over items of their correlation across models
    regressor: str  # the regressor as text
    features: tuple[str, ...]  # the names of what it learned from


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
        weights: 1/π for each item, or for each cell; default: all the same.
        regressor: ``ridge``, ``boosting``, ``knn``, a path such as ``sklearn.linear_model:Lasso``, or any
            object with scikit-learn's ``fit`` and ``predict``.
        features: What to learn from; default: the regressor's own choice.
        folds: How many regressions; no more than there are labelled groups.
        groups: A number per item for what must stay together, such as its document; every item by itself
            unless given.
        crossfit: Without it one regression learns from all labels and predicts those, too (Saldías et al.
            2022): such predictions flatter themselves, and so do the correlations.
        seed: For the folds, and for what a regressor draws.
    """
    chosen = parse_regressor(regressor)
    scores = np.asarray(labels, np.float64)
    if scores.shape != data.shape:
        raise UsageError(f"Labels are items x models, {_shape(data.shape)}, not {_shape(scores.shape)}.")
    if np.isinf(scores).any():
        raise DataError("A label is infinite. Write NaN for a missing label.")
    if np.isnan(scores).all():
        raise DataError("Predictions need labels, and nothing has been judged yet.")
    # The weight of every label with mean 1, and 0 where there is no label.
    present = ~np.isnan(scores)
    weight_array: NDArray[Any] = np.ones(()) if weights is None else np.asarray(weights, np.float64)
    if weights is not None and weight_array.shape not in (scores.shape[:1], scores.shape):
        raise UsageError(
            f"Weights are one per item or one per cell ({_shape(scores.shape)}), not "
            f"{_shape(weight_array.shape)}."
        )
    by_cell = weight_array[:, None] if weight_array.ndim == 1 else weight_array
    label_weights = np.broadcast_to(by_cell, scores.shape)[present]
    if not (np.isfinite(label_weights) & (label_weights > 0)).all():
        raise UsageError("The weight of a label is a positive number, 1/π of its item.")
    all_weights = np.zeros(scores.shape)
    all_weights[present] = label_weights / label_weights.mean()
    label_weights = all_weights
    if groups is not None and np.shape(groups) != (len(data),):
        raise UsageError(f"Give one group for each of the {len(data)} items.")
    codes = np.arange(len(data))
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    labelled = np.asarray((label_weights > 0).any(axis=1))
    units = len(np.unique(codes[labelled]))
    if folds < 2:
        raise UsageError(f"Cross-fitting needs at least 2 folds, not {folds}.")
    if units < FEWEST:
        noun = "items" if groups is None else "groups of items"
        raise DataError(
            f"Predictions need labels in at least {FEWEST} {noun}, and there are {units}. Judge more, or use "
            "the mean."
        )
    table = prepare_features(data, chosen.features if features is None else features)
    if crossfit:
        fold = deal_folds(data.keys, codes, labelled, min(folds, units), seed)
        ensemble = cross_fit(chosen, table, scores, label_weights, fold, seed)
    else:
        fold = np.full(len(data), -1, np.int64)
        ensemble = fit_in_sample(chosen, table, scores, label_weights, seed)
    return Predictions(
        everywhere=ensemble.everywhere,
        held_out=ensemble.held_out,
        folds=fold,
        parameters=None if ensemble.parameters is None else ensemble.parameters / len(data.models),
        correlation=pooled_correlation(scores, ensemble.held_out),
        within=within_correlation(scores, ensemble.held_out),
        regressor=chosen.text,
        features=table.names,
    )


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "a single number"


class Ensemble(NamedTuple):
    """Predictions of all items by the models of all folds, items x models."""

    everywhere: Floats
    held_out: Floats
    parameters: float | None


def deal_folds(keys: rng.Keys, groups: Ints, labelled: NDArray[np.bool_], folds: int, seed: int) -> Ints:
    """Deal the groups that have labels to folds; return the fold of every item, −1 where its group has none.

    Groups are dealt from the one with most labels to the one with fewest, forth and back, equal ones in the
    order of a hash of (seed, ids): neither the order of a file nor the numbers of the groups matter.
    """
    count = int(groups.max()) + 1
    sizes = np.bincount(groups[labelled], minlength=count)
    hashes = np.full(count, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(hashes, groups, rng.stream(keys, seed, "folds"))
    dealt = np.lexsort((hashes, -sizes))[: int((sizes > 0).sum())]
    turns = np.arange(len(dealt)) % (2 * folds)
    fold = np.full(count, -1, np.int64)
    fold[dealt] = np.minimum(turns, 2 * folds - 1 - turns)
    return fold[groups]


def cross_fit(
    regressor: Regressor, table: FeatureTable, labels: Floats, weights: Floats, fold: Ints, seed: int
) -> Ensemble:
    """Fit a model per fold to the labels of the other folds, and predict everything."""
    rows = np.flatnonzero((weights > 0).any(axis=1))
    x = table.at(rows)
    models, totals = [], []
    for number in tracked(range(int(fold.max()) + 1)):
        in_training = fold[rows] != number
        training_rows = rows[in_training]
        fold_labels, fold_weights = labels[training_rows], weights[training_rows]
        training = TrainingData(x[in_training], fold_labels, fold_weights, table.scales, seed)
        models.append(regressor.fit(training))
        totals.append(weights[rows[~in_training]].sum(axis=0))
    # The share of each fold in the labels of each model (in all labels, where a model has none).
    by_fold = np.stack(totals)
    overall = by_fold.sum(axis=1, keepdims=True) / by_fold.sum()
    of_model = by_fold.sum(axis=0, keepdims=True)
    shares = np.where(of_model > 0, by_fold / np.where(of_model > 0, of_model, 1.0), overall)
    return _predict_all(models, shares, table, fold)


def fit_in_sample(
    regressor: Regressor, table: FeatureTable, labels: Floats, weights: Floats, seed: int
) -> Ensemble:
    """Fit one model to all labels, and predict everything by it."""
    rows = np.flatnonzero((weights > 0).any(axis=1))
    models = [regressor.fit(TrainingData(table.at(rows), labels[rows], weights[rows], table.scales, seed))]
    nowhere = np.full(len(labels), -1, np.int64)
    ensemble = _predict_all(models, np.ones((1, labels.shape[1])), table, nowhere)
    return ensemble._replace(held_out=ensemble.everywhere)


def _predict_all(
    models: Sequence[FittedRegressor], shares: Floats, table: FeatureTable, fold: Ints
) -> Ensemble:
    shape = (table.items, len(table.models))
    everywhere, held_out = np.zeros(shape), np.zeros(shape)
    for rows in table.blocks():
        x = table.at(rows)
        for number, (model, share) in enumerate(zip(models, shares, strict=True)):
            predictions = model.predict(x)
            everywhere[rows] += share * predictions
            unseen = fold[rows] == number
            held_out[rows[unseen]] = predictions[unseen]
        unlabelled = rows[fold[rows] < 0]
        held_out[unlabelled] = everywhere[unlabelled]
    counts = [model.parameters for model in models if model.parameters is not None]
    parameters = float(np.mean(counts)) if len(counts) == len(models) else None
    return Ensemble(everywhere, held_out, parameters)


def pooled_correlation(labels: Floats, predicted: Floats) -> float:
    """Return Pearson's r over all labelled cells, the means of the models taken out of both.

    About 1 − r² of the variance of a model's mean is left when predictions are used as a control variate;
    what models differ by as a whole neither helps nor hurts there. 0.0 where nothing differs.
    """
    present = ~np.isnan(labels)
    centred = [_centre(values, present, axis=0)[present] for values in (labels, predicted)]
    return pearson(*centred)


def within_correlation(labels: Floats, predicted: Floats) -> float:
    """Return the mean over items of Pearson's r across models: how well models are separated.

    Items with fewer than two labels, or whose labels are all the same, order nothing and are left out; 0.0
    when none is left. An item whose predictions are all the same counts as 0.
    """
    present = ~np.isnan(labels)
    y, f = (_centre(values, present, axis=1) for values in (labels, predicted))
    spread_y, spread_f = (y * y).sum(axis=1), (f * f).sum(axis=1)
    floor = _ROUNDING * (np.where(present, labels, 0.0) ** 2).sum(axis=1)
    orders = spread_y > floor
    if not orders.any():
        return 0.0
    norm = np.sqrt(spread_y * spread_f)[orders]
    products = (y * f).sum(axis=1)[orders]
    return float(np.divide(products, norm, out=np.zeros(len(norm)), where=norm > 0).mean())


def _centre(values: Floats, present: NDArray[np.bool_], axis: int) -> Floats:
    no_gaps = np.where(present, values, 0.0)
    counts = np.maximum(present.sum(axis=axis, keepdims=True), 1)
    return np.where(present, no_gaps - no_gaps.sum(axis=axis, keepdims=True) / counts, 0.0)


# --- how large the residuals of predictions will be on items that nobody has judged, learned from a pilot ---
# Scores are predicted from the metrics, cross-fitted. The absolute residuals |e| of the judged outputs are
# then learned in the same way, shrunk towards a constant as far as nothing can be learned. That gives every
# item an expected size of its residuals, which is what inclusion probabilities should be proportional to.


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
