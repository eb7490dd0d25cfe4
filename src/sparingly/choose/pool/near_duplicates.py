"""Near duplicates: by MinHash of character n-grams, and by sketches of embeddings.

MinHash: of a text's character 5-grams, 128 hash functions each keep the smallest value; two texts agree in a
function with the probability of their Jaccard similarity J (Broder 1997). One byte of each value is stored,
so that values that differ agree by chance once in 256 times, which the estimate corrects (Li and König 2010).
Texts become candidates when all 8 bytes of one of 16 bands agree: with J = 0.9 with probability 0.9999, with
J = 0.8 in 0.95, with J = 0.5 in 0.06 of the cases, and only then is J estimated. Our own code, because
datasketch (2.0) hashes one text at a time: 1,000 texts of 120 letters take it 6.1 s, and this 0.06 s.

Sketches: every vector has 256 bits, on which side of 256 random hyperplanes it lies. Two vectors at an angle
θ differ in a bit with probability θ/π (Charikar 2002). Sorted by their bits, from each of 16 places on, near
vectors come to stand near each other, and each is compared with the 8 before it; so the number of bits that
must agree grows with the pool by itself, as in a forest of prefix trees (Bawa, Condie and Ganesan 2005).
Where the bits do not rule out a pair, its cosine is computed. Among 200,000 random vectors, 83 of 100 pairs
with a cosine of 0.9 are found, 98 with 0.95, and all but one in a thousand with 0.98. With N vectors about b
= log₂(N/8) bits must agree in one list: about 1 − (1 − (1 − θ/π)ᵇ)¹⁶ of the pairs are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.rng import generator, scramble
from sparingly.choose.pool.workers import Executor, SerialExecutor

NgramHashes = NDArray[np.uint64]

# Odd, so that it has an inverse among the whole numbers modulo 2**64.
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


def ngram_hashes(texts: Sequence[str], n: int) -> tuple[NgramHashes, Ints]:
    """Return the hashes of all n-grams, text after text, and where those of every text start.

    Case and white space are made alike.

    With S the running sum of c_k·b^k over the letters c, the n-gram at k has the hash (S_{k+n} − S_k)·b^{−k}
    modulo 2⁶⁴, mixed: one pass, whatever n is. A text shorter than n is one n-gram, an empty one too.
    """
    plain = [" ".join(text.lower().split()) or " " for text in texts]
    lengths = np.fromiter(map(len, plain), np.int64, len(plain))
    points = np.frombuffer("".join(plain).encode("utf-32-le", "surrogatepass"), "<u4")
    letters = scramble(points.astype(np.uint64) + np.uint64(1))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(letters * _powers(_BASE, len(letters)))])
    counts = np.maximum(lengths - n + 1, 1)
    starts = np.cumsum(counts) - counts
    # The place in the letters of every n-gram, and where it ends.
    place = np.arange(int(counts.sum())) + np.repeat(np.cumsum(lengths) - lengths - starts, counts)
    end = place + np.repeat(np.minimum(lengths, n), counts)
    hashes = (sums[end] - sums[place]) * _powers(_INVERSE, len(letters))[place]
    return scramble(hashes), starts


def _powers(base: int, count: int) -> NgramHashes:
    """Return b⁰, b¹ … modulo 2⁶⁴."""
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers)


Bands = NDArray[np.uint64]

BANDS, ROWS_OF_A_BAND = 16, 8
GRAM = 5
_FUNCTIONS = BANDS * ROWS_OF_A_BAND
_LETTERS = 2**17
_CHANCE = 1 / 256


def letter_blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield texts in blocks of so few letters that they stay in the processor's cache."""
    reach = np.cumsum([len(text) for text in texts], dtype=np.int64) // _LETTERS
    starts = np.flatnonzero(np.diff(reach, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(texts)]):
        yield texts[start:stop]


def bands_of(texts: Sequence[str]) -> Bands:
    """Return the bands of every text, bands × texts: eight bytes of MinHash each."""
    blocks = [_minima(block) for block in letter_blocks(texts)]
    bytes_of = np.concatenate(blocks, axis=1) if blocks else np.empty((_FUNCTIONS, 0), np.uint8)
    grouped = bytes_of.reshape(BANDS, ROWS_OF_A_BAND, -1).transpose(0, 2, 1)
    return np.ascontiguousarray(grouped).view("<u8")[:, :, 0]


