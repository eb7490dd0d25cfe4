"""Intervals of means and ratios."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.leaderboard.ranges import (
    Measured,
    Range,
    Ratio,
    mean_measured,
    mean_ratio,
    pooled_error,
    quantile,
    worst,
)

VALUES = np.array([0.2, 0.5, 0.9, 0.4])
OTHERS = np.array([0.1, 0.35, 0.2, 0.3, 0.15, 0.22])


def measured(values: np.ndarray) -> Measured:
    return Measured(float(values.mean()), float(stats.sem(values)), len(values) - 1)


def test_a_mean_has_students_interval() -> None:
    found = measured(VALUES).range()
    low, high = stats.t.interval(0.95, 3, VALUES.mean(), stats.sem(VALUES))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_error_of_a_difference_is_welchs() -> None:
    one, other = measured(VALUES), measured(OTHERS)
    error, freedom = pooled_error([one.error, other.error], [one.freedom, other.freedom])
    found = Measured(one.value - other.value, error, freedom).range()
    expected = stats.ttest_ind(VALUES, OTHERS, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_mean_over_sets_has_the_error_of_its_parts() -> None:
    found = mean_measured([Measured(1.0, 0.3, 9.0), Measured(3.0, 0.4, 9.0)])
    assert found.value == 2.0
    assert found.error == pytest.approx(0.25)
    assert 9.0 < found.freedom < 18.0


def test_a_part_without_an_error_leaves_the_mean_without_an_interval() -> None:
    found = mean_measured([Measured(1.0, 0.3, 9.0), Measured(3.0)]).range()
    assert found.value == 2.0
    assert np.isnan([found.low, found.high]).all()


def test_exact_figures_have_a_point_as_their_interval() -> None:
    assert mean_measured([Measured(0.0, 0.0), Measured(0.0, 0.0)]).range() == Range(0.0, 0.0, 0.0)


def test_the_quantile_of_many_is_the_normals() -> None:
    assert quantile(np.inf) == pytest.approx(stats.norm.ppf(0.975))
    assert quantile(9.0) == pytest.approx(stats.t.ppf(0.975, 9))


@given(st.floats(0.05, 5.0), st.floats(0.0, 0.5), st.integers(0, 9))
def test_the_interval_of_a_ratio_holds_it_and_stays_above_zero(
    value: float, spread: float, seed: int
) -> None:
    draws = value + spread * np.random.default_rng(seed).normal(size=50)
    found = Ratio(value, draws).range()
    assert 0.0 <= found.low <= value <= found.high
    # The centre of the draws, which is off, does not move it.
    assert Ratio(value, draws + 7.0).range().low == pytest.approx(found.low, rel=1e-6)


def test_the_width_of_a_ratios_interval_by_hand() -> None:
    draws = np.array([0.7, 0.9])
    half = stats.norm.ppf(0.975) * np.std(draws, ddof=1) / 0.8
    found = Ratio(0.8, draws).range()
    assert (found.low, found.high) == pytest.approx((0.8 * np.exp(-half), 0.8 * np.exp(half)))


def test_a_mean_of_ratios_is_taken_draw_by_draw() -> None:
    found = mean_ratio([Ratio(1.0, np.array([1.0, 2.0]), 9.0), Ratio(3.0, np.array([2.0, 5.0]), 9.0)])
    assert found.value == 2.0
    np.testing.assert_array_equal(found.draws, [1.5, 3.5])
    assert np.isinf(found.freedom)
    assert np.isnan(mean_ratio([]).range().value)


def test_the_worst_is_the_largest_that_is_known() -> None:
    unknown, low, high = Ratio(np.nan, np.ones(2)), Ratio(0.5, np.ones(2)), Ratio(1.5, np.ones(2))
    assert worst([("a", unknown), ("b", high), ("c", low)]) == ("b", high)
    assert worst([("a", unknown)]) is None


def test_an_interval_ends_where_the_number_must_and_stays_unknown_where_it_is() -> None:
    assert Range(0.9, 0.7, 1.1).within(0.0, 1.0) == Range(0.9, 0.7, 1.0)
    assert Range(0.1, -0.1, 0.3).within(0.0, 1.0) == Range(0.1, 0.0, 0.3)
    unknown = Range(0.9).within(0.0, 1.0)
    assert unknown.value == 0.9
    assert np.isnan([unknown.low, unknown.high]).all()
