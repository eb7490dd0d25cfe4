from __future__ import annotations

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.base.errors import DataError, UsageError
from sparingly.base.stats.sign_flip import pair_p_values
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.measures import significance_groups


def make(items: int = 30, models: int = 4) -> FullSet:
    values = np.random.default_rng(0).normal(size=(items, models)) + 0.3 * np.arange(models)
    return FullSet(values, rng.keys_of([f"item {number}" for number in range(items)]), seed=3, flips=200)


def test_it_holds_the_outcome_of_judging_everything() -> None:
    full = make()
    assert len(full) == 30
    assert full.models == 4
    assert full.means == pytest.approx(full.values.mean(axis=0))
    assert np.array_equal(full.p_values, pair_p_values(full.values, keys=full.keys, seed=3, flips=200))
    assert np.array_equal(full.signed_rank.p, pair_signed_rank(full.values).p)
    assert full.groups == significance_groups(full.values)


def test_the_outcome_is_computed_once() -> None:
    full = make()
    assert full.p_values is full.p_values
    assert full.signed_rank is full.signed_rank


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(DataError, match="two models or more"):
        FullSet(np.zeros((3, 1)), np.arange(3, dtype=np.uint64))
    with pytest.raises(UsageError, match="one key per item"):
        FullSet(np.zeros((3, 2)), np.arange(2, dtype=np.uint64))
    with pytest.raises(DataError, match="Model 1 has no score"):
        FullSet(np.array([[1.0, np.nan], [2.0, np.nan]]), np.arange(2, dtype=np.uint64))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "non-empty"),
        ([0.5], "non-empty"),
        ([True], "non-empty"),
        ([-1], "between 0 and 29"),
        ([3, 3], "once"),
    ],
)
def test_rows_are_checked(rows: list[int], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        make().checked_rows(np.array(rows))


def test_other_scores_must_have_the_same_shape() -> None:
    with pytest.raises(UsageError, match="shape"):
        make().subset_scores(np.zeros((2, 2)))
