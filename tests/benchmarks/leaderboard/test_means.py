"""Means over budgets and runs, and their differences from random's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.leaderboard.ranges import difference_on, differences, mean_of, mean_on, run_means
from tests.benchmarks.leaderboard.arrays import results_of, runs_of

RANDOM = np.array([[0.6, 0.8], [0.7, 0.9], [0.5, 0.8]])
DRAWN = np.array([[0.7, 0.8], [0.8, 0.9]])


def test_a_runs_figure_is_its_mean_over_budgets() -> None:
    np.testing.assert_allclose(run_means(runs_of(RANDOM)), [0.7, 0.8, 0.65])


def test_a_mean_over_seeds_has_students_interval() -> None:
    found = mean_of(runs_of(RANDOM)).range()
    values = RANDOM.mean(axis=1)
    low, high = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high))


def test_a_run_without_all_budgets_is_left_out() -> None:
    assert mean_of(runs_of([[0.6, 0.8], [0.9, np.nan]])).value == pytest.approx(0.7)


def test_a_method_without_a_seed_has_the_error_of_its_resamples() -> None:
    resampled = np.array([[0.6, 0.8], [0.7, 0.9], [0.5, 0.7], [0.6, 0.6]])
    found = mean_of(runs_of([0.9, 0.94], resampled=resampled))
    assert found.value == pytest.approx(0.92)
    assert found.error == pytest.approx(2.0 * np.std(resampled.mean(axis=1), ddof=1))
    assert found.freedom == 3.0
    assert np.isnan(mean_of(runs_of([0.9, 0.94])).error)


def test_a_difference_of_seeds_has_welchs_interval() -> None:
    results = results_of({("a", "random"): runs_of(RANDOM), ("a", "drawn"): runs_of(DRAWN)})
    found = difference_on(results, "a", "drawn").range()
    expected = stats.ttest_ind(DRAWN.mean(axis=1), RANDOM.mean(axis=1), equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(DRAWN.mean() - RANDOM.mean())
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_a_difference_is_taken_at_the_budgets_of_both() -> None:
    results = results_of(
        {("a", "random"): runs_of(RANDOM), ("a", "slow"): runs_of([[0.85], [0.95]], shares=[0.2])}
    )
    assert difference_on(results, "a", "slow").value == pytest.approx(0.9 - RANDOM[:, 1].mean())


def test_a_difference_without_a_seed_has_the_errors_of_both_sides() -> None:
    resampled = np.array([[0.6, 0.8], [0.7, 0.9], [0.5, 0.7], [0.6, 0.6]])
    listed = runs_of([0.9, 0.94], resampled=resampled)
    found = difference_on(results_of({("a", "random"): runs_of(RANDOM), ("a", "list"): listed}), "a", "list")
    assert found.value == pytest.approx(0.92 - RANDOM.mean())
    own, random = 2.0 * np.std(resampled.mean(axis=1), ddof=1), stats.sem(RANDOM.mean(axis=1))
    assert found.error == pytest.approx(np.hypot(own, random))


def test_only_counting_sets_with_both_are_compared() -> None:
    runs = {(name, entry): runs_of(RANDOM) for name in "abc" for entry in ("random", "drawn")}
    del runs["b", "drawn"]
    results = results_of(runs, apart=("c",))
    assert [*differences(results, "drawn")] == ["a"]
    assert [*differences(results, "drawn", names=["a", "b", "c"])] == ["a", "c"]
    assert np.isnan(mean_on(results, "b", "drawn").value)


def test_random_does_not_differ_from_itself() -> None:
    found = difference_on(results_of({("a", "random"): runs_of(RANDOM)}), "a", "random")
    assert (found.value, found.error) == (0.0, 0.0)
