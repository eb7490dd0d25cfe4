"""Texts cut into letters and words, all at once: arrays for a block of texts instead of a loop over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Ints
from sparingly.choose.distil import letters

Hashes = NDArray[np.uint64]

_BLOCK_LETTERS = 1 << 19
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Ragged(NamedTuple):
    """A hash for each of the parts of every text, text after text, and how many parts each text has."""

    hashes: Hashes
    counts: Ints


def blocks(texts: Sequence[str]) -> Iterator[tuple[slice, Spans]]:
    """Yield texts in blocks of limited size, so that memory does not grow with their number."""
    start = held = 0
    for place, text in enumerate(texts):
        if held and held + len(text) > _BLOCK_LETTERS:
            yield slice(start, place), Spans(texts[start:place])
            start, held = place, 0
        held += len(text) + 2
    if start < len(texts):
        yield slice(start, len(texts)), Spans(texts[start:])


@dataclass(frozen=True, eq=False)
class Spans:
    """A block of texts as letters and words; runs of space are one space, and one stands at either end.

    A word is what stands between spaces; where a script has none, every letter is a word.
    """

    texts: Sequence[str]

    @cached_property
    def _padded(self) -> list[str]:
        return [f" {' '.join(text.split())} " for text in self.texts]

    @cached_property
    def lengths(self) -> Ints:
        """The number of letters of every text, with the two spaces around it."""
        return np.fromiter(map(len, self._padded), np.int64, len(self._padded))

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        """All letters."""
        joined = "".join(self._padded).encode("utf-32-le", "surrogatepass")
        # Halves of surrogate pairs and all else below 0x110000 have a place in the table.
        return np.frombuffer(joined, "<u4").astype(np.uint32)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of every letter."""
        return letters.known(self.codes).kind[self.codes]

    @cached_property
    def starts(self) -> Ints:
        """Where every text begins."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def small(self) -> NDArray[np.uint32]:
        """All letters in their small form."""
        return letters.known(self.codes).small[self.codes]

    @cached_property
    def word_starts(self) -> Ints:
        """Where every word begins."""
        table = letters.known(self.codes)
        alone, joins = table.alone[self.codes], table.joins[self.codes]
        space = self.kinds == letters.SPACE
        begins = ~space
        begins[1:] &= space[:-1] | alone[1:] | (alone[:-1] & ~joins[1:])
        return np.flatnonzero(begins)

    @cached_property
    def word_texts(self) -> Ints:
        """The text that every word is in."""
        return np.searchsorted(self.starts, self.word_starts, "right") - 1

    @cached_property
    def word_counts(self) -> Ints:
        """The number of words of every text."""
        return np.bincount(self.word_texts, minlength=len(self.texts)).astype(np.int64)

    @cached_property
    def words(self) -> Hashes:
        """The hash of every word, in small letters."""
        if not len(self.word_starts):
            return np.zeros(0, np.uint64)
        inside = self.kinds != letters.SPACE
        # Letters between two words are spaces only, and these add nothing.
        which = np.cumsum(np.bincount(self.word_starts, minlength=len(self.codes))) - 1
        place = np.arange(len(self.codes)) - self.word_starts[np.maximum(which, 0)]
        mixed = rng.scramble(self.small.astype(np.uint64) + (place.astype(np.uint64) + np.uint64(1)) * _STEP)
        return rng.scramble(np.add.reduceat(np.where(inside, mixed, np.uint64(0)), self.word_starts))

    def sums(self, values: NDArray[np.float64], counts: Ints) -> NDArray[np.float64]:
        """Add up values text by text; a text without any has 0."""
        total = np.zeros(len(counts))
        filled = counts > 0
        if filled.any():
            total[filled] = np.add.reduceat(values, (np.cumsum(counts) - counts)[filled])
        return total
