from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.infer.plan.precision import detectable, fewest_items, half_width, precision


def test_two_models_by_hand() -> None:
    found = precision(np.array([1.0, 0.0]), 4.0 * np.eye(2), 1000, 100, draws=100_000)
    error = np.sqrt(0.9 * 4 / 100)
    assert found.half_width == pytest.approx(1.96 * error, rel=1e-3)
    assert found.detectable == pytest.approx((1.96 + 0.8416) * np.sqrt(2) * error, rel=1e-3)
    chance = stats.norm.cdf(1 / (np.sqrt(2) * error))
    assert found.right_winner == pytest.approx(chance, abs=0.005)
    assert found.right_pairs == found.right_winner == found.right_order


def test_judging_everything_leaves_nothing_to_chance() -> None:
    found = precision(np.array([3.0, 1.0, 2.0]), np.eye(3), 50, 50)
    assert (found.half_width, found.right_order, found.right_winner) == (0.0, 1.0, 1.0)
    doubtful = precision(np.random.default_rng(0).normal(size=(100, 3)), np.eye(3), 50, 50)
    assert doubtful.right_order == 1.0


def test_other_inputs_vary_even_when_everything_is_judged() -> None:
    found = precision(np.array([1.0, 0.0]), np.eye(2), 50, 50, beyond=0.02 * np.eye(2))
    assert found.half_width == 0.0
    assert found.detectable == pytest.approx((1.96 + 0.8416) * np.sqrt(0.04), rel=1e-3)


def test_more_items_tell_more_and_documents_less() -> None:
    scores, spread = np.array([1.0, 0.5, 0.0, -0.2]), 9.0 * np.eye(4) + 20.0
    found = [precision(scores, spread, 500, n) for n in (20, 100, 400)]
    for name in ("half_width", "detectable"):
        values = [getattr(one, name) for one in found]
        assert values == sorted(values, reverse=True)
    assert [one.right_order for one in found] == sorted(one.right_order for one in found)
    clustered = precision(scores, spread, 500, 100, design_effect=2.0)
    assert clustered.half_width == pytest.approx(np.sqrt(2) * found[1].half_width)


def test_doubt_of_the_scores_is_averaged_over() -> None:
    """The truth d ~ N(0, 2), its estimate d + N(0, 2s): P(same sign) = 1/2 + arcsin(ρ)/π."""
    spread, n = 40.0 * np.eye(2), 10
    true = np.random.default_rng(0).normal(size=(200_000, 2))
    found = precision(true, spread, 10**9, n)
    rho = 1 / np.sqrt(1 + 40.0 / n)
    assert found.right_winner == pytest.approx(0.5 + np.arcsin(rho) / np.pi, abs=0.004)


def test_equal_models_have_no_wrong_order() -> None:
    found = precision(np.array([1.0, 1.0]), np.eye(2), 100, 10)
    assert (found.right_winner, found.right_pairs, found.right_order) == (1.0, 1.0, 1.0)


def test_one_model_has_no_differences() -> None:
    found = precision(np.array([1.0]), np.eye(1), 100, 10)
    assert (found.detectable, found.right_winner, found.right_pairs, found.right_order) == (
        0.0,
        1.0,
        1.0,
        1.0,
    )


def test_widths_are_means_and_differences_are_those_of_a_middle_pair() -> None:
    covariance = np.diag([1.0, 4.0, 9.0])
    z = stats.norm.ppf(0.975)
    assert half_width(covariance, 0.95) == pytest.approx(2 * z)
    assert detectable(covariance, 0.95, 0.5) == pytest.approx(z * np.sqrt(10.0))


@given(st.integers(1, 2000), st.floats(0.01, 50))
def test_fewest_items_are_the_first_that_do(size: int, wanted: float) -> None:
    def told(n: int) -> float:
        return 40.0 * (1 / n - 1 / (2 * size))

    found = fewest_items(told, wanted, size)
    enough = [n for n in range(1, size + 1) if told(n) <= wanted]
    assert found == (enough[0] if enough else None)


def test_what_cannot_be_planned() -> None:
    for n in (0, 11):
        with pytest.raises(UsageError, match=f"{n} of 10"):
            precision(np.ones(2), np.eye(2), 10, n)
