from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparingly.base.errors import UsageError
from sparingly.choose.design.draws import decide_last, is_whole, snap_probabilities, step, undecided


def test_what_is_zero_or_one_up_to_rounding_becomes_it() -> None:
    given = np.array([1e-17, 0.5, 1 - 1e-16, 1 + 1e-15, -1e-16])
    found = snap_probabilities(given)
    assert found.tolist() == [0.0, 0.5, 1.0, 1.0, 0.0]
    assert undecided(found).tolist() == [1]
    assert given[0] == 1e-17, "what was given stays as it is"


@pytest.mark.parametrize("wrong", [[0.5, 1.1], [-0.1], [np.nan]])
def test_other_numbers_are_refused(wrong: list[float]) -> None:
    with pytest.raises(UsageError, match="lie between 0 and 1"):
        snap_probabilities(np.array(wrong))
    with pytest.raises(UsageError, match="one inclusion probability per unit"):
        snap_probabilities(np.array([wrong]))


def test_the_last_unit() -> None:
    assert [decide_last(1 - 1e-9, 0.99), decide_last(1e-9, 0.0)] == [True, False]
    assert [decide_last(0.3, 0.29), decide_last(0.3, 0.31)] == [True, False]
    assert is_whole(2.0000000001)
    assert not is_whole(2.01)


def test_steps_end_where_the_first_unit_is_decided() -> None:
    # A pair with .3 and .2 moves up by .2 (the second is left) or down by .3 (the first is).
    values = np.array([0.3, 0.2, 0.7, 0.6])
    groups, directions = np.array([[0, 1], [2, 3]]), np.array([[1.0, -1.0], [1.0, -1.0]])
    # Up with probability .3/.5 = .6; the other pair up by .3 (the first is taken) with probability .4/.7.
    step(values, groups, directions, np.array([0.59, 0.58]))
    assert_allclose(values, [0.5, 0.0, 0.3, 1.0], atol=1e-15)
    again = np.array([0.3, 0.2, 0.7, 0.6])
    step(again, groups, directions, np.array([0.61, 0.57]))
    assert_allclose(again, [0.0, 0.5, 1.0, 0.3], atol=1e-15)


def test_a_unit_without_a_direction_stays() -> None:
    values = np.array([0.4, 0.5, 0.5])
    step(values, np.array([[0, 1, 2]]), np.array([[0.0, 2.0, -2.0]]), np.array([0.1]))
    assert values.tolist() == [0.4, 1.0, 0.0]
