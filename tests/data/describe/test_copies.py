"""Metrics that repeat each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.arrays import Floats
from sparingly.data.describe.metrics import Copy, copies

NAN = float("nan")
BASE = np.array([[1.0, 2.0, NAN], [4.0, 3.0, 0.5]])


def test_equal_rescaled_and_negated_copies_are_told_apart() -> None:
    metrics = {"a": BASE, "b": BASE.copy(), "c": 100 * BASE + 7, "d": -BASE, "other": BASE**2}
    assert copies(metrics) == (Copy("b", "a", "equal"), Copy("c", "a", "rescaled"), Copy("d", "a", "negated"))


def test_a_copy_of_a_copy_names_the_first() -> None:
    assert [(copy.metric, copy.of) for copy in copies(dict.fromkeys("xyz", BASE))] == [("y", "x"), ("z", "x")]


def test_other_missing_cells_make_another_metric() -> None:
    filled = np.where(np.isnan(BASE), 9.0, BASE)
    assert copies({"a": BASE, "b": filled}) == ()


def test_constant_and_empty_metrics_are_no_copies() -> None:
    flat, empty = np.ones((2, 3)), np.full((2, 3), NAN)
    assert copies({"a": flat, "b": flat, "c": empty, "d": empty}) == ()


def test_one_large_outlier_does_not_make_copies() -> None:
    one, other = np.random.default_rng(0).random((2, 50, 4))
    one[0, 0] = other[0, 0] = 1e12
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) > 1 - 1e-9
    assert copies({"a": one, "b": other}) == ()


@given(
    arrays(np.float64, (3, 4), elements=st.integers(-9, 9).map(float)),
    st.floats(0.01, 100),
    st.floats(-50, 50),
    st.booleans(),
)
def test_any_line_is_found(values: Floats, factor: float, shift: float, turn: bool) -> None:
    assume(values.min() < values.max())
    changed = (-factor if turn else factor) * values + shift
    found = copies({"a": values, "b": changed})
    assert len(found) == 1
    assert (found[0].kind == "negated") is turn


@pytest.mark.parametrize("digits", [1, 2])
def test_a_rounded_metric_is_not_a_copy(digits: int) -> None:
    values = np.random.default_rng(1).random((100, 5))
    assert copies({"a": values, "b": values.round(digits)}) == ()
