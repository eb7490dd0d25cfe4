"""The level of each of several comparisons: against known critical values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.run.rounds.stop.critical import pair_level


def everyone(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return ~np.eye(count, dtype=bool)


def test_all_pairs_are_the_largest_t() -> None:
    level = pair_level(np.eye(4), everyone(4), 0.05)
    exact = stats.studentized_range.ppf(0.95, 4, 1e5) / np.sqrt(2)
    assert stats.norm.isf(level / 2) == pytest.approx(exact, abs=0.04)


def test_the_best_is_dunnetts_one_sided_comparison() -> None:
    # Five treatments and a control, one-sided 5 %, many degrees of freedom: 2.23 (Dunnett 1955, table 1a).
    level = pair_level(np.eye(6), everyone(6), 0.05, question="best")
    assert stats.norm.isf(level / 2) == pytest.approx(2.23, abs=0.04)


def test_an_order_is_one_sided() -> None:
    oriented = np.triu(np.ones((5, 5), bool), 1)
    one = pair_level(np.eye(5), oriented, 0.05, question="order")
    two = pair_level(np.eye(5), everyone(5), 0.05)
    assert one > 1.5 * two
    single = pair_level(np.eye(2), np.array([[False, True], [False, False]]), 0.05, question="order")
    assert single == pytest.approx(0.1, abs=0.01)


def test_fewer_open_pairs_leave_more_error_for_each() -> None:
    some = np.zeros((6, 6), bool)
    some[0, 1] = some[1, 0] = True
    assert pair_level(np.eye(6), some, 0.05) == pytest.approx(0.05, abs=0.005)
    assert pair_level(np.eye(6), everyone(6), 0.05) < 0.01


def test_few_degrees_of_freedom_and_pairs_without_error() -> None:
    level = pair_level(np.eye(3), everyone(3), 0.05, degrees=8.0)
    exact = stats.studentized_range.ppf(0.95, 3, 8) / np.sqrt(2)
    assert stats.t.isf(level / 2, 8) == pytest.approx(exact, abs=0.06)
    assert pair_level(np.ones((2, 2)), everyone(2), 0.05) == 0.05
