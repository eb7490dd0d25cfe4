"""The numbers of a text's surface, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sparingly.choose.distil.text_features import (
    SURFACE_NAMES,
    WORD_BITS,
    Spans,
    places,
    surface,
    word_rarity,
)


def numbers(text: str, rarity: np.ndarray | None = None) -> dict[str, float]:
    rare = np.zeros(1 << WORD_BITS, np.float32) if rarity is None else rarity
    return dict(zip(SURFACE_NAMES, surface(Spans([text]), rare)[0].tolist(), strict=True))


def test_by_hand() -> None:
    found = numbers("The cat saw Anna in 1999. The cat!")
    assert found["log words"] == pytest.approx(math.log(9))
    assert found["log letters"] == pytest.approx(math.log(35))
    assert found["letters per word"] == pytest.approx(34 / 8)
    # the, cat, saw, anna, in, 1999., cat!
    assert found["type–token ratio"] == pytest.approx(7 / 8)
    assert found["digits"] == pytest.approx(4 / 34)
    assert found["punctuation"] == pytest.approx(2 / 34)
    # Anna; the second The begins a sentence.
    assert found["name-like words"] == pytest.approx(1 / 8)


def test_rarity_is_the_mean_over_words() -> None:
    spans = Spans(["one two two"])
    counts = np.zeros(1 << WORD_BITS, np.int64)
    one, two, _ = places(spans.words, WORD_BITS).tolist()
    counts[one], counts[two] = 1, 9
    rarity = word_rarity(counts, 9)
    found = numbers("one two two", rarity)
    assert found["rarity"] == pytest.approx((math.log(10 / 2) + 0 + 0) / 3, abs=1e-6)
    assert found["rarest word"] == pytest.approx(math.log(5), abs=1e-6)


def test_a_text_without_words_is_all_zero_but_finite() -> None:
    assert all(math.isfinite(value) for value in numbers("  ").values())


def test_other_scripts_have_digits_and_punctuation() -> None:
    found = numbers("在٣天。")
    assert found["digits"] == pytest.approx(1 / 4)
    assert found["punctuation"] == pytest.approx(1 / 4)
