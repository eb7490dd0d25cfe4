"""Near duplicates by embeddings: vectors with a large cosine, found without comparing all with all.

Every vector has a sketch of 256 bits: on which side of 256 random hyperplanes it lies. Two vectors at an
angle θ differ in a bit with probability θ/π (Charikar 2002). Sorted by their bits, from each of 16 places on,
near vectors come to stand near each other, and each is compared with the 8 before it; so the number of bits
that must agree grows with the pool by itself, as in a forest of prefix trees (Bawa, Condie and Ganesan 2005).
Where the bits do not tell that two are far apart, their cosine is computed. Among 200,000 random vectors, 83
of 100 pairs with a cosine of 0.9 are found, 98 with 0.95, and all but one in a thousand with 0.98. With N
vectors about b = log₂(N/8) bits must agree in one list: about 1 − (1 − (1 − θ/π)ᵇ)¹⁶ of the pairs are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.rng import generator
from sparingly.choose.pool.crew import Alone, Crew

Vectors = NDArray[np.float16]
Words = NDArray[np.uint64]

WORDS, WINDOW = 4, 8
_BITS, _TURNS = 64, 4
_STEPS = 2048
_PAIRS, _HELD = 2**18, 2**20
_HALF = 32
_ALONE = Alone()


def sketches_of(vectors: Vectors) -> Words:
    """Return the sketches of vectors of length 1, words × vectors.

    Coordinates are rounded to 1/2048, so that sums are whole numbers that single precision holds: the bits
    are the same on every machine.
    """
    signs = generator(0, "sketches").integers(0, 2, (vectors.shape[1], WORDS * _BITS), dtype=np.int8)
    planes = (2 * signs - 1).astype(np.float32)
    steps = np.rint(vectors.astype(np.float32) * _STEPS)
    packed = np.packbits(steps @ planes > 0, axis=1)
    return np.ascontiguousarray(packed.view("<u8").T.astype(np.uint64))


def near_vectors(
    words: Words,
    vectors_at: Callable[[Ints], Vectors],
    least: float,
    crew: Crew = _ALONE,
    folder: Path | None = None,
) -> Mask:
    """Return which vectors have one before them in the list to which their cosine is at least so large.

    A vector never goes for one that stands after it, and which ones go depends on the order of the list
    alone, whoever makes the sorted lists.

    Args:
        words: The sketches, words × vectors.
        vectors_at: The vectors of some places.
        least: The cosine from which on a vector is a near duplicate.
        crew: Who makes the sorted lists.
        folder: A folder that the whole crew sees, for the sketches; None to hand them over.
    """
    gone = np.zeros(words.shape[1], bool)
    with _handed_over(words, folder) as shared:
        for _, codes in crew.each(pairs_of_list, range(WORDS * _TURNS), shared, _most_bits(least)):
            open_ones = codes[~gone[codes >> _HALF]]
            # Many pairs at once, so that every file of vectors is opened seldom.
            for start in range(0, len(open_ones), _HELD):
                _compare(open_ones[start : start + _HELD], vectors_at, least, gone)
    return gone


@contextmanager
def _handed_over(words: Words, folder: Path | None) -> Iterator[Words | Path]:
    if folder is None:
        yield words
        return
    with NamedTemporaryFile(dir=folder, prefix=".sketches-", suffix=".npy", delete=False) as file:
        np.save(file, words)
    try:
        yield Path(file.name)
    finally:
        Path(file.name).unlink()


def pairs_of_list(place: int, shared: Words | Path, most: float) -> Ints:
    """Return the pairs that stand near each other in one sorted list and differ in few bits.

    A pair is one number: the place of the later one in its upper half, that of the earlier in its lower.
    """
    words: Words = np.load(shared, mmap_mode="r") if isinstance(shared, Path) else shared
    turn, word = divmod(place, WORDS)
    shift = np.uint64(turn * _BITS // _TURNS)
    turned = (words[word] << shift) | (words[word] >> (np.uint64(_BITS) - shift)) if turn else words[word]
    order = np.argsort(turned, kind="stable")
    found = [np.zeros(0, np.int64)]
    for gap in range(1, min(WINDOW, len(order) - 1) + 1):
        for start in range(0, len(order) - gap, _PAIRS):
            stop = min(start + _PAIRS, len(order) - gap)
            one, other = order[start:stop], order[start + gap : stop + gap]
            near = _differing(words, one, other) <= most
            earlier, later = np.minimum(one[near], other[near]), np.maximum(one[near], other[near])
            found.append(later << _HALF | earlier)
    return np.unique(np.concatenate(found))


def _compare(codes: Ints, vectors_at: Callable[[Ints], Vectors], least: float, gone: Mask) -> None:
    """Mark the later one of every pair that is near enough."""
    pairs = np.stack([codes & (2**_HALF - 1), codes >> _HALF])
    rows, places = np.unique(pairs, return_inverse=True)
    earlier, later = places.reshape(pairs.shape)
    vectors = vectors_at(rows)
    for start in range(0, len(later), _PAIRS):
        block = slice(start, start + _PAIRS)
        alike = cosines(vectors[earlier[block]], vectors[later[block]]) >= least
        gone[pairs[1, block][alike]] = True


def _most_bits(least: float) -> float:
    """Return the number of bits in which vectors that near differ at most: the mean and 3 deviations."""
    bits, share = WORDS * _BITS, float(np.arccos(min(least, 1.0)) / np.pi)
    return bits * share + 3.0 * float(np.sqrt(bits * share * (1.0 - share)))


def _differing(words: Words, one: Ints, other: Ints) -> Ints:
    counts = np.zeros(len(one), np.int64)
    for word in words:
        counts += np.bitwise_count(word[one] ^ word[other])
    return counts


def cosines(one: Vectors, other: Vectors) -> Floats:
    """Return the cosines of vectors, row by row; 0 where one of them is 0."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    products = np.einsum("ij,ij->i", first, second)
    lengths = np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second)
    return np.asarray(products / np.sqrt(np.where(lengths > 0, lengths, 1.0)))
