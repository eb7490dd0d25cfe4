from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparingly.infer.plan.outlook import fewest_items, order_chances


def test_two_models_by_hand() -> None:
    covariance = 0.036 * np.eye(2)
    away = np.broadcast_to(np.array([1.0, 0.0]), (100_000, 2))
    winner, pairs, order = order_chances(away, covariance, seed=0)
    assert winner == pytest.approx(stats.norm.cdf(1 / np.sqrt(0.072)), abs=0.005)
    assert winner == pairs == order


def test_nothing_left_to_chance_gives_the_right_order() -> None:
    true = np.random.default_rng(0).normal(size=(100, 3))
    assert order_chances(true, np.zeros((3, 3)), seed=0) == (1.0, 1.0, 1.0)


def test_more_precise_scores_are_in_the_right_order_more_often() -> None:
    true, spread = np.broadcast_to(np.array([1.0, 0.5, 0.0, -0.2]), (4000, 4)), 9.0 * np.eye(4) + 20.0
    orders = [order_chances(true, spread * scale, seed=0)[2] for scale in (0.05, 0.01, 0.001)]
    assert orders == sorted(orders)


def test_doubt_of_the_scores_is_averaged_over() -> None:
    """The truth d ~ N(0, 2), its estimate d + N(0, 2s): P(same sign) = 1/2 + arcsin(ρ)/π."""
    true = np.random.default_rng(0).normal(size=(200_000, 2))
    winner = order_chances(true, 4.0 * np.eye(2), seed=0)[0]
    assert winner == pytest.approx(0.5 + np.arcsin(1 / np.sqrt(5.0)) / np.pi, abs=0.004)


def test_equal_models_have_no_wrong_order_and_one_model_has_none() -> None:
    assert order_chances(np.ones((100, 2)), np.eye(2), seed=0) == (1.0, 1.0, 1.0)
    assert order_chances(np.ones((100, 1)), np.eye(1), seed=0) == (1.0, 1.0, 1.0)


@given(st.integers(1, 2000), st.floats(0.01, 50))
def test_fewest_items_are_the_first_that_do(size: int, wanted: float) -> None:
    def width(n: int) -> float:
        return 40.0 * (1 / n - 1 / (2 * size))

    found = fewest_items(width, wanted, size)
    enough = [n for n in range(1, size + 1) if width(n) <= wanted]
    assert found == (enough[0] if enough else None)


def test_where_nothing_is_printed_nothing_is_enough() -> None:
    assert fewest_items(lambda n: float("nan") if n < 10 else 1.0, 2.0, 100) == 10
