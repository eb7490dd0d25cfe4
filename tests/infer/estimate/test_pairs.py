from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.arrays import estimate_scores
from sparingly.infer.estimate.result import Estimate

FIRST, SECOND = np.array([0]), np.array([1])


def deviation(found: Estimate) -> float:
    assert found.pairs is not None
    return float(found.pairs.deviations(FIRST, SECOND)[0])


def test_deviation_of_a_plain_sample() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    assert deviation(estimate_scores(scores, size=80)) == pytest.approx(
        (scores[:, 0] - scores[:, 1]).std(ddof=1)
    )


def test_items_count_for_as_many_as_they_stand_for() -> None:
    # Differences 0, 0, 3 that stand for 1, 1 and 4 items: mean 2, variance (4 + 4 + 4)/6 · 3/2 = 3.
    scores = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 2.0]])
    found = estimate_scores(scores, [1.0, 1.0, 0.25], size=6)
    assert deviation(found) == pytest.approx(np.sqrt(3.0))


def test_only_items_with_both_models_tell() -> None:
    scores = np.array([[1.0, 0.0], [4.0, 0.0], [9.0, np.nan], [np.nan, 9.0]])
    assert deviation(estimate_scores(scores, size=8)) == pytest.approx(np.sqrt(4.5))
    alone = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 1.0], [np.nan, 4.0]])
    assert np.isnan(deviation(estimate_scores(alone, size=8)))


def test_importance_counts_twice() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    weights = np.array([1.0, 1.0, 1.0, 5.0])
    found = estimate_scores(scores, weights=weights)
    w = weights / weights.mean()
    away = scores[:, 0] - w @ scores[:, 0] / 4
    assert deviation(found) == pytest.approx(np.sqrt((w**2 @ away**2) / 4 * 4 / 3))


def test_a_pair_is_decided_just_where_its_interval_leaves_0_out() -> None:
    rng = np.random.default_rng(0)
    for n in (12, 16, 20, 40):
        for _ in range(20):
            scores = np.full((400, 2), np.nan)
            scores[:n] = rng.random((n, 2)) < rng.random(2)
            scores[0] = 1.0
            found = estimate_scores(scores, target="population")
            pair = found.differences()[0]
            outside = pair.low > 1e-12 or pair.high < -1e-12
            assert outside == bool(found.pair_p_values()[0, 1] < 0.05), (n, pair)


def test_all_pass_against_all_fail_is_a_difference() -> None:
    scores = np.full((400, 2), np.nan)
    scores[:12] = [1.0, 0.0]
    found = estimate_scores(scores, target="population")
    assert found.difference("model 0", "model 1").low > 0
    assert found.pair_p_values()[0, 1] < 0.001
