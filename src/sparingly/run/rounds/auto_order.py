"""An order of all items that is fixed before anything is judged, and well spread wherever one stops."""

from __future__ import annotations

from threading import Lock

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.auto import has_documents
from sparingly.choose.design.draw.local_pivotal import draw_local_pivotal
from sparingly.choose.design.space import metric_points, principal, with_documents
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

_DIMENSIONS = 5
_MOST_KEPT = 8
_kept: dict[tuple[str, int, bool], Ints] = {}
_lock = Lock()


def spread_order(data: EvalSet, seed: int, *, spread: bool = True) -> Ints:
    """Return the items in a random order in which every beginning is spread over metrics and documents.

    The set is halved again and again by the local pivotal method with chances of one half: of two neighbours
    one stays. What was dropped last comes first, at random within a halving. So the first n items are a
    draw in which every item has the chance n/N, exactly, and of near items seldom both.
    Without ``spread``, or with nothing to spread over, the order is plainly random.
    """
    # By content: every round comes with a set of its own, in which only labels are new.
    key = (data.digest(), seed, spread)
    with _lock:
        known = _kept.pop(key, None)
    order = _halved(data, seed, spread) if known is None else known
    with _lock:
        _kept[key] = order
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    return order


def _halved(data: EvalSet, seed: int, spread: bool) -> Ints:
    generator = rng.generator(seed, "auto", "order")
    # By id: the order of the file decides nothing.
    left = np.argsort(rng.stream(data.keys, seed, "auto order"), kind="stable").astype(np.int64)
    points = _points(data) if spread else None
    dropped: list[Ints] = []
    while len(left) > 1 and points is not None:
        stays = np.zeros(len(left), bool)
        # Of an odd number one item, any, sits out: a half that is kept would tell by its size who is in it.
        meet = generator.permutation(len(left))[1:] if len(left) % 2 else np.arange(len(left))
        stays[meet] = draw_local_pivotal(np.full(len(meet), 0.5), points[left[meet]], generator)
        dropped.append(generator.permutation(left[~stays]))
        left = left[stays]
    return np.concatenate([left, *dropped[::-1]])


def _points(data: EvalSet) -> Floats | None:
    """Return where the items lie; None where nothing tells them apart."""
    found = None
    if len(data.metrics):
        found = principal(metric_points(data, tuple(data.metrics)), _DIMENSIONS)
    if has_documents(data):
        middle = np.zeros((len(data), 1)) if found is None else found
        found = with_documents(middle, data.columns[fields.DOCUMENT])
    return found
