"""Character and word n-grams as hashes: nothing is unknown, and memory does not grow with the vocabulary."""

from __future__ import annotations

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints
from sparingly.choose.distil.spans import Hashes, Ragged, Spans

CHARACTER_ORDERS = (2, 3, 4)
_ROLL, _WORDS, _PAIRS = np.uint64(0x100000001B3), np.uint64(0x51ED27), np.uint64(0xA5B35705)


def character_ngrams(spans: Spans, orders: tuple[int, ...] = CHARACTER_ORDERS) -> Ragged:
    """Return the hashes of the character n-grams of every text, in small letters."""
    mixed = rng.scramble(spans.small.astype(np.uint64))
    left = np.repeat(np.cumsum(spans.lengths), spans.lengths) - np.arange(len(mixed))
    hashed, columns, inside = mixed.copy(), [], []
    for order in range(2, max(orders) + 1):
        following = np.zeros_like(mixed)
        following[: 1 - order] = mixed[order - 1 :]
        hashed = rng.scramble(hashed * _ROLL + following)
        if order in orders:
            columns.append(hashed)
            inside.append(left >= order)
    kept = np.stack(inside, axis=1)
    counts = np.add.reduceat(kept.sum(axis=1), spans.starts).astype(np.int64)
    return Ragged(np.stack(columns, axis=1)[kept], counts)


def word_ngrams(spans: Spans) -> Ragged:
    """Return the hashes of the words and of the pairs of words of every text."""
    words, text = spans.words, spans.word_texts
    paired = np.zeros(len(words), bool)
    paired[:-1] = text[1:] == text[:-1]
    following = np.zeros_like(words)
    following[:-1] = words[1:]
    pairs = rng.scramble(words * _ROLL + following + _PAIRS)
    kept = np.stack([np.ones(len(words), bool), paired], axis=1)
    counts = spans.word_counts + np.maximum(spans.word_counts - 1, 0)
    return Ragged(np.stack([rng.scramble(words ^ _WORDS), pairs], axis=1)[kept], counts)


def places(hashes: Hashes, bits: int) -> Ints:
    """Return the place of every hash among 2^bits."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)
