from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.choose.design.probability import (
    FEWEST,
    MIN_CORRELATION,
    TAUS,
    remaining_variance,
    tau_from_pilot,
)


def test_the_variance_that_is_left_by_hand() -> None:
    own, size = np.array([1.0, 4.0]), np.array([0.5, 1.5])
    # π(0.5) is in the proportion 0.75 to 1.25.
    left, error = remaining_variance(own, size, 0.5)
    assert left == pytest.approx((1 / 0.75 + 4 / 1.25) / 5)
    away = np.array([1 * (1 / 0.75 - left), 4 * (1 / 1.25 - left)])
    assert error == pytest.approx(np.sqrt((away**2).sum()) / 5)
    assert remaining_variance(own, size, 0.0) == (1.0, 0.0)


def test_sizes_that_know_the_residuals_earn_the_largest_share() -> None:
    size = np.random.default_rng(0).uniform(0.2, 1.8, 200)
    found = tau_from_pilot(size**2, size, correlation=0.6)
    assert found.tau == found.best == max(TAUS)
    assert "tau 0.8 is what the pilot earned: on 200 judged items, drawn so, it leaves" in found.note(
        0.8, "drawn so"
    )
    assert "tau 0.3 was given" in found.note(0.3, "drawn so")


def test_the_share_is_that_of_the_least_sum() -> None:
    drawn = np.random.default_rng(2)
    size = drawn.uniform(0.2, 1.8, 400)
    own = (0.3 + size) ** 2 * drawn.chisquare(6, 400)
    found = tau_from_pilot(own, size, correlation=0.6)
    sums = {tau: float((own / (1 - tau + tau * size)).sum()) for tau in TAUS}
    assert found.tau == min(sums, key=sums.__getitem__)
    assert 0.0 < found.tau < 0.8


@pytest.mark.parametrize(
    ("count", "within", "said"),
    [
        (FEWEST - 1, 0.6, "too small to earn unequal probabilities: 39 judged items, not 40"),
        (200, MIN_CORRELATION - 0.01, "correlate by 0.29 only, not 0.3"),
    ],
)
def test_without_evidence_nothing_is_earned(count: int, within: float, said: str) -> None:
    size = np.random.default_rng(0).uniform(0.2, 1.8, count)
    found = tau_from_pilot(size**2, size, within)
    assert found.tau == 0.0
    assert said in found.note(0.0, "")


@pytest.mark.parametrize("seed", range(20))
def test_sizes_that_know_nothing_earn_nothing(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    size = drawn.uniform(0.5, 1.5, 60)
    found = tau_from_pilot(drawn.chisquare(5, 60), size / size.mean(), correlation=0.6)
    assert found.tau == 0.0
    assert "earns no unequal probabilities" in found.note(0.0, "")


def test_residuals_of_no_size_earn_nothing() -> None:
    found = tau_from_pilot(np.zeros(50), np.ones(50), correlation=0.9)
    assert found.tau == 0.0
    assert "none leaves less of the variance" in found.note(0.0, "")


@given(st.lists(st.floats(0.01, 100.0), min_size=40, max_size=60), st.floats(-1.0, 1.0))
def test_what_is_earned_is_of_the_grid_and_leaves_less(squares: list[float], within: float) -> None:
    own = np.array(squares)
    size = np.sqrt(own) / np.sqrt(own).mean()
    found = tau_from_pilot(own, size, within)
    assert found.tau in TAUS
    assert remaining_variance(own, size, found.tau)[0] <= 1.0
