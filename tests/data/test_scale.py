"""Scales: converted by a straight line, ends to ends, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale

ENDS = st.tuples(st.integers(-100, 100), st.integers(1, 200)).map(lambda two: Scale(two[0], two[0] + two[1]))


@given(ENDS, ENDS, st.floats(0, 1))
def test_there_and_back(one: Scale, other: Scale, share: float) -> None:
    score = one.low + share * (one.high - one.low)
    there = one.convert(score, other)
    assert other.low - 1e-9 <= there <= other.high + 1e-9
    assert other.convert(there, one) == pytest.approx(score, abs=1e-9)
    assert one.convert(one.low, other) == other.low
    assert one.convert(one.high, other) == other.high


def test_a_scale_is_read_from_text() -> None:
    assert Scale.parse("0-100") == Scale(0, 100)
    assert Scale.parse("1,5") == Scale(1, 5)
    assert Scale.parse("-5--1") == Scale(-5, -1)
    assert Scale(0, 10).convert(7, Scale(0, 100)) == pytest.approx(70)
    assert 5 in Scale(1, 5)
    assert 5.1 not in Scale(1, 5)


@pytest.mark.parametrize("text", ["", "5", "a-b", "5-1", "3-3"])
def test_what_is_no_scale_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Scale.parse(text)
