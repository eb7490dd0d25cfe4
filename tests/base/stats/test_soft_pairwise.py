from __future__ import annotations

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.base.stats.pairs import limit_p_values, pair_differences, soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import pair_p_values


def test_accuracy_by_hand() -> None:
    subsets = np.array([[0.1, 0.5, 0.9], [0.0, 0.0, 1.0]])
    found = soft_pairwise_accuracy(subsets, np.array([0.1, 0.2, 1.0]))
    np.testing.assert_allclose(found, [1 - 0.4 / 3, 1 - 0.3 / 3])


def test_limit_is_that_of_the_sign_flip_test() -> None:
    scores = np.random.default_rng(0).normal(size=(30, 5))
    scores[4, 2] = np.nan
    scores[:, 3] = scores[:, 1]
    differences = pair_differences(scores)
    found = limit_p_values(differences.sum(axis=0), (differences**2).sum(axis=0))
    keys = rng.keys_of([str(place) for place in range(30)])
    expected = pair_p_values(scores, keys=keys, method="analytic")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert 0.5 in found.tolist(), "models that never differ are a coin toss"


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_sums_of_many_subsets_are_taken_at_once(shape: tuple[int, ...]) -> None:
    assert limit_p_values(np.zeros(shape), np.ones(shape)).tolist() == np.full(shape, 0.5).tolist()
