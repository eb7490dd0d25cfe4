"""How deep every model goes along the common order: labels go where they can still change the answer.

A depth that follows a model's own labels biases its score: a model that happens to start low is left early,
and its low start is never made up for. So the order is dealt into folds, and the depth in a fold follows the
labels of the other folds alone. Given these, what is judged in the fold is a plain random sample, its mean is
unbiased, and so is the mean over the folds (each counts by its number of items, whatever its depth).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.auto import Question
from sparingly.data.evalset import Floats, Rows
from sparingly.infer.estimate.sample import group_sums
from sparingly.infer.expect.expect import Expected
from sparingly.run.rounds.state import Mask

_STEPS = 60


def depths(current: Rows, worth: Floats, cells: int, items: int, floor: float) -> Rows:
    """Return for every model how many items it is judged on, so that at most ``cells`` outputs are judged.

    d_j ∝ √a_j minimises Σ a_j/d_j under Σ d_j = cells (a_j: ``worth_for``); none gets less than
    ``floor`` of the largest share, none more than all items, and what was judged stays judged.

    Args:
        current: How many items each model was judged on so far.
        worth: a_j of each model.
        cells: How many outputs may have been judged after this round, in all.
        items: The number of items of the set.
        floor: The least share, of the largest.
    """
    size = np.sqrt(np.maximum(worth, 0.0))
    share = np.maximum(size / size.max(), floor) if size.max() > 0 else np.ones(len(size))
    low, high = 0.0, items / float(share.min()) + 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        fits = np.floor(np.clip(share * middle, current, items) + 1e-9).sum() <= cells
        low, high = (middle, high) if fits else (low, middle)
    return np.floor(np.clip(share * low, current, items) + 1e-9).astype(np.int64)


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
    current: Rows,
    worth: Sequence[Floats],
    cells: int,
    sizes: Rows,
    floor: float,
    *,
    start: int = 0,
    least: int = 0,
) -> Rows:
    """Return folds × models: how many items of each fold every model is judged on after this round.

    Every fold gets the same number of new cells, so that no fold's depths follow its own labels; what a fold
    cannot use goes to the next one, from the fold ``start`` on.

    Args:
        current: folds × models: the depths so far.
        worth: a_j of each model for each fold, from the labels of the other folds (``worth_for``).
        cells: How many outputs this round may ask for.
        sizes: The number of items of each fold.
        floor: The least share of a model, of the largest.
        start: The fold that is served first.
        least: How many items of each fold every model is to be judged on at least, where the cells allow it.
    """
    found = current.copy()
    folds = len(sizes)
    rest = cells
    for turn in range(folds):
        fold = (start + turn) % folds
        share = -(-rest // (folds - turn))
        total = int(current[fold].sum()) + share
        lowest = np.maximum(current[fold], min(least, int(sizes[fold])))
        lowest = lowest if int(lowest.sum()) <= total else current[fold]
        found[fold] = depths(lowest, worth[fold], total, int(sizes[fold]), floor)
        rest -= int(found[fold].sum() - current[fold].sum())
    return found


def fold_chances(answered: Mask, fold: Rows, folds: int) -> Floats:
    """Return items × models: the chance of every answered cell, 1 elsewhere.

    In a fold of N_f items of which d_fj were answered for model j it is d_fj/N_f, so that
    μ̂_j = Σ_f (N_f/N)·ȳ_fj. Where a fold has no answer for a model, the others stand for it.
    """
    sizes = np.bincount(fold, minlength=folds).astype(np.float64)
    counts = group_sums(answered.astype(np.float64), fold)
    covered = (sizes[:, None] * (counts > 0)).sum(axis=0) / len(fold)
    return np.where(answered, (counts / sizes[:, None])[fold] * covered, 1.0)