def _minima(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return a byte of the smallest value of every function, functions × texts."""
    hashes, starts = ngram_hashes(texts, GRAM)
    values = (hashes >> np.uint64(32)).astype(np.uint32)
    draws = generator(0, "minhash").integers(0, 2**32, (_FUNCTIONS, 2), dtype=np.uint32)
    minima, work = np.empty((_FUNCTIONS, len(texts)), np.uint32), np.empty_like(values)
    for place, (factor, shift) in enumerate(draws):
        np.multiply(values, factor | np.uint32(1), out=work)
        work += shift
        minima[place] = np.minimum.reduceat(work, starts)
    return np.asarray((minima * np.uint32(0x9E3779B1)) >> np.uint32(24), np.uint8)


def similarity(first_bands: Bands, second_bands: Bands) -> Floats:
    """Return the estimated Jaccard similarity of texts by their bands; its sd at 0.8 is 0.035."""
    agreements = np.zeros(first_bands.shape[1])
    for first, second in zip(first_bands, second_bands, strict=True):
        agree = np.ascontiguousarray(first).view(np.uint8) == np.ascontiguousarray(second).view(np.uint8)
        agreements += agree.reshape(-1, ROWS_OF_A_BAND).sum(axis=1)
    return np.maximum((agreements / _FUNCTIONS - _CHANCE) / (1 - _CHANCE), 0.0)


def near_duplicates(
    count: int, band: Callable[[int], NDArray[np.uint64]], bands_at: Callable[[Ints], Bands], threshold: float
) -> Mask:
    """Return which texts have a near duplicate before them in the list.

    Within a band, every text is compared with the first of those that it agrees with; it goes when they are
    at least so much alike. So a text never goes for one that stands after it, and which ones go depends on
    the order of the list alone. One band at a time is in memory: ``band`` gives the values of one of all
    texts, ``bands_at`` all bands of some texts.
    """
    duplicate = np.zeros(count, bool)
    for place in range(BANDS):
        values = band(place)
        order = np.argsort(values, kind="stable")
        starts = np.r_[True, values[order[1:]] != values[order[:-1]]][: len(order)]
        heads = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        pairs = np.flatnonzero(~starts & ~duplicate[order])
        for start in range(0, len(pairs), 2**16):
            block = pairs[start : start + 2**16]
            alike = similarity(bands_at(order[block]), bands_at(heads[block])) >= threshold
            duplicate[order[block][alike]] = True
    return duplicate


Vectors = NDArray[np.float16]
Words = NDArray[np.uint64]

WORDS, WINDOW = 4, 8
_BITS, _TURNS = 64, 4
_STEPS = 2048
_PAIRS, _PAIRS_IN_MEMORY = 2**18, 2**20
_PLACE_BITS = 32
_SERIAL = SerialExecutor()


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
    threshold: float,
    executor: Executor = _SERIAL,
    folder: Path | None = None,
) -> Mask:
    """Return which vectors have one before them in the list with a cosine of at least ``threshold``.

    A vector never goes for one that stands after it, and which ones go depends on the order of the list
    alone, not on the executor, which makes the sorted lists. ``words`` are the sketches, words × vectors;
    without a folder that all workers see they are passed in memory. ``vectors_at`` gives vectors by place.
    """
    duplicate = np.zeros(words.shape[1], bool)
    shared: Words | Path = words
    # In how many bits vectors that near differ at most: the mean and 3 deviations.
    bits, share = WORDS * _BITS, float(np.arccos(min(threshold, 1.0)) / np.pi)
    most_bits = bits * share + 3.0 * float(np.sqrt(bits * share * (1.0 - share)))
    with ExitStack() as stack:
        if folder is not None:
            with NamedTemporaryFile(dir=folder, prefix=".sketches-", suffix=".npy", delete=False) as file:
                np.save(file, words)
            shared = Path(file.name)
            stack.callback(Path(file.name).unlink)
        for _, codes in executor.map_unordered(pairs_of_list, range(WORDS * _TURNS), shared, most_bits):
            open_ones = codes[~duplicate[codes >> _PLACE_BITS]]
            # Many pairs at once, so that every file of vectors is opened seldom.
            for start in range(0, len(open_ones), _PAIRS_IN_MEMORY):
                _compare(open_ones[start : start + _PAIRS_IN_MEMORY], vectors_at, threshold, duplicate)
    return duplicate


def pairs_of_list(place: int, shared: Words | Path, limit: float) -> Ints:
    """Return the pairs that stand near each other in one sorted list and differ in few bits.

    A pair is one number: the place of the later one in its upper half, that of the earlier in its lower.
    """
    words: Words = np.load(shared, mmap_mode="r") if isinstance(shared, Path) else shared
    turn, word = divmod(place, WORDS)
    shift = np.uint64(turn * _BITS // _TURNS)
    rotated = (words[word] << shift) | (words[word] >> (np.uint64(_BITS) - shift)) if turn else words[word]
    order = np.argsort(rotated, kind="stable")
    codes = [np.zeros(0, np.int64)]
    for gap in range(1, min(WINDOW, len(order) - 1) + 1):
        for start in range(0, len(order) - gap, _PAIRS):
            stop = min(start + _PAIRS, len(order) - gap)
            left, right = order[start:stop], order[start + gap : stop + gap]
            differing = np.zeros(stop - start, np.int64)
            for bits in words:
                differing += np.bitwise_count(bits[left] ^ bits[right])
            near = differing <= limit
            earlier, later = np.minimum(left[near], right[near]), np.maximum(left[near], right[near])
            codes.append(later << _PLACE_BITS | earlier)
    return np.unique(np.concatenate(codes))


def _compare(codes: Ints, vectors_at: Callable[[Ints], Vectors], threshold: float, duplicate: Mask) -> None:
    """Mark the later one of every pair that is near enough."""
    pairs = np.stack([codes & (2**_PLACE_BITS - 1), codes >> _PLACE_BITS])
    rows, places = np.unique(pairs, return_inverse=True)
    earlier, later = places.reshape(pairs.shape)
    vectors = vectors_at(rows)
    for start in range(0, len(later), _PAIRS):
        block = slice(start, start + _PAIRS)
        alike = cosines(vectors[earlier[block]], vectors[later[block]]) >= threshold
        duplicate[pairs[1, block][alike]] = True


def cosines(left_vectors: Vectors, right_vectors: Vectors) -> Floats:
    """Return the cosines of vectors, row by row; 0 where one of them is 0."""
    first, second = left_vectors.astype(np.float64), right_vectors.astype(np.float64)
    products = np.einsum("ij,ij->i", first, second)
    lengths = np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second)
    return np.asarray(products / np.sqrt(np.where(lengths > 0, lengths, 1.0)))
