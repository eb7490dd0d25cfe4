"""Near duplicates by MinHash: how alike two texts are, told from 128 bytes of each.

Of a text's character 5-grams, 128 hash functions each keep the smallest value; two texts agree in a function
with the probability of their Jaccard similarity J (Broder 1997). One byte of each value is kept, so that
values that differ agree by chance once in 256 times, which the estimate takes off (Li and König 2010). Texts
meet when all 8 bytes of one of 16 bands agree: with J = 0.9 they meet with probability 0.9999, with J = 0.8
in 0.95, with J = 0.5 in 0.06 of the cases, and only then is J estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.rng import generator
from sparingly.choose.pool.shingles import shingles

Bands = NDArray[np.uint64]

BANDS, ROWS_OF_A_BAND = 16, 8
GRAM = 5
_FUNCTIONS = BANDS * ROWS_OF_A_BAND
# So many letters at once stay in the processor's cache.
_LETTERS = 2**17
_CHANCE = 1 / 256


def bands_of(texts: Sequence[str]) -> Bands:
    """Return the bands of every text, bands × texts: eight bytes of MinHash each."""
    slices, letters = [0], 0
    for place, text in enumerate(texts):
        letters += len(text)
        if letters > _LETTERS and place > slices[-1]:
            slices.append(place)
            letters = len(text)
    slices.append(len(texts))
    blocks = [_minima(texts[start:stop]) for start, stop in pairwise(slices)]
    bytes_of = np.concatenate(blocks, axis=1) if blocks else np.empty((_FUNCTIONS, 0), np.uint8)
    grouped = bytes_of.reshape(BANDS, ROWS_OF_A_BAND, -1).transpose(0, 2, 1)
    return np.ascontiguousarray(grouped).view("<u8")[:, :, 0]


def _minima(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return a byte of the smallest value of every function, functions × texts."""
    if not texts:
        return np.empty((_FUNCTIONS, 0), np.uint8)
    grams = shingles(texts, GRAM)
    values = (grams.hashes >> np.uint64(32)).astype(np.uint32)
    draws = generator(0, "minhash").integers(0, 2**32, (_FUNCTIONS, 2), dtype=np.uint32)
    found, work = np.empty((_FUNCTIONS, len(texts)), np.uint32), np.empty_like(values)
    for place, (factor, shift) in enumerate(draws):
        np.multiply(values, factor | np.uint32(1), out=work)
        work += shift
        found[place] = np.minimum.reduceat(work, grams.starts)
    return np.asarray((found * np.uint32(0x9E3779B1)) >> np.uint32(24), np.uint8)


def similarity(one: Bands, other: Bands) -> Floats:
    """Return the estimated Jaccard similarity of texts by their bands; its sd at 0.8 is 0.035."""
    same = np.zeros(one.shape[1])
    for first, second in zip(one, other, strict=True):
        agree = np.ascontiguousarray(first).view(np.uint8) == np.ascontiguousarray(second).view(np.uint8)
        same += agree.reshape(-1, ROWS_OF_A_BAND).sum(axis=1)
    return np.maximum((same / _FUNCTIONS - _CHANCE) / (1 - _CHANCE), 0.0)


def near_duplicates(
    count: int, band: Callable[[int], NDArray[np.uint64]], bands_at: Callable[[Ints], Bands], least: float
) -> Mask:
    """Return which texts have one like them before them in the list.

    Within a band, every text is compared with the first of those that it agrees with; it goes when they are
    at least so much alike. So a text never goes for one that stands after it, and which ones go depends on
    the order of the list alone. One band at a time is in memory.

    Args:
        count: How many texts there are.
        band: The values of one band of all texts.
        bands_at: All bands of some texts.
        least: The similarity from which on a text is a near duplicate.
    """
    gone = np.zeros(count, bool)
    for place in range(BANDS):
        values = band(place)
        order = np.argsort(values, kind="stable")
        starts = np.r_[True, values[order[1:]] != values[order[:-1]]][: len(order)]
        heads = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        pairs = np.flatnonzero(~starts & ~gone[order])
        for start in range(0, len(pairs), 2**16):
            block = pairs[start : start + 2**16]
            alike = similarity(bands_at(order[block]), bands_at(heads[block])) >= least
            gone[order[block][alike]] = True
    return gone
