from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import one_line
from sparingly.show.report.markup import code, pieces
from sparingly.show.report.words import aligned, p_text, time_text, with_full_stop


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    assert aligned([82.493, 9.5, None, float("nan")]) == ["82.49", "9.50", "-", "-"]
    assert aligned([-0.01234, 0.5], 3) == ["-0.012", "0.500"]
    assert aligned([123456.7]) == ["123457"]
    assert aligned([0.0, 0.0]) == ["0.000", "0.000"]
    assert aligned([]) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "<.001"), (0.001, ".001"), (0.0204, ".020"), (0.9996, "1"), (0.42, ".420"), (float("nan"), "")],
)
def test_p_values_are_short(value: float, text: str) -> None:
    assert p_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(7200, "2.0 hours"), (90, "1.5 minutes"), (12.5, "12.5 seconds")]
)
def test_times_are_in_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_sentences() -> None:
    assert with_full_stop(" nothing more") == "Nothing more."
    assert with_full_stop("Why?") == "Why?"


@given(st.text(min_size=1))
def test_a_name_in_code_comes_back_whole(name: str) -> None:
    (piece,) = pieces(code(name))
    assert piece == (one_line(name), True)


@given(st.text())
def test_pieces_lose_no_letter_but_fences(text: str) -> None:
    kept = "".join(piece for piece, _ in pieces(text))
    assert [letter for letter in text if letter not in "` "] == [
        letter for letter in kept if letter not in "` "
    ]
