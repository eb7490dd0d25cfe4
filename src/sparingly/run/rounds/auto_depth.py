"""How deep every model goes along the common order: labels go where they can still change the answer."""

from __future__ import annotations

import numpy as np

from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.auto import Question
from sparingly.data.evalset import Floats, Rows
from sparingly.infer.expect.expect import Expected

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
