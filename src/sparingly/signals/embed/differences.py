"""How the outputs of an item differ: vectors made of the differences between its models' embeddings.

All take embeddings (items × models × dimensions) and where there is one (items × models), and use the pairs
of models that an item has; models stand in the order of their ids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.stats.pairs import pair_indices

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_EQUAL = 1e-12
_BLOCK_CELLS = 1 << 22


def stacked_differences(vectors: Floats, there: Flags) -> Floats:
    """Return a vector per item whose distances are those of all difference vectors laid end to end.

    √M·(e_ij − ē_i) for the models j: as Σ_{j<k} ‖(e_j − e_k) − (e'_j − e'_k)‖² is
    M·Σ_j ‖(e_j − ē) − (e'_j − ē')‖², M blocks do for M(M − 1)/2. With two models it is e_1 − e_2 up to a
    rotation. A model that an item lacks differs in nothing.
    """
    counts = np.maximum(there.sum(axis=1), 1)[:, None, None]
    known = np.where(there[:, :, None], vectors, 0.0)
    deviations = np.where(there[:, :, None], known - known.sum(axis=1, keepdims=True) / counts, 0.0)
    return np.asarray(np.sqrt(counts) * deviations).reshape(len(vectors), -1)


def mean_difference(vectors: Floats, there: Flags) -> Floats:
    """Return the mean over pairs of e_j − e_k, first model minus second; it hangs on the models' order."""
    counts = there.sum(axis=1, keepdims=True)
    places = np.cumsum(there, axis=1) - 1
    # The t-th of m models is first in m − 1 − t pairs and second in t.
    shares = 2.0 * (counts - 1 - 2 * places) / np.maximum(counts * (counts - 1), 1)
    return np.asarray(np.einsum("ij,ijd->id", np.where(there, shares, 0.0), vectors))


def pair_distances(vectors: Floats, there: Flags) -> Floats:
    """Return ‖e_j − e_k‖ for all pairs of models (items × pairs), NaN where one of the two is missing."""
    first, second = pair_indices(vectors.shape[1])
    result = np.empty((len(vectors), len(first)))
    step = max(1, _BLOCK_CELLS // max(1, vectors[0].size if len(vectors) else 1))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        products = block @ block.transpose(0, 2, 1)
        lengths = np.diagonal(products, axis1=1, axis2=2)
        squares = lengths[:, first] + lengths[:, second] - 2.0 * products[:, first, second]
        squares[squares < _EQUAL] = 0.0
        result[start : start + step] = np.sqrt(squares)
    result[~(there[:, first] & there[:, second])] = np.nan
    return result


def difference_norms(vectors: Floats, there: Flags) -> Floats:
    """Return √(mean over pairs of ‖e_j − e_k‖²) of every item, NaN with fewer than two outputs."""
    squares = pair_distances(vectors, there) ** 2
    counts = (~np.isnan(squares)).sum(axis=1)
    means = np.nansum(squares, axis=1) / np.maximum(counts, 1)
    return np.where(counts > 0, np.sqrt(means), np.nan)


def filled_distances(vectors: Floats, there: Flags) -> Floats:
    """Return the distances of all pairs, the missing ones filled with the mean of the item's others."""
    distances = pair_distances(vectors, there)
    gaps = np.isnan(distances)
    counts = np.maximum((~gaps).sum(axis=1, keepdims=True), 1)
    means = np.nansum(distances, axis=1, keepdims=True) / counts
    return np.where(gaps, means, distances)
