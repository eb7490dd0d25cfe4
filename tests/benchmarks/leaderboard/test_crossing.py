"""Where curves reach targets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.leaderboard.parity import Places, error_exponent, reached
from sparingly.infer.rank.curve import ParityRule

PLACES = Places(np.array([100.0, 200.0, 300.0, 1000.0]), smallest=10.0, exponent=0.5)


def reach(values: list[float], target: float, rule: ParityRule = "stays") -> tuple[float, int]:
    sizes, place = reached(PLACES, np.array([values]), np.array([[target]]), rule)
    return float(sizes[0, 0]), int(place[0, 0])


def test_between_two_budgets_a_curve_is_straight() -> None:
    assert reach([0.6, 0.8, 0.9], 0.7) == pytest.approx((150.0, 1))


def test_a_target_at_a_budget_is_reached_there() -> None:
    assert reach([0.6, 0.8, 0.9], 0.8) == pytest.approx((200.0, 1))


def test_beyond_the_last_budget_the_curve_goes_to_the_full_set() -> None:
    size, place = reach([0.6, 0.8, 0.9], 0.95)
    assert size == pytest.approx(650.0)
    assert place == 3


def test_below_the_first_budget_the_error_follows_its_law() -> None:
    # An error of 0.2 at 100 labels that falls by the root of the size is 0.4 at 25 labels.
    assert reach([0.8, 0.85, 0.9], 0.6) == pytest.approx((25.0, 0))
    # But no less than one item is judged.
    assert reach([0.999, 0.999, 0.999], 0.5)[0] == 10.0


def test_a_curve_that_falls_again_has_not_stayed() -> None:
    assert reach([0.8, 0.6, 0.9], 0.7)[0] == pytest.approx(200.0 + 100.0 / 3)
    assert reach([0.6, 0.8, 0.6], 0.7, "first_crossing")[0] == pytest.approx(150.0)
    assert reach([0.6, 0.8, 0.6], 0.7)[0] == pytest.approx(300.0 + 700.0 / 4)


def test_an_accuracy_of_one_is_reached_at_the_full_set_at_the_latest() -> None:
    assert reach([0.6, 0.8, 0.9], 1.0) == (1000.0, 3)
    assert reach([0.6, 0.8, 1.0], 1.0) == (300.0, 2)


curves = st.lists(st.floats(0.5, 1.0), min_size=3, max_size=3)


@given(curves, st.floats(0.5, 1.0))
def test_both_rules_agree_with_a_walk_along_the_curve(values: list[float], target: float) -> None:
    fine = np.linspace(100.0, 1000.0, 9_001)
    heights = np.interp(fine, PLACES.sizes, [*values, 1.0])
    is_there = heights >= target - 1e-9
    first = fine[np.argmax(is_there)]
    stays = fine[len(fine) - np.argmin(is_there[::-1])] if not is_there.all() else fine[0]
    for rule, expected in (("first_crossing", first), ("stays", stays)):
        size, place = reach(values, target, rule)  # type: ignore[arg-type]
        if place > 0:
            assert size == pytest.approx(expected, abs=0.11)
        else:
            assert size <= 100.0
            assert is_there[0]


@given(curves, st.floats(0.5, 1.0), st.floats(0.0, 0.2))
def test_a_higher_curve_needs_no_more(values: list[float], target: float, lift: float) -> None:
    lifted = [min(1.0, value + lift) for value in values]
    assert reach(lifted, target)[0] <= reach(values, target)[0] + 1e-6
    assert reach(values, target, "first_crossing")[0] <= reach(values, target)[0] + 1e-6


def test_the_exponent_is_that_of_the_first_two_budgets() -> None:
    sizes = np.array([100.0, 200.0, 300.0])
    assert error_exponent(sizes, 1.0 - 3.0 / sizes**0.4) == pytest.approx(0.4)
    assert error_exponent(sizes, np.array([0.9, 1.0, 1.0])) == 0.5
    assert error_exponent(sizes[:1], np.array([0.9])) == 0.5
    assert error_exponent(sizes, np.array([0.9, 0.8, 0.9])) == 0.2
