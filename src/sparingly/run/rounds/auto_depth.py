"""How deep every model goes along the common order: labels go where they can still change the answer.

A depth that follows a model's own labels biases its score: a model that happens to start low is left early,
and its low start is never made up for. So the order is dealt into folds, and the depth in a fold follows the
labels of the other folds alone. Given these, what is judged in the fold is a plain random sample, its mean is
unbiased, and so is the mean over the folds (each counts by its number of items, whatever its depth).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.auto import Question
from sparingly.infer.estimate.sample import group_sums
from sparingly.infer.expect.expect import Expected

_STEPS = 60
# λ in units of the largest a_j.
_PRICES: Floats = np.append(0.0, np.geomspace(0.01, 100.0, 21))[:, None]


def depths(
    current: Ints, worth: Floats, cells: int, items: int, floor: float, inflation: float = np.inf
) -> Ints:
    """Return for every model how many items it is judged on, so that at most ``cells`` outputs are judged.

    d_j ∝ √(a_j + λ) minimises Σ (a_j + λ)/d_j under Σ d_j = cells (a_j: ``worth_for``): the error of the
    ranking, with a price λ on the variance of every score. λ is the least of a grid at which that variance
    (1/d_j − 1/N, the mean over models) is at most 1 + ``inflation`` times what as many labels give at equal
    depths (λ → ∞). None gets less than ``floor`` of the largest share, none more than all items, and what
    was judged stays judged.

    Args:
        current: How many items each model was judged on so far.
        worth: a_j of each model.
        cells: How many outputs may have been judged after this round, in all.
        items: The number of items of the set.
        floor: The least share, of the largest.
        inflation: By what share unequal depths may raise the mean variance of the scores.
    """
    useful = np.maximum(worth, 0.0)
    size = np.sqrt(useful + float(useful.max()) * _PRICES)
    largest = size.max(axis=1, keepdims=True)
    share = np.maximum(np.divide(size, largest, out=np.ones_like(size), where=largest > 0), floor)
    share = np.vstack([share, np.ones(len(worth))])
    low, high = np.zeros((len(share), 1)), items / share.min(axis=1, keepdims=True) + 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        total = np.floor(np.clip(share * middle, current, items) + 1e-9).sum(axis=1, keepdims=True)
        low, high = np.where(total <= cells, middle, low), np.where(total <= cells, high, middle)
    found = np.floor(np.clip(share * low, current, items) + 1e-9).astype(np.int64)
    allowed = np.append(_inflations(found[:-1], items) <= inflation, True)
    return np.asarray(found[int(np.argmax(allowed))])


def _inflations(found: Ints, items: int) -> Floats:
    """Return by what share every row of depths raises the models' mean variance over that of equal depths."""
    # A model without labels counts as with half a label: its variance is not known, and large.
    some = np.maximum(found, 0.5)
    equal = 1.0 / some.mean(axis=1) - 1.0 / items
    own = (1.0 / some - 1.0 / items).mean(axis=1)
    return np.asarray(np.divide(own, equal, out=np.ones(len(own)), where=equal > 0) - 1.0)


def worth_for(question: Question, expected: Expected) -> Floats:
    """Return what labels of each model are worth: by all of its pairs, or by the leader's pairs alone."""
    models = len(expected.models)
    if question == "scores":
        return np.ones(models)
    first, second = pair_indices(models)
    counts = np.ones(len(first))
    if question == "best":
        leader = int(np.argmax(expected.scores))
        counts = ((first == leader) | (second == leader)).astype(np.float64)
    own = expected.worth * counts[:, None]
    return np.asarray(np.bincount(first, own[:, 0], models) + np.bincount(second, own[:, 1], models))


def fold_depths(
    current: Ints,
    worth: Sequence[Floats],
    cells: int,
    sizes: Ints,
    floor: float,
    *,
    inflation: float = np.inf,
    start: int = 0,
    least: int = 0,
) -> Ints:
    """Return folds × models: how many items of each fold every model is judged on after this round.

    Every fold gets the same number of new cells, so that no fold's depths follow its own labels; what a fold
    cannot use goes to the next one, from the fold ``start`` on.

    Args:
        current: folds × models: the depths so far.
        worth: a_j of each model for each fold, from the labels of the other folds (``worth_for``).
        cells: How many outputs this round may ask for.
        sizes: The number of items of each fold.
        floor: The least share of a model, of the largest.
        inflation: By what share unequal depths may raise the mean variance of the scores in a fold.
        start: The fold that is served first.
        least: How many items of each fold every model is to be judged on at least, where the cells allow it.
    """
    found = current.copy()
    folds = len(sizes)
    rest = cells
    # In a second pass every fold may take all that is left.
    for turn in range(2 * folds):
        fold = (start + turn) % folds
        before = int(found[fold].sum())
        total = before + -(-rest // max(folds - turn, 1))
        lowest = np.maximum(found[fold], min(least, int(sizes[fold])))
        lowest = lowest if int(lowest.sum()) <= total else found[fold]
        found[fold] = depths(lowest, worth[fold], total, int(sizes[fold]), floor, inflation)
        rest -= int(found[fold].sum()) - before
        if rest < 1:
            break
    return found


def fold_chances(answered: Mask, fold: Ints, folds: int) -> Floats:
    """Return items × models: the chance of every answered cell, 1 elsewhere.

    In a fold of N_f items of which d_fj were answered for model j it is d_fj/N_f, so that
    μ̂_j = Σ_f (N_f/N)·ȳ_fj. Where a fold has no answer for a model, the others stand for it.
    """
    sizes = np.bincount(fold, minlength=folds).astype(np.float64)
    counts = group_sums(answered.astype(np.float64), fold)
    covered = (sizes[:, None] * (counts > 0)).sum(axis=0) / len(fold)
    return np.where(answered, (counts / sizes[:, None])[fold] * covered, 1.0)
