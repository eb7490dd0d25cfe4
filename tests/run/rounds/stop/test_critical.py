"""The level of single comparisons, against what is known of Bonferroni's and Holm's corrections."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.run.rounds.stop.sequential import pair_level


def everyone(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return ~np.eye(count, dtype=bool)


def test_all_pairs_share_the_error() -> None:
    assert pair_level(everyone(4), 0.05) == pytest.approx(0.05 / 6)


def test_the_better_of_two_is_a_two_sided_test() -> None:
    assert pair_level(everyone(2), 0.05, "best") == 0.05


def test_the_best_of_several_shares_half_the_error_on_one_side() -> None:
    # Seven one-sided comparisons of a model at 0.025/7 each: two-sided 0.05/7.
    assert pair_level(everyone(8), 0.05, "best") == pytest.approx(0.05 / 7)


def test_an_order_is_one_sided() -> None:
    assert pair_level(everyone(5), 0.05, "order") == pytest.approx(2 * 0.05 / 10)
    single = np.array([[False, True], [False, False]])
    assert pair_level(single, 0.05, "order") == pytest.approx(0.1)
    assert pair_level(single, 0.8, "order") == 0.99


def test_fewer_open_pairs_leave_more_error_for_each() -> None:
    some = np.zeros((6, 6), bool)
    some[0, 1] = some[1, 0] = True
    assert pair_level(some, 0.05) == pytest.approx(0.05)
    assert pair_level(np.zeros((3, 3), bool), 0.05) == 0.05
