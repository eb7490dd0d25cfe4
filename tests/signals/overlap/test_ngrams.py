from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.arrays import Ints
from sparingly.signals.overlap import similarity
from sparingly.signals.overlap.similarity import TextPlaces, TokenCodes, ngram_totals, shared_ngrams

Text = Sequence[int]
Item = Sequence[Text]

ORDER = 4
items = st.lists(st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=4), min_size=1, max_size=4)


def as_tokens(data: Sequence[Item], kinds: int) -> tuple[TokenCodes, TextPlaces]:
    flat = [text for item in data for text in item]
    item = np.repeat(np.arange(len(data)), [len(texts) for texts in data])
    slot = np.concatenate([np.arange(len(texts)) for texts in data]).astype(np.int64)
    codes = np.array([code for text in flat for code in text], np.int64)
    lengths = np.array([len(text) for text in flat], np.int64)
    return TokenCodes(codes, lengths, kinds), TextPlaces(item, slot, len(data), max(1, *map(len, data), 1))


def counted(text: Text, n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(text[place : place + n]) for place in range(len(text) - n + 1))


def expected(data: Sequence[Item], places: TextPlaces, n: int) -> Ints:
    shared = np.zeros((places.items, places.slots, places.slots), np.int64)
    for place, texts in enumerate(data):
        for first, one in enumerate(texts):
            for second, other in enumerate(texts):
                shared[place, first, second] = (counted(one, n) & counted(other, n)).total()
    return shared


def check(data: Sequence[Item], kinds: int) -> None:
    tokens, places = as_tokens(data, kinds)
    found = list(shared_ngrams(tokens, places, ORDER))
    assert len(found) == ORDER
    for n, shared in enumerate(found, start=1):
        np.testing.assert_array_equal(shared, expected(data, places, n))
        totals = [[counted(text, n).total() for text in texts] for texts in data]
        padded = [row + [0] * (places.slots - len(row)) for row in totals]
        np.testing.assert_array_equal(ngram_totals(tokens, places, n), padded)


@given(items)
def test_shared_ngrams_are_the_sums_of_minima(data: list[list[list[int]]]) -> None:
    check(data, 4)


@given(items)
def test_tokens_of_more_kinds_than_fit_a_key(data: list[list[list[int]]]) -> None:
    """With 2^30 kinds two tokens fill a key of 64 bits, so keys are made dense before the next is added."""
    step = 2**28
    check([[[code * step for code in text] for text in texts] for texts in data], 2**30)


def test_counts_of_many_and_of_few() -> None:
    check([[[0] * 300, [0] * 7 + [1] * 200, [1, 0] * 50], [[2], [2, 2]]], 3)


def test_more_than_a_word_of_ngrams() -> None:
    drawn = np.random.default_rng(2)
    check([[drawn.integers(0, 60, 200).tolist() for _ in range(5)] for _ in range(3)], 60)


def test_items_without_texts_share_nothing() -> None:
    check([[], [[1, 2]], [], [[1, 2], [1]], []], 4)


def test_nothing_at_all() -> None:
    check([[]], 1)


@pytest.mark.parametrize("room", [1, 8, 64])
def test_a_table_without_room_is_filled_in_parts(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_TABLE_CELLS", room)
    drawn = np.random.default_rng(3)
    check([[drawn.integers(0, 5, 30).tolist() for _ in range(4)] for _ in range(6)], 5)
