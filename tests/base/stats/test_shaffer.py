from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import holm, most_equal, shaffer


def _partitions(models: int) -> list[list[int]]:
    """All ways to put models into blocks of equals, as the block of every model."""
    found = [[0]]
    for _ in range(models - 1):
        found = [[*one, block] for one in found for block in range(max(one) + 2)]
    return found


@pytest.mark.parametrize("models", [2, 3, 4, 5, 6, 7])
def test_numbers_of_equal_pairs_by_enumeration(models: int) -> None:
    pairs = list(combinations(range(models), 2))
    possible = {sum(one[a] == one[b] for a, b in pairs) for one in _partitions(models)}
    wanted = [max(count for count in possible if count <= left) for left in range(len(pairs), 0, -1)]
    assert most_equal(models).tolist() == wanted


def test_numbers_of_the_paper() -> None:
    # Shaffer 1986, for four and five means.
    assert most_equal(4).tolist() == [6, 3, 3, 3, 2, 1]
    assert most_equal(5).tolist() == [10, 6, 6, 6, 6, 4, 4, 3, 2, 1]


def test_by_hand_and_with_a_test_that_was_not_made() -> None:
    np.testing.assert_allclose(shaffer(np.array([0.01, 0.02, 0.3])), [0.03, 0.03, 0.3])
    np.testing.assert_allclose(shaffer(np.array([0.01, np.nan, 0.3])), [0.02, np.nan, 0.3])
    assert shaffer(np.array([0.04])).tolist() == [0.04]
    with pytest.raises(UsageError, match="every pair"):
        shaffer(np.full(4, 0.5))


@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.floats(0, 0.5))
def test_never_above_holm_monotone_and_at_least_the_p_value(models: int, seed: int, missing: float) -> None:
    drawn = np.random.default_rng(seed)
    count = models * (models - 1) // 2
    p = np.where(drawn.random(count) < missing, np.nan, drawn.random(count) ** 4)
    found, other = shaffer(p), holm(p)
    there = ~np.isnan(p)
    assert np.array_equal(np.isnan(found), ~there)
    assert (found[there] <= other[there]).all()
    assert (found[there] >= p[there]).all()
    assert (np.diff(found[there][np.argsort(p[there])]) >= 0).all()
