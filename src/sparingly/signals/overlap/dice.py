"""Dice overlap of words, or of characters in scripts without spaces, between all outputs of an item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.signals.length import text_length
from sparingly.signals.overlap.ngrams import ngram_totals, shared_ngrams
from sparingly.signals.overlap.pairs import Block
from sparingly.signals.overlap.tokens import listed


@dataclass(frozen=True)
class Dice:
    """Dice's coefficient of the n-grams of two texts, 0 to 1: 2·Σ_g min(a_g, b_g) / (Σ_g a_g + Σ_g b_g).

    Tokens are words as white space parts them, or characters where the outputs of an item are in a script
    that puts no spaces between words. A text of fewer than n tokens is one n-gram: equal to such a text with
    the same tokens, and to nothing else.

    Attributes:
        order: The n of the n-grams: 1 for single words, 2 for bigrams.
    """

    order: int = 1
    block_size: ClassVar[int] = 2**18

    def between(self, block: Block) -> Floats:
        """Return the overlap of every two texts of an item."""
        places = block.places
        bounds = np.searchsorted(places.item, np.arange(places.items + 1))
        unspaced = np.repeat(
            [
                is_unspaced(block.texts[low:high])
                for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
            ],
            np.diff(bounds),
        )
        tokens = listed(tokenised(block.texts, unspaced, self.order))
        *_, shared = shared_ngrams(tokens, places, self.order)
        totals = ngram_totals(tokens, places, self.order)
        # Two slots without a text have no n-grams, and their number does not matter.
        return np.asarray(2 * shared / np.maximum(totals[:, :, None] + totals[:, None, :], 1))


def is_unspaced(texts: Sequence[str]) -> bool:
    """Whether texts, taken together, are in a script that puts no spaces between words."""
    if all(map(str.isascii, texts)):
        return False
    together = " ".join(texts)
    return text_length(together) != len(together.split())


def tokenised(texts: Sequence[str], unspaced: NDArray[np.bool_], least: int) -> list[list[str]]:
    """Cut texts into words or characters; short texts are filled up with empty tokens."""
    cut = [
        list("".join(text.split())) if by_character else text.split()
        for text, by_character in zip(texts, unspaced.tolist(), strict=True)
    ]
    return [tokens + [""] * (least - len(tokens)) for tokens in cut]
