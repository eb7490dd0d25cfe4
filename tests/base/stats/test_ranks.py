from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from sparingly.base.stats.correlation import average_ranks

cells = st.one_of(st.integers(-3, 3).map(float), st.just(float("nan")))
tables = arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(0, 7)), elements=cells)


@given(tables, st.sampled_from([0, 1, -1]))
def test_as_scipy_ranks_leaving_nan_out(values: np.ndarray, axis: int) -> None:
    ranks = average_ranks(values, axis)
    assert ranks.shape == values.shape
    if values.size:
        assert np.array_equal(ranks, rankdata(values, axis=axis, nan_policy="omit"), equal_nan=True)


def test_by_hand() -> None:
    assert average_ranks(np.array([3.0, 1.0, np.nan, 3.0])).tolist()[:2] == [2.5, 1.0]
    assert np.isnan(average_ranks(np.array([3.0, 1.0, np.nan, 3.0]))[2])


def test_signed_zeros_are_equal() -> None:
    assert average_ranks(np.array([0.0, -0.0, 1.0])).tolist() == [1.5, 1.5, 3.0]


@pytest.mark.parametrize("axis", [0, 1])
def test_blocks_give_what_the_whole_gives(axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).integers(0, 9, (23, 7)).astype(float)
    whole = average_ranks(values, axis)
    monkeypatch.setattr("sparingly.base.stats.correlation._RANK_CELLS", 10)
    assert np.array_equal(average_ranks(values, axis), whole)


def test_memory_beyond_the_result_does_not_grow_with_the_items() -> None:
    values = np.random.default_rng(0).normal(size=(600_000, 14))
    tracemalloc.start()
    ranks = average_ranks(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < ranks.nbytes + 100e6
