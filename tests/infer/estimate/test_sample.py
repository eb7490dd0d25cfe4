from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import DataError, UsageError
from sparingly.data.store import checked_weights
from sparingly.infer.estimate.sample import as_codes, group_sums, sample_from_arrays

SCORES = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, np.nan], [5.0, 7.0]])


def test_items_without_a_judgement_were_not_drawn() -> None:
    sample = sample_from_arrays(SCORES)
    assert sample.rows.tolist() == [0, 2, 3]
    assert sample.size == 4
    assert sample.probability == pytest.approx(np.full((3, 2), 0.75))
    assert sample.judged.tolist() == [[True, True], [True, False], [True, True]]
    assert sample.values[1, 1] == 0.0
    assert sample.share == pytest.approx(np.array([[4 / 3, 4 / 3], [4 / 3, 0.0], [4 / 3, 4 / 3]]))
    assert sample.units.tolist() == [3, 2]
    assert not sample.is_complete


def test_one_model_may_be_a_vector_and_the_set_larger_than_the_rows() -> None:
    sample = sample_from_arrays(np.arange(3.0), size=12)
    assert (sample.models, sample.size, sample.draw.tolist()) == (1, 12, [0.25] * 3)


def test_chances_of_items_that_were_not_drawn_do_not_matter() -> None:
    sample = sample_from_arrays(SCORES, [0.5, np.nan, 0.25, 1.0])
    assert sample.probability[:, 0].tolist() == [0.5, 0.25, 1.0]


@pytest.mark.parametrize("probability", [0.0, 1.5, [0.5, 0.5, -1.0, 0.5], [0.5, 0.5], np.ones((4, 3))])
def test_wrong_chances_are_refused(probability: object) -> None:
    with pytest.raises(UsageError, match=r"[Pp]robabilities"):
        sample_from_arrays(SCORES, probability)


def test_wrong_shapes_and_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="4 rows of scores but only 2 items"):
        sample_from_arrays(SCORES, size=2)
    with pytest.raises(DataError, match="No item is judged"):
        sample_from_arrays(np.full((3, 2), np.nan))
    with pytest.raises(UsageError, match="strata have the shape"):
        sample_from_arrays(SCORES, strata=[0, 1])
    with pytest.raises(UsageError, match="items × models"):
        sample_from_arrays(np.zeros((2, 2, 2)))
    for what in ({"weights": [1.0] * 4}, {"documents": list("abcd")}):
        with pytest.raises(UsageError, match="the rows of scores must be all items"):
            sample_from_arrays(SCORES, size=9, **what)


def test_codes_follow_the_labels() -> None:
    assert as_codes(["b", "a", None, "b"], 4, "strata").tolist() == [2, 1, 0, 2]
    assert as_codes(None, 2, "strata").tolist() == [0, 0]
    assert group_sums(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1])).tolist() == [[2.0], [5.0]]


def test_weights_are_scaled_to_mean_one_and_equal_ones_are_none() -> None:
    assert checked_weights([3.0, 1.0], 2) == pytest.approx([1.5, 0.5])
    assert checked_weights([2.0, 2.0], 2) is None
    with pytest.raises(DataError, match="1 of 2 items have no weight"):
        checked_weights([np.nan, 1.0], 2)
    with pytest.raises(DataError, match="0 or more"):
        checked_weights([-1.0, 1.0], 2)
    with pytest.raises(UsageError, match="shape"):
        checked_weights([1.0], 2)


def test_what_counts_as_uniform() -> None:
    whole = np.arange(12.0).reshape(6, 2)
    assert sample_from_arrays(whole, 0.5, 12).is_uniform
    assert not sample_from_arrays(whole, [0.5, 0.5, 0.5, 0.5, 0.5, 0.25], 12).is_uniform
    assert not sample_from_arrays(whole, strata=[0, 0, 0, 1, 1, 1]).is_uniform
    assert not sample_from_arrays(whole, units=[0, 0, 1, 1, 2, 2]).is_uniform
    assert not sample_from_arrays(whole, coordinates=np.arange(6.0)).is_uniform
    assert not sample_from_arrays(whole, weights=np.arange(6.0)).is_uniform


def test_one_models_part() -> None:
    part = sample_from_arrays(SCORES, units=["a", "b", "c", "c"]).of_model(1)
    assert part.rows.tolist() == [0, 3]
    assert part.scores.tolist() == [[2.0], [7.0]]
    assert part.unit.tolist() == [0, 1]
