"""Folds of the judged items: what is learned from some is used on the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints, Mask
from sparingly.infer.estimate.sample import Sample


class Split(NamedTuple):
    """Which of the judged rows to learn from, and which to use it on."""

    learn: Mask
    use: Mask


def splits_of(sample: Sample, keys: rng.Keys, folds: int, seed: int) -> list[Split]:
    """Return the splits of the judged rows into folds; with one fold all are learned from and used.

    Folds are of drawn units (items, or documents where documents or a pool of them were drawn), equal in
    size, and hang on a hash of the seed and the ids. ``keys`` are those of all items.
    """
    first = np.unique(sample.cluster, return_index=True)[1]
    count = min(folds, len(first))
    if count < 2:
        everything = np.ones(len(sample.rows), bool)
        return [Split(everything, everything)]
    own = keys[sample.rows[first]]
    order = np.lexsort((own, rng.uniforms(own, seed, "folds")))
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(first)) % count
    of_row = fold[sample.cluster]
    return [Split(of_row != code, of_row == code) for code in range(count)]


def together(sample: Sample) -> Ints | None:
    """Return what must stay in one fold: the units of the draw or of the pool, where not single items.

    One code for every item of the set; None where every judged item is a unit by itself.
    """
    if len(np.unique(sample.cluster)) == len(sample.rows):
        return None
    groups = np.arange(sample.size) + int(sample.cluster.max()) + 1
    groups[sample.rows] = sample.cluster
    return groups
