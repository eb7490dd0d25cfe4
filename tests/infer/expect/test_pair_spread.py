"""Variances of differences with gaps against brute force, and what few items borrow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sparingly.infer.expect.expect import PairVariances, pair_variances, pooled_deviations


@settings(max_examples=40, deadline=None)
@given(some.integers(0, 10_000), some.integers(2, 15), some.integers(2, 5), some.floats(0.2, 1.0))
def test_variances_are_those_of_the_common_items(seed: int, items: int, models: int, share: float) -> None:
    draw = np.random.default_rng(seed)
    scores = 50.0 + 10.0 * draw.normal(size=(items, models))
    judged = draw.random(scores.shape) < share
    found = pair_variances(np.where(judged, scores, np.nan), judged)
    for place, (one, other) in enumerate(combinations(range(models), 2)):
        both = judged[:, one] & judged[:, other]
        apart = scores[both, one] - scores[both, other]
        assert found.common[place] == both.sum()
        right = apart.var(ddof=1) if both.sum() > 1 else 0.0
        assert found.variance[place] == pytest.approx(right, rel=1e-8, abs=1e-8)


def test_few_items_borrow_and_many_do_not() -> None:
    found = PairVariances(np.array([4.0, 0.0, 9.0]), np.array([101.0, 0.0, 11.0]))
    mean = (4.0 * 100 + 9.0 * 10) / 110
    spread = pooled_deviations(found, np.ones(3))
    right = [(400 + 5 * mean) / 105, mean, (90 + 5 * mean) / 15]
    np.testing.assert_allclose(spread**2, right)


def test_models_that_metrics_see_close_together_borrow_less() -> None:
    nothing = PairVariances(np.array([1.0, 0.0, 0.0]), np.array([50.0, 0.0, 0.0]))
    spread = pooled_deviations(nothing, np.array([1.0, 0.2, 1.8]))
    np.testing.assert_allclose(spread[1:] ** 2, [0.2, 1.8])


def test_no_spread_at_all_is_not_zero() -> None:
    assert (pooled_deviations(PairVariances(np.zeros(1), np.array([9.0])), np.ones(1)) > 0).all()
