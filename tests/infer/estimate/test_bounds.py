from __future__ import annotations

import math

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.scale import empirical_bernstein, hoeffding_serfling


def test_hoeffding_by_hand() -> None:
    # R = 25, n = 100 of 400: 25·√((1 − 99/400)·ln(40)/200).
    assert hoeffding_serfling(100, 400, 25.0) == pytest.approx(
        25 * math.sqrt((1 - 99 / 400) * math.log(40) / 200)
    )
    assert hoeffding_serfling(100, np.inf, 1.0, 0.9) == pytest.approx(math.sqrt(math.log(20) / 200))


def test_bernstein_by_hand() -> None:
    told = math.log(60)
    expected = 3 * math.sqrt(2 * told / 100) + 3 * 25 * told / 100
    assert empirical_bernstein(3.0, 100, 25.0) == pytest.approx(expected)
    # A variance of 9 in the place of its root would make the bound a third wider already here.
    assert empirical_bernstein(9.0, 100, 25.0) > 1.3 * expected


def test_bernstein_wins_with_little_spread_and_many_items_only() -> None:
    assert empirical_bernstein(0.01, 10_000, 1.0) < hoeffding_serfling(10_000, np.inf, 1.0)
    assert empirical_bernstein(0.01, 50, 1.0) > hoeffding_serfling(50, np.inf, 1.0)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        hoeffding_serfling(10, 20, 1.0, level)
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        empirical_bernstein(1.0, 10, 1.0, level)


def test_more_items_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="from 1 to 20"):
        hoeffding_serfling(30, 20, 1.0)
