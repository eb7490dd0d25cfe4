"""Character n-grams of texts as 64-bit hashes, for a whole batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.base.rng import scramble

Hashes = NDArray[np.uint64]

# Odd, so that it has an inverse among the whole numbers modulo 2**64.
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


@dataclass(frozen=True, eq=False)
class Shingles:
    """The n-grams of several texts, text after text; those of text i start at ``starts[i]``."""

    hashes: Hashes
    starts: Ints


def shingles(texts: Sequence[str], n: int) -> Shingles:
    """Return the hashes of all n-grams of every text, case and white space made alike.

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
    return Shingles(scramble(hashes), starts)


def _powers(base: int, count: int) -> Hashes:
    """Return b⁰, b¹ … modulo 2⁶⁴."""
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers)
