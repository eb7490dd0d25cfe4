"""Texts as arrays: against the same in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.choose.distil import text_features as module
from sparingly.choose.distil.text_features import Spans, blocks, character_ngrams, places, word_ngrams

TEXTS = st.lists(st.text(max_size=30), min_size=1, max_size=6)
SPACED = st.lists(st.text(alphabet="abcDE1. \t,ß", max_size=30), min_size=1, max_size=6)


@given(SPACED)
def test_words_are_those_between_spaces(texts: list[str]) -> None:
    spans = Spans(texts)
    assert spans.word_counts.tolist() == [len(text.split()) for text in texts]
    flat = [word.lower() for text in texts for word in text.split()]
    # Equal words have equal hashes, and different ones different hashes.
    assert len(set(spans.words.tolist())) == len(set(flat))
    assert len(set(zip(flat, spans.words.tolist(), strict=True))) == len(set(flat))


def test_every_letter_is_a_word_where_scripts_have_no_spaces() -> None:
    assert Spans(["我爱你", "สวัสดี", "かな カナ", "I love 你们 all"]).word_counts.tolist() == [3, 4, 4, 5]


@given(TEXTS)
def test_ngrams_are_counted_as_in_plain_python(texts: list[str]) -> None:
    spans = Spans(texts)
    padded = [f" {' '.join(text.split())} " for text in texts]
    expected = [sum(max(0, len(text) - order + 1) for order in (2, 3, 4)) for text in padded]
    found = character_ngrams(spans)
    assert found.counts.tolist() == expected
    assert len(found.hashes) == sum(expected)
    pairs = word_ngrams(spans)
    words = spans.word_counts
    assert pairs.counts.tolist() == (words + np.maximum(words - 1, 0)).tolist()
    assert len(pairs.hashes) == pairs.counts.sum()


def test_equal_ngrams_have_equal_hashes() -> None:
    found = character_ngrams(Spans(["ABAB"]), (2,)).hashes.tolist()
    # " a", "ab", "ba", "ab", "b "
    assert found[1] == found[3]
    assert len(set(found)) == 4


@given(TEXTS)
def test_blocks_change_nothing(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_LETTERS", 8)
        small = [character_ngrams(spans).hashes for _, spans in blocks(texts)]
        rows = [row for part, _ in blocks(texts) for row in range(part.start, part.stop)]
    assert rows == list(range(len(texts)))
    np.testing.assert_array_equal(np.concatenate(small), character_ngrams(Spans(texts)).hashes)


def test_places_are_the_first_bits() -> None:
    hashes = np.array([0, 2**63, 2**64 - 1], np.uint64)
    assert places(hashes, 4).tolist() == [0, 8, 15]
