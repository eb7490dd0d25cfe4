from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.stats.pairs import pair_differences
from sparingly.base.stats.sign_flip import exact_p_values, first_differences

sparse = st.one_of(st.just(0.0), st.just(0.0), st.integers(-2, 2).map(float), st.just(float("nan")))


@given(arrays(np.float64, (150, 3), elements=sparse, fill=st.just(0.0)), st.integers(0, 5))
def test_finds_the_first_items_on_which_each_pair_differs(scores: np.ndarray, limit: int) -> None:
    values, places = first_differences(scores, None, limit)
    differences = pair_differences(scores)
    for pair in range(3):
        rows = np.flatnonzero(differences[:, pair])[: limit + 1]
        assert places[: len(rows), pair].tolist() == rows.tolist()
        assert (places[len(rows) :, pair] == 150).all()
        assert values[: len(rows), pair].tolist() == differences[rows, pair].tolist()


def test_by_hand() -> None:
    """Subset sums of 1, 2, −3: 0 1 2 3 −3 −2 −1 0: three below zero and two at zero of eight."""
    differences = np.array([[1.0, 1.0], [2.0, 1.0], [-3.0, 1.0]])
    p = exact_p_values(differences, np.array([0, 1, 3]))
    assert p.tolist() == [[0.5, 0.5], [0.5 / 2, 0.5 / 2], [4 / 8, 0.5 / 8]]


def test_pairs_are_enumerated_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(0).normal(size=(6, 11))
    whole = exact_p_values(differences, np.array([2, 6]))
    monkeypatch.setattr("sparingly.base.stats.sign_flip._EXACT_CELLS", 150)
    assert np.array_equal(exact_p_values(differences, np.array([2, 6])), whole)
