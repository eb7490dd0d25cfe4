"""Values as JSON can hold them, and one text for equal values."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.data.values import canonical, is_number, plain

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, 1),
        (1.5, 1.5),
        (-0.0, 0),
        (NAN, None),
        (1e300, 1e300),
        (True, True),
        (None, None),
        ("text", "text"),
        (np.float64(2.0), 2),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (np.array([1.0, NAN]), [1, None]),
        ({"a": [1.0, (NAN, "x")]}, {"a": [1, [None, "x"]]}),
    ],
)
def test_plain(value: Any, expected: Any) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (2**60, float(2**60)),
        (None, NAN),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}),
        ([1, NAN], (1.0, None)),
        (np.float32(0.5), 0.5),
    ],
)
def test_equal_values_have_one_text(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (True, 1), (None, "null"), ("", None), ([1], 1), (2**60, 2**60 + 1)]
)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    "numbers",
    [[0.5, -1.25, 3e-7], [0.1, 2.0], [0.1, NAN], [0.5, -0.0], [], [1e300, 0.5], [0.5, float("inf")]],
)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_vectors_have_the_text_of_their_numbers(numbers: list[float], kind: type) -> None:
    with np.errstate(over="ignore"):
        vector: NDArray[Any] = np.array(numbers, kind)
    assert canonical(vector) == canonical(vector.tolist())


def test_values_that_json_does_not_know() -> None:
    assert canonical(datetime.date(2026, 1, 2)) == '"2026-01-02"'


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_that_a_float_can_hold(value: float) -> None:
    try:
        exact = float(value) == value
    except OverflowError:
        exact = False
    assert is_number(value) == exact


@pytest.mark.parametrize("value", [True, None, "1", [1]])
def test_what_is_no_number(value: Any) -> None:
    assert not is_number(value)
