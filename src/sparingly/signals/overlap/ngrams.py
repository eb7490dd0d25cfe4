"""How many n-grams every two texts of an item share, for many items at once.

The positions of all texts are sorted once by item and by the ``order`` tokens that follow: in that order the
occurrences of an n-gram stand together for every n up to ``order``, so one sort serves all of them, and what
only one place has at n is left out at n + 1.

Σ_g min(count_a(g), count_b(g)) is the number of pairs (n-gram g, level t) with count_a(g) ≥ t and
count_b(g) ≥ t. So a text is a row of bits, one per pair, and two texts share as many n-grams as their rows
have bits in common: 64 pairs at a time, whole numbers throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Ints, Mask
from sparingly.signals.overlap.tokens import TokenCodes

_WORD = 64
_KEY_LIMIT = 2**63
_TABLE_CELLS = 2**23
_END = 0


@dataclass(frozen=True)
class TextPlaces:
    """Where texts stand, which are listed item after item."""

    item: Ints  # the item of every text, rising from 0
    slot: Ints  # the place of every text among the texts of its item, from 0
    items: int  # the number of items
    slots: int  # the most texts that an item has

    def spread(self, values: Ints) -> Ints:
        """Return a value per text as items x slots, 0 where there is no text."""
        table = np.zeros((self.items, self.slots), np.int64)
        table[self.item, self.slot] = values
        return table


def ngram_totals(tokens: TokenCodes, places: TextPlaces, n: int) -> Ints:
    """Return the number of n-grams of every text, items x slots."""
    return places.spread(np.maximum(tokens.lengths - n + 1, 0))


def shared_ngrams(tokens: TokenCodes, places: TextPlaces, order: int) -> Iterator[Ints]:
    """Yield Σ_g min(count_a(g), count_b(g)) over the n-grams g, items x slots x slots, for n = 1 … order."""
    run = _sort_ngrams(tokens, places, order)
    for n in range(1, order + 1):
        # From n − 1 to n tokens: n-grams that occur once, or that run over the end of a text, are dropped.
        token = run.codes[run.at + (n - 1)]
        first = run.first | _starts(token)
        unique = first.copy()
        unique[:-1] &= first[1:]
        run = replace(run, first=first).take(~unique & (token != _END))
        shared = np.zeros((places.items, places.slots, places.slots), np.int64)
        for part in _cut_run(run, places.slots):
            shared += _shared(part, places)
        shared[:, range(places.slots), range(places.slots)] = ngram_totals(tokens, places, n)
        yield shared


@dataclass(frozen=True)
class SortedNgrams:
    """Positions sorted by item and by the tokens that follow."""

    codes: Ints  # the codes of all tokens, from 1, with an end after every text
    at: Ints  # the positions in ``codes``
    item: Ints  # the item of every position
    slot: Ints  # the slot of every position
    first: Mask  # whether a position is the first of its n-gram

    def take(self, part: slice | Mask) -> SortedNgrams:
        """Return some of the positions."""
        return SortedNgrams(self.codes, self.at[part], self.item[part], self.slot[part], self.first[part])


def _sort_ngrams(tokens: TokenCodes, places: TextPlaces, order: int) -> SortedNgrams:
    texts, total = len(tokens.lengths), len(tokens.codes)
    owner = np.repeat(np.arange(texts), tokens.lengths)
    at = np.arange(total) + owner
    codes = np.full(total + texts + order, _END, np.int64)
    codes[at] = tokens.codes + 1
    keys = np.repeat(places.item, tokens.lengths + 1)
    size = places.items
    for step in range(order):
        if size * (tokens.kinds + 1) >= _KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * (tokens.kinds + 1) + codes[step : step + len(keys)]
        size *= tokens.kinds + 1
    by_key = np.argsort(keys[at])
    owner = owner[by_key]
    item = places.item[owner]
    return SortedNgrams(codes, at[by_key], item, places.slot[owner], _starts(item))


def _starts(values: Ints) -> Mask:
    """Whether a value differs from the one before it."""
    starts = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return starts


def _cut_run(run: SortedNgrams, slots: int) -> Iterator[SortedNgrams]:
    """Cut a run between n-grams, so that a table of n-grams x slots fits in memory."""
    step = max(1, _TABLE_CELLS // slots)
    begins = np.flatnonzero(run.first)
    low = 0
    while low < len(run.at):
        later = np.searchsorted(begins, low + step)
        high = int(begins[later]) if later < len(begins) else len(run.at)
        yield run.take(slice(low, high))
        low = high


def _shared(run: SortedNgrams, places: TextPlaces) -> Ints:
    begins = np.flatnonzero(run.first)
    group = np.cumsum(run.first) - 1
    row, words = _aligned(run.item[begins], places.items)
    bits = np.zeros((places.slots, _WORD * _count(words)), bool)
    bits.reshape(-1)[run.slot * bits.shape[1] + row[group]] = True
    shared = _common_bits(bits, words)
    # An n-gram that occurs more often than there are texts with it occurs several times in one of them.
    occurrences = np.diff(np.append(begins, len(group)))
    repeated = occurrences > bits.sum(axis=0)[row]
    if repeated.any():
        shared += _shared_repeats(run, group, repeated, places)
    return shared


def _shared_repeats(run: SortedNgrams, group: Ints, repeated: Mask, places: TextPlaces) -> Ints:
    """Count the levels from 2 up, of the n-grams that a text has several times."""
    inside = repeated[group]
    groups = int(repeated.sum())
    number = (np.cumsum(repeated) - 1)[group[inside]]
    cells = np.bincount(run.slot[inside] * groups + number, minlength=places.slots * groups)
    counts = cells.astype(np.int32).reshape(places.slots, groups)
    # A level is shared only where two texts reach it.
    levels = np.where((counts > 1).sum(axis=0) > 1, counts.max(axis=0) - 1, 0)
    column = np.repeat(np.arange(groups), levels)
    level = (np.arange(len(column)) - np.repeat(np.cumsum(levels) - levels, levels) + 2).astype(np.int32)
    row, words = _aligned(run.item[run.first][repeated][column], places.items)
    bits = np.zeros((places.slots, _WORD * _count(words)), bool)
    bits[:, row] = counts[:, column] >= level
    return _common_bits(bits, words)


def _aligned(item: Ints, items: int) -> tuple[Ints, Ints]:
    """Return a row for every one of some sorted items' n-grams, and the words of each item.

    Each item begins with a word of 64 bits of its own, and has at least one.
    """
    rows = np.bincount(item, minlength=items)
    words = np.maximum(-(-rows // _WORD), 1)
    gap = _WORD * (np.cumsum(words) - words) - (np.cumsum(rows) - rows)
    return np.arange(len(item)) + gap[item], words


def _count(words: Ints) -> int:
    return int(words.sum())


def _common_bits(bits: Mask, words: Ints) -> Ints:
    """Return how many bits every two slots have in common in each item, items x slots x slots."""
    packed = np.packbits(bits, axis=1).view(np.uint64)
    slots, begins = len(bits), np.cumsum(words) - words
    common = np.zeros((slots, slots, len(words)), np.int64)
    for slot in range(slots - 1):
        common_words = np.bitwise_count(packed[slot] & packed[slot + 1 :])
        common[slot, slot + 1 :] = np.add.reduceat(common_words, begins, axis=1, dtype=np.int64)
    return np.ascontiguousarray(np.moveaxis(common + common.transpose(1, 0, 2), 2, 0))
