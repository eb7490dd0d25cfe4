from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.base.stats import pairs


def test_pairs_come_in_triangular_order() -> None:
    first, second = pairs.pair_indices(4)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3),
    ]  # fmt: skip
    assert pairs.pair_count(4) == 6
    assert pairs.pair_count(1) == 0


def test_differences_count_only_where_both_were_judged() -> None:
    scores = np.array([[3.0, 1.0, np.nan], [1.0, 1.0, 5.0]])
    assert pairs.pair_differences(scores).tolist() == [[2.0, 0.0, 0.0], [0.0, -4.0, -4.0]]
    assert pairs.pair_differences(scores, np.array([0.5, 2.0]))[1].tolist() == [0.0, -8.0, -8.0]
    assert pairs.pair_differences(scores, pairs=np.array([1])).tolist() == [[0.0], [-4.0]]
    assert np.isnan(pairs.pair_differences(scores, missing=np.nan)).tolist() == [
        [False, True, True],
        [False, False, False],
    ]
    assert np.isnan(scores[0, 2])


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(1, 20))
def test_stretches_visit_every_row_once_and_close_every_size(sizes: list[int], block: int) -> None:
    ascending, places = pairs.checked_sizes(sizes, 60)
    assert ascending[places].tolist() == sizes
    visited, closed = 0, []
    for rows, inside in pairs.stretches(ascending, block):
        assert rows.stop - rows.start <= block
        for stretch in inside:
            assert rows.start + stretch.start == visited
            visited = rows.start + stretch.stop
            if stretch.closes is not None:
                assert visited == ascending[stretch.closes]
                closed.append(stretch.closes)
    assert visited == max(sizes)
    assert closed == list(range(len(ascending)))


@pytest.mark.parametrize("sizes", [[0], [-1, 3], [11]])
def test_sizes_outside_the_set_are_refused(sizes: list[int]) -> None:
    with pytest.raises(UsageError, match="between 1 and 10"):
        pairs.checked_sizes(sizes, 10)


def test_no_sizes_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one subset size"):
        pairs.checked_sizes([], 10)
