"""How the outputs of an item differ: vectors made of the differences between its models' embeddings.

All take embeddings (items × models × dimensions) and a mask of those present (items × models), and use the
pairs of models that an item has; models stand in the order of their ids.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.progress import tracked
from sparingly.base.stats.pairs import pair_indices

_EQUAL = 1e-12
_BLOCK_CELLS = 1 << 22
_CACHED_CELLS = 1 << 18


def stacked_differences(vectors: Floats, present: Mask) -> Floats:
    """Return a vector per item whose distances are those of all difference vectors laid end to end.

    As Σ_{j<k} ‖(e_j − e_k) − (e'_j − e'_k)‖² is M·Σ_j ‖(e_j − ē) − (e'_j − ē')‖², √M·(e_j − ē) does; and as
    these add up to 0 over the models, so do M − 1 blocks, their products with M − 1 orthonormal contrasts.
    With two models that is e_1 − e_2. An absent model adds no difference.
    """
    items, models, dimensions = vectors.shape
    # Helmert's contrasts: orthonormal rows, one fewer than models, that add up to 0 each.
    places = np.arange(1, models)
    contrasts = np.tril(np.ones((models - 1, models)))
    contrasts[places - 1, places] = -places
    contrasts /= np.sqrt(places * (places + 1.0))[:, None]
    counts = np.maximum(present.sum(axis=1), 1)[:, None, None]
    firsts = vectors[np.arange(items), present.argmax(axis=1)]
    stacked = np.empty((items, models - 1, dimensions))
    step = max(1, _CACHED_CELLS // max(1, models * dimensions))
    for start in tracked(range(0, items, step)):
        block = slice(start, start + step)
        # Contrasts do not see what is taken off all models alike; equal outputs are then exactly 0.
        offsets = vectors[block] - firsts[block, None]
        absent = ~present[block]
        if absent.any():
            offsets[absent] = 0.0
            offsets -= offsets.sum(axis=1, keepdims=True) / counts[block]
            offsets[absent] = 0.0
        np.matmul(contrasts, offsets, out=stacked[block])
        stacked[block] *= np.sqrt(counts[block])
    return stacked.reshape(items, -1)


def mean_difference(vectors: Floats, present: Mask) -> Floats:
    """Return the mean over pairs of e_j − e_k, first model minus second; it depends on the models' order."""
    counts = present.sum(axis=1, keepdims=True)
    places = np.cumsum(present, axis=1) - 1
    # The t-th of m models is first in m − 1 − t pairs and second in t.
    shares = 2.0 * (counts - 1 - 2 * places) / np.maximum(counts * (counts - 1), 1)
    return np.asarray(np.einsum("ij,ijd->id", np.where(present, shares, 0.0), vectors))


def pair_distances(vectors: Floats, present: Mask) -> Floats:
    """Return ‖e_j − e_k‖ for all pairs of models (items × pairs), NaN where one of the two is missing."""
    first, second = pair_indices(vectors.shape[1])
    result = np.empty((len(vectors), len(first)))
    step = max(1, _BLOCK_CELLS // max(1, vectors[0].size if len(vectors) else 1))
    for start in tracked(range(0, len(vectors), step)):
        block = vectors[start : start + step]
        products = block @ block.transpose(0, 2, 1)
        lengths = np.diagonal(products, axis1=1, axis2=2)
        squares = lengths[:, first] + lengths[:, second] - 2.0 * products[:, first, second]
        squares[squares < _EQUAL] = 0.0
        result[start : start + step] = np.sqrt(squares)
    result[~(present[:, first] & present[:, second])] = np.nan
    return result


def difference_norms(vectors: Floats, present: Mask) -> Floats:
    """Return √(mean over pairs of ‖e_j − e_k‖²) of every item, NaN with fewer than two outputs."""
    squares = pair_distances(vectors, present) ** 2
    counts = (~np.isnan(squares)).sum(axis=1)
    means = np.nansum(squares, axis=1) / np.maximum(counts, 1)
    return np.where(counts > 0, np.sqrt(means), np.nan)


def filled_distances(vectors: Floats, present: Mask) -> Floats:
    """Return the distances of all pairs, the missing ones filled with the mean of the item's others."""
    distances = pair_distances(vectors, present)
    gaps = np.isnan(distances)
    counts = np.maximum((~gaps).sum(axis=1, keepdims=True), 1)
    means = np.nansum(distances, axis=1, keepdims=True) / counts
    return np.where(gaps, means, distances)
