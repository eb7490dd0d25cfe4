from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.arrays import Floats
from sparingly.published.irt.model import as_responses, scaled, success

NAN = np.nan


def test_scores_are_scaled_to_their_range() -> None:
    scores = np.array([[-5.0, NAN], [0.0, 15.0]])
    np.testing.assert_allclose(scaled(scores), [[0.0, NAN], [0.25, 1.0]])


def test_a_constant_metric_is_a_half() -> None:
    np.testing.assert_array_equal(scaled(np.array([[3.0, NAN], [3.0, 3.0]])), [[0.5, NAN], [0.5, 0.5]])


def test_success_is_above_a_threshold() -> None:
    scores = np.array([[0.2, 0.5], [0.7, NAN]])
    np.testing.assert_array_equal(success(scores, 0.5), [[0.0, 0.0], [1.0, NAN]])


def test_success_is_at_the_median_or_above_it() -> None:
    np.testing.assert_array_equal(
        success(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, NAN]])), [[0, 0, 1], [1, 1, NAN]]
    )


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_zeros_and_ones_stay_zeros_and_ones(share: float) -> None:
    scores = (np.arange(20.0).reshape(5, 4) < 20 * share).astype(np.float64)
    np.testing.assert_array_equal(success(scores), scores)


@given(arrays(np.float64, (6, 4), elements=st.integers(-9, 9).map(float)))
def test_no_cut_at_the_median_is_more_even(scores: Floats) -> None:
    median = np.median(scores)
    best = min(abs(np.mean(scores >= median) - 0.5), abs(np.mean(scores > median) - 0.5))
    assert abs(success(scores).mean() - 0.5) == pytest.approx(best)


def test_responses_are_models_by_items_with_what_is_missing() -> None:
    responses = as_responses(np.array([[0.0, 4.0, NAN], [1.0, 2.0, 3.0]]), "continuous")
    assert responses.shape == (3, 2)
    np.testing.assert_array_equal(responses.values, [[0.0, 0.25], [1.0, 0.5], [0.0, 0.75]])
    np.testing.assert_array_equal(responses.present, [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    assert responses.count == 5.0
    assert responses.per_item().tolist() == [2.0, 3.0]
    assert responses.per_model().tolist() == [2.0, 2.0, 1.0]


def test_complete_responses_carry_no_mask() -> None:
    responses = as_responses(np.array([[0.1, 0.4], [0.9, 0.2], [0.3, 0.3]]), "continuous", scale=False)
    assert responses.present is None
    assert responses.count == 6.0
    assert responses.per_item().tolist() == [2.0, 2.0, 2.0]
    assert responses.per_model().tolist() == [3.0, 3.0]
    np.testing.assert_array_equal(responses.values, [[0.1, 0.9, 0.3], [0.4, 0.2, 0.3]])


def test_blocks_are_all_items_in_order() -> None:
    scores = np.random.default_rng(0).random((7, 3))
    scores[2, 1] = NAN
    responses = as_responses(scores, "continuous")
    blocks = list(responses.blocks(3))
    assert [block.shape for block in blocks] == [(3, 3), (3, 3), (3, 1)]
    np.testing.assert_array_equal(np.hstack([block.values for block in blocks]), responses.values)
    masks = [block.present for block in blocks if block.present is not None]
    np.testing.assert_array_equal(np.hstack(masks), responses.present)


def test_scores_are_left_as_they_are() -> None:
    scores = np.array([[1.0, NAN], [2.0, 3.0]])
    before = scores.copy()
    as_responses(scores, "continuous", scale=False)
    as_responses(scores, "binary")
    np.testing.assert_array_equal(scores, before)
