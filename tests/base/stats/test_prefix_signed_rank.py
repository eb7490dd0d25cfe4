from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.base.stats import signed_rank
from sparingly.base.stats.signed_rank import pair_signed_rank, prefix_pair_signed_rank


def check(scores: np.ndarray, sizes: list[int]) -> None:
    result = prefix_pair_signed_rank(scores, sizes)
    for place, size in enumerate(sizes):
        alone = pair_signed_rank(scores[:size])
        np.testing.assert_allclose(result.p[place], alone.p, rtol=1e-9, atol=1e-12)
        assert result.direction[place].tolist() == alone.direction.tolist()


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_every_subset_is_tested_as_it_is_alone(digits: int, missing: float) -> None:
    generator = np.random.default_rng(digits)
    scores = np.round(generator.normal(size=(80, 4)) + 0.2 * np.arange(4), digits)
    scores[generator.random(scores.shape) < missing] = np.nan
    check(scores, list(range(1, 81)))
    check(scores, [70, 3, 3, 41, 12, 60, 20, 55])


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan]), min_size=3, max_size=3),
        min_size=1,
        max_size=20,
    )
)
def test_with_ties_zeros_and_gaps(rows: list[list[float]]) -> None:
    scores = np.array(rows)
    check(scores, list(range(1, len(scores) + 1)))


def test_few_sizes_of_many_items_are_found_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).normal(size=(60, 3))
    expected = prefix_pair_signed_rank(scores, [20, 60])
    monkeypatch.setattr(signed_rank, "_SUBSETS_PER_ITEM", 0.0)
    np.testing.assert_allclose(prefix_pair_signed_rank(scores, [20, 60]).p, expected.p)


def test_sizes_outside_the_set_are_refused() -> None:
    with pytest.raises(UsageError, match="between 1 and 3"):
        prefix_pair_signed_rank(np.ones((3, 2)), [4])
