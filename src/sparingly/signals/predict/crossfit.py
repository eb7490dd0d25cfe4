"""Cross-fitting: who is predicted by a model that has not seen them.

Labelled items are dealt to folds, whole documents together where groups are given; one model per fold learns
from all other folds. ``held_out`` holds, for every item of a labelled group, the prediction of the model that
did not see it, and elsewhere the mean of all models, each weighted by its fold's share of the labels.

Take that one array as f in N⁻¹ [Σ_all f + Σ_S (y − f)/π]. For fold k of a uniform sample, the scores of the
items that its model did not see (N − n + n_k of them, n_k sampled) sum to Σ f_k + (N − n + n_k)/n_k ·
Σ_{S_k} (y − f_k) without bias, and the others are known; the mean of these totals over folds, weighted by
n_k/n, is exactly that formula. Were labelled items, too, predicted by the mean of all models, the first sum
would hold predictions by models that had learned from those very items, and part of the finite-population
correction would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.signals.predict.features import FeatureTable
from sparingly.signals.predict.regressors import Fitted, Regressor, Training


class Ensemble(NamedTuple):
    """Predictions of all items by the models of all folds, items x models."""

    everywhere: Floats
    held_out: Floats
    parameters: float | None


def fold_of_items(keys: rng.Keys, groups: Ints, labelled: NDArray[np.bool_], folds: int, seed: int) -> Ints:
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


def cross_fitted(
    regressor: Regressor, table: FeatureTable, labels: Floats, weights: Floats, fold: Ints, seed: int
) -> Ensemble:
    """Fit a model per fold to the labels of the other folds, and predict everything."""
    rows = np.flatnonzero((weights > 0).any(axis=1))
    x = table.at(rows)
    fitted, shares = [], []
    for number in range(int(fold.max()) + 1):
        seen = fold[rows] != number
        taken = rows[seen]
        fitted.append(regressor.fit(Training(x[seen], labels[taken], weights[taken], table.scales, seed)))
        shares.append(weights[rows[~seen]].sum(axis=0))
    everywhere, held_out = _predicted(fitted, _model_shares(np.stack(shares)), table, fold)
    return Ensemble(everywhere, held_out, _mean_parameters(fitted))


def in_sample(
    regressor: Regressor, table: FeatureTable, labels: Floats, weights: Floats, seed: int
) -> Ensemble:
    """Fit one model to all labels, and predict everything by it."""
    rows = np.flatnonzero((weights > 0).any(axis=1))
    fitted = [regressor.fit(Training(table.at(rows), labels[rows], weights[rows], table.scales, seed))]
    nowhere = np.full(len(labels), -1, np.int64)
    everywhere, _ = _predicted(fitted, np.ones((1, labels.shape[1])), table, nowhere)
    return Ensemble(everywhere, everywhere, _mean_parameters(fitted))


def _model_shares(totals: Floats) -> Floats:
    """Return the share of each fold in the labels of each model (in all labels, where a model has none)."""
    overall = totals.sum(axis=1, keepdims=True) / totals.sum()
    of_model = totals.sum(axis=0, keepdims=True)
    return np.where(of_model > 0, totals / np.where(of_model > 0, of_model, 1.0), overall)


def _predicted(
    fitted: Sequence[Fitted], shares: Floats, table: FeatureTable, fold: Ints
) -> tuple[Floats, Floats]:
    shape = (table.items, len(table.models))
    everywhere, held_out = np.zeros(shape), np.zeros(shape)
    for rows in table.blocks():
        x = table.at(rows)
        for number, (model, share) in enumerate(zip(fitted, shares, strict=True)):
            found = model.predict(x)
            everywhere[rows] += share * found
            _put(held_out, rows, found, fold[rows] == number)
        _put(held_out, rows, everywhere[rows], fold[rows] < 0)
    return everywhere, held_out


def _put(target: Floats, rows: Ints, found: Floats, where: NDArray[np.bool_]) -> None:
    target[rows[where]] = found[where]


def _mean_parameters(fitted: Sequence[Fitted]) -> float | None:
    known = [model.parameters for model in fitted]
    return (
        None if any(value is None for value in known) else float(np.mean([value or 0.0 for value in known]))
    )
