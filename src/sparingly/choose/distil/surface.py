"""What a source looks like, in a few numbers: how long, how rare, how varied; digits, signs and names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.choose.distil import letters
from sparingly.choose.distil.ngrams import places
from sparingly.choose.distil.spans import Spans

NAMES = (
    "log words",
    "log letters",
    "letters per word",
    "rarity",
    "rarest word",
    "type–token ratio",
    "digits",
    "punctuation",
    "name-like words",
)
WORD_BITS = 16


def surface(spans: Spans, rarity: NDArray[np.float32]) -> Floats:
    """Return the numbers in ``NAMES`` for every text, texts × numbers.

    Rarity is the mean over words of ln((1 + N)/(1 + f)), where f of the N training texts have the word; the
    type–token ratio is distinct words by words; digits and punctuation are shares of the letters; a word is
    like a name where it has a capital although it does not begin a sentence.
    """
    words = np.maximum(spans.word_counts, 1)
    shown = np.maximum(spans.lengths - 2, 1)
    rare = rarity[places(spans.words, WORD_BITS)].astype(np.float64)
    return np.stack(
        [
            np.log1p(spans.word_counts),
            np.log1p(shown),
            shown / words,
            spans.sums(rare, spans.word_counts) / words,
            _largest(rare, spans.word_counts),
            _distinct(spans) / words,
            _of_kind(spans, letters.DIGIT) / shown,
            _of_kind(spans, letters.SIGN) / shown,
            _names(spans) / words,
        ],
        axis=1,
    )


def word_rarity(counts: Ints, texts: int) -> NDArray[np.float32]:
    """Return how rare a word of every place is, from the number of texts that have one."""
    return np.asarray(np.log((1.0 + texts) / (1.0 + counts)), np.float32)


def _largest(values: Floats, counts: Ints) -> Floats:
    found = np.zeros(len(counts))
    filled = counts > 0
    if filled.any():
        found[filled] = np.maximum.reduceat(values, (np.cumsum(counts) - counts)[filled])
    return found


def _distinct(spans: Spans) -> Ints:
    """Count the different words of every text."""
    order = np.lexsort((spans.words, spans.word_texts))
    words, text = spans.words[order], spans.word_texts[order]
    first = np.ones(len(words), bool)
    first[1:] = (words[1:] != words[:-1]) | (text[1:] != text[:-1])
    return np.bincount(text[first], minlength=len(spans.texts))


def _of_kind(spans: Spans, kind: int) -> Ints:
    return np.add.reduceat((spans.kinds == kind).astype(np.int64), spans.starts)


def _names(spans: Spans) -> Ints:
    """Count the words with a first capital that follow a word which ends no sentence."""
    starts = spans.word_starts
    if not len(starts):
        return np.zeros(len(spans.texts), np.int64)
    ends = letters.known(spans.codes).ends[spans.codes]
    # The last letter before a word is that of the word before, with at most one space between them.
    before = np.where(spans.kinds[starts - 1] == letters.SPACE, starts - 2, starts - 1)
    inside = np.zeros(len(starts), bool)
    inside[1:] = spans.word_texts[1:] == spans.word_texts[:-1]
    named = inside & (spans.kinds[starts] == letters.CAPITAL) & ~ends[np.maximum(before, 0)]
    return np.bincount(spans.word_texts[named], minlength=len(spans.texts))
