from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import MissingDataError
from sparingly.data.evalset import EvalSet
from sparingly.signals.length import length_metric, source_lengths, text_length


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("   \n\t ", 0),
        ("one", 1),
        (" one  two\nthree ", 3),
        ("größer als fünf", 3),
        ("我喜欢苹果。", 6),
        ("これはペンです", 7),
        ("สวัสดีครับ", 10),
        ("我 喜欢 苹果", 5),
        ("한국어 문장입니다", 2),
        # Half or less of an unspaced script counts as words.
        ("abc 我喜", 2),
        ("the word 苹果 means apple", 5),
    ],
)
def test_words_or_letters(text: str, length: int) -> None:
    assert text_length(text) == length


@given(st.text(max_size=60))
def test_length_lies_between_words_and_letters(text: str) -> None:
    words = text.split()
    assert len(words) <= text_length(text) <= sum(map(len, words))


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=60))
def test_spaced_scripts_are_counted_in_words(text: str) -> None:
    assert text_length(text) == len(text.split())


def texts() -> EvalSet:
    return EvalSet.from_arrays(
        ["a", "b", "c"],
        ["x", "y"],
        sources=["one two", None, ""],
        outputs=[["one", "one two"], [None, ""], ["我喜", "a b c"]],
    )


def test_missing_texts_have_no_length_and_empty_ones_have_zero() -> None:
    np.testing.assert_array_equal(source_lengths(texts()), [2.0, np.nan, 0.0])
    np.testing.assert_array_equal(length_metric(texts(), "output_length"), [[1, 2], [np.nan, 0], [2, 3]])


def test_source_length_is_the_same_for_every_model() -> None:
    np.testing.assert_array_equal(length_metric(texts(), "source_length"), [[2, 2], [np.nan, np.nan], [0, 0]])


def test_texts_that_are_not_there() -> None:
    data = EvalSet.from_arrays(["a"], ["x"])
    with pytest.raises(MissingDataError, match="Source lengths need sources"):
        length_metric(data, "source_length")
    with pytest.raises(MissingDataError, match="Output lengths need outputs"):
        length_metric(data, "output_length")
