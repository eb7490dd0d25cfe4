"""Spans in code points: UTF-16 units and inclusive ends are turned at the border."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import DataError
from sparingly.run.forms.spans import Span, from_utf16, penalty


@given(st.text(min_size=1), st.data())
def test_utf16_is_what_the_encoding_says(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    units = [len(text[:at].encode("utf-16-le", "surrogatepass")) // 2 for at in (start, end)]
    assert from_utf16(text, *units) == (start, end)


def test_a_span_that_cuts_an_emoji_in_half_is_refused() -> None:
    assert from_utf16("a😀b", 1, 3) == (1, 2)
    for start, end in ((1, 2), (2, 3), (0, 9)):
        with pytest.raises(DataError, match="cuts a letter"):
            from_utf16("a😀b", start, end)


def test_points_are_the_sum_of_severities() -> None:
    assert penalty([Span(0, 1, "minor"), Span(1, 2, "Major"), Span(2, 3, "critical")]) == 31.0
    assert penalty([]) == 0.0
    with pytest.raises(DataError, match="no points"):
        penalty([Span(0, 1, "awful")])
