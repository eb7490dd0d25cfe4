"""The built-in embedding: character 2- to 4-grams, TF-IDF weighted, reduced by singular values.

It needs no download and handles every script. With t the number of times an n-gram is in a text and f the
number of texts (of N) that it is in, the weight is (1 + ln t)·(1 + ln((1 + N)/(1 + f))), texts are scaled to
length 1, and the vectors are projected on the axes of the largest singular values (Deerwester et al. 1990).
N-grams are counted in 2¹⁶ hashed places, so that every n-gram has a place and memory does not grow with the
vocabulary. The axes come from at most 4096 of the texts, taken by a hash of their content: neither the order
of the texts nor how often one of them is there changes anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.lazy import sparse
from sparingly.base.progress import report_progress
from sparingly.base.stats.moments import principal_axes

DIMENSIONS = 256
VERSION = "tfidf-1"

_ORDERS = (2, 3, 4)
_PLACES = 16  # bits
_FIT_TEXTS = 4096
_SPARE_AXES = 16
_BLOCK_LETTERS = 1 << 20
_ROLL = np.uint64(0x100000001B3)


def tfidf_vectors(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Floats:
    """Return a vector for each of some distinct texts (texts × at most ``dimensions``), not yet unit length.

    With no more texts than dimensions the projection is exact: products of vectors are the TF-IDF cosines.
    """
    if not texts:
        return np.zeros((0, 1))
    keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
    fit_rows = np.sort(sorted(range(len(texts)), key=keys.__getitem__)[:_FIT_TEXTS])
    # TF-IDF weights with rows of length 1; document frequencies come from the texts of the fit.
    counts = ngram_counts(texts)
    texts_with = np.bincount(counts[fit_rows].indices, minlength=counts.shape[1])
    rarity = 1.0 + np.log((1.0 + len(fit_rows)) / (1.0 + texts_with))
    weights = (1.0 + np.log(counts.data)) * rarity[counts.indices]
    starts = counts.indptr[:-1]
    norms = np.sqrt(np.add.reduceat(weights * weights, starts))
    weights /= np.repeat(norms, np.diff(counts.indptr))
    weighted = sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    # Places that no fitted text uses have no part in any axis.
    used_places = np.unique(weighted[fit_rows].indices)
    weighted = weighted[:, used_places]
    vectors = np.asarray(weighted @ singular_axes(weighted[fit_rows], dimensions))
    # A text that shares no n-gram with those of the fit gets a direction from a hash of its content.
    for row in np.flatnonzero(np.linalg.norm(vectors, axis=1) < 1e-9).tolist():
        hashed = np.frombuffer(keys[row], "<u8")[:1]
        vectors[row] = rng.uniforms(rng.words(hashed, 0, vectors.shape[1])[0], 0, VERSION) - 0.5
    return vectors


def ngram_counts(texts: Sequence[str]) -> sparse.csr_array:
    """Count the character n-grams of every text (texts × hashed places); case and runs of space do not count.

    A space is put on either side, so that words differ from their parts and one letter is an n-gram too.
    """
    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    lengths = np.fromiter(map(len, padded), np.int64, len(padded))
    reach = np.cumsum(lengths)
    blocks: list[Any] = []
    start = 0
    while start < len(padded):
        limit = reach[start] - lengths[start] + _BLOCK_LETTERS
        stop = max(start + 1, int(np.searchsorted(reach, limit, "right")))
        places, ends = _hashed_ngrams(padded[start:stop], lengths[start:stop])
        shape = (stop - start, 1 << _PLACES)
        block = sparse.csr_array((np.ones(len(places)), places, ends), shape=shape)
        block.sum_duplicates()
        blocks.append(block)
        start = stop
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _hashed_ngrams(padded: list[str], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int32], Any]:
    """Return the places of all n-grams, text after text, and where the n-grams of every text end."""
    encoded = "".join(padded).encode("utf-32-le", "surrogatepass")
    letters = rng.scramble(np.frombuffer(encoded, "<u4").astype(np.uint64))
    remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(letters))
    hashed = letters.copy()
    columns, inside = [], []
    for order in range(2, max(_ORDERS) + 1):
        following = np.zeros_like(letters)
        following[: 1 - order] = letters[order - 1 :]
        hashed = rng.scramble(hashed * _ROLL + following)
        if order in _ORDERS:
            columns.append((hashed >> np.uint64(64 - _PLACES)).astype(np.int32))
            inside.append(remaining >= order)
    complete = np.stack(inside, axis=1)
    counts = np.add.reduceat(complete.sum(axis=1), np.cumsum(lengths) - lengths)
    return np.stack(columns, axis=1)[complete], np.concatenate([[0], np.cumsum(counts)])


def singular_axes(matrix: sparse.csr_array, count: int) -> Floats:
    """Return the right singular vectors (columns × axes) of the largest singular values.

    Randomised with one power step (Halko, Martinsson and Tropp 2011, alg. 4.4) from fixed random signs; exact
    when the matrix has few more rows than requested axes. The parts of an axis never sum to less than 0.
    """
    transposed = matrix.T.tocsr()
    rows = matrix.shape[0]
    if rows <= count + _SPARE_AXES:
        projected = transposed
        inner = (matrix @ transposed).toarray()
    else:
        shape = (matrix.shape[1], count + _SPARE_AXES)
        random_bytes = rng.generator(0, VERSION).bytes(-(-shape[0] * shape[1] // 8))
        bits = np.unpackbits(np.frombuffer(random_bytes, np.uint8))[: shape[0] * shape[1]]
        signs = np.asarray(2.0 * bits.reshape(shape) - 1.0, np.float64)
        report_progress(0, 4)
        basis, _ = np.linalg.qr(matrix @ signs)
        report_progress(1, 4)
        basis, _ = np.linalg.qr(matrix @ (transposed @ basis))
        report_progress(3, 4)
        projected = transposed @ basis
        inner = projected.T @ projected
    axes = np.asarray(projected @ principal_axes(inner, count, 1e-12))
    axes *= np.where(axes.sum(axis=0) < 0, -1.0, 1.0)
    return axes
