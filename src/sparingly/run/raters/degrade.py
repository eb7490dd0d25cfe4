"""Degraded outputs: a span of words is replaced by words of another output, so that it must score lower."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np

# Words of a text up to which so many are replaced; a quarter of longer ones. The table is that of the "bad
# references" in direct assessment (Graham, Baldwin, Moffat and Zobel 2017).
_REPLACED = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
# Texts of which more letters than this belong to scripts without spaces are cut into characters.
_MOST_UNSPACED = 0.3
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


def degraded(text: str, others: Iterable[str], random: np.random.Generator) -> str | None:
    """Return a text with a span of its words replaced, or None where no other text gives fitting words.

    The first and the last word stay where there are more than four words. The words come as one span from the
    first of the other texts that is long enough and gives different ones; in scripts without spaces,
    characters stand for words.

    Args:
        text: The output to degrade.
        others: Other outputs, in the order in which they are tried.
        random: Where the draws come from.
    """
    spaced = not is_unspaced(text)
    words = text.split() if spaced else list(text.strip())
    if not words:
        return None
    count = replaced_words(len(words))
    inner = 1 if len(words) > 4 else 0
    start = (
        int(random.integers(inner, len(words) - inner - count + 1)) if len(words) - 2 * inner >= count else 0
    )
    removed = words[start : start + count]
    for other in others:
        if is_unspaced(other) == spaced:
            continue
        donor = other.split() if spaced else list(other.strip())
        if len(donor) < count:
            continue
        at = int(random.integers(0, len(donor) - count + 1))
        span = donor[at : at + count]
        if span != removed:
            return (" " if spaced else "").join([*words[:start], *span, *words[start + count :]])
    return None


def replaced_words(count: int) -> int:
    """Return how many of so many words are replaced."""
    return next((some for most, some in _REPLACED if count <= most), count // 4)


def is_unspaced(text: str) -> bool:
    """Say whether a text is mostly of a script that is written without spaces."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return False
    unspaced = sum(unicodedata.name(letter, "").startswith(_UNSPACED) for letter in letters)
    return unspaced > _MOST_UNSPACED * len(letters)
