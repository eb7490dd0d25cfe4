from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.infer.rank.measures import model_means, prefix_means, round_means

cells = st.one_of(st.integers(-5, 5).map(float), st.just(float("nan")))


@given(
    arrays(np.float64, (9, 3), elements=cells),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.booleans(),
)
def test_prefix_means_by_definition(scores: np.ndarray, sizes: list[int], weighted: bool) -> None:
    weights = np.arange(9.0) if weighted else None
    means = prefix_means(scores, sizes, weights)
    for row, size in enumerate(sizes):
        for model in range(3):
            there = ~np.isnan(scores[:size, model])
            share = np.ones(size)[there] if weights is None else weights[:size][there]
            if share.sum() == 0:
                assert np.isnan(means[row, model])
            else:
                expected = (scores[:size, model][there] * share).sum() / share.sum()
                assert means[row, model] == pytest.approx(expected)


def test_model_means_leave_missing_cells_out() -> None:
    scores = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])
    assert model_means(scores).tolist()[:2] == [2.0, 4.0]
    assert np.isnan(model_means(scores)[2])
    assert model_means(scores, np.array([3.0, 1.0]))[0] == 1.5


def test_settled_makes_equal_what_differs_in_the_last_bits_only() -> None:
    rows = round_means(np.array([[0.3, 0.1 + 0.2, 0.9, np.nan], [5.0, 5.0, 5.0, 5.0], [np.nan] * 4]))
    assert rows[0, 0] == rows[0, 1] < rows[0, 2]
    assert rows[1].tolist() == [5.0] * 4
    assert np.isnan(rows[2]).all()
    assert round_means(np.array([1.0, 1.0 + 1e-8, 2.0]))[0] < round_means(np.array([1.0, 1.0 + 1e-8, 2.0]))[1]
