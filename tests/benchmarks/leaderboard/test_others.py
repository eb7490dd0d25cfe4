"""Other measures of the ranking."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.leaderboard.board import OTHERS, others
from tests.benchmarks.leaderboard.arrays import results_of, runs_of

RANDOM = np.array([[0.2, 0.4], [0.4, 0.6]])
OWN = np.array([[0.5, 0.7], [0.6, 1.0]])


def test_means_are_over_sets_and_differences_over_what_both_have() -> None:
    runs = {(name, "random"): runs_of(RANDOM, measure="kendall_b") for name in "abc"}
    runs["a", "made"] = runs_of(OWN, measure="kendall_b")
    runs["b", "made"] = runs_of(OWN[:, 1:], shares=[0.2], measure="kendall_b")
    runs["c", "made"] = runs_of(np.zeros((2, 2)), measure="kendall_b")
    found = others(results_of(runs, apart=("c",)), "made")
    assert [*found] == [*OTHERS]
    assert found["kendall_b"].mean.value == pytest.approx((0.7 + 0.85) / 2)
    # On b at the second budget only.
    assert found["kendall_b"].above.value == pytest.approx(((0.7 - 0.4) + (0.85 - 0.5)) / 2)
    assert np.isnan(found["top1_match"].mean.value)
    assert np.isnan(found["top1_match"].above.value)


def test_a_mean_on_one_set_has_students_interval() -> None:
    found = others(results_of({("a", "random"): runs_of(10.0 + RANDOM, measure="rank_changes")}), "random")
    values = 10.0 + RANDOM.mean(axis=1)
    low, high = stats.t.interval(0.95, 1, values.mean(), stats.sem(values))
    mean = found["rank_changes"].mean
    assert (mean.value, mean.low, mean.high) == pytest.approx((10.4, low, high))
    assert found["rank_changes"].above.value == 0.0


@pytest.mark.parametrize(("measure", "low", "high"), [("top1_match", 0.0, 1.0), ("kendall_b", -0.87, 1.0)])
def test_intervals_end_where_a_measure_must(measure: str, low: float, high: float) -> None:
    found = others(results_of({("a", "random"): runs_of(RANDOM, measure=measure)}), "random")[measure].mean
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)
