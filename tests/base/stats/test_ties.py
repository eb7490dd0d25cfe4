"""The one rule for ties, by hand and against the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import check_tie, preferred
from sparingly.data.tables import derive_preferences
from sparingly.infer.rank.winners import pair_margins

NAN = np.nan


def test_by_hand() -> None:
    differences = np.array([0.5, -0.5, 0.25, -0.25, 0.0, NAN])
    np.testing.assert_array_equal(preferred(differences), [1, -1, 1, -1, 0, NAN])
    np.testing.assert_array_equal(preferred(differences, 0.25), [1, -1, 0, 0, 0, NAN])


@pytest.mark.parametrize(("first", "second"), [(0.4, 0.3), (0.3, 0.2), (0.9, 0.8), (100.4, 100.3)])
def test_a_difference_written_as_the_width_is_a_tie(first: float, second: float) -> None:
    assert preferred(np.array([first - second, second - first]), 0.1).tolist() == [0.0, 0.0]
    assert preferred(np.array([first - second + 0.001]), 0.1).tolist() == [1.0]


def test_without_a_width_only_equal_scores_tie() -> None:
    assert preferred(np.array([5e-324, -5e-324, 0.0])).tolist() == [1.0, -1.0, 0.0]


@pytest.mark.parametrize("tie", [-0.1, NAN])
def test_a_width_that_is_none(tie: float) -> None:
    with pytest.raises(UsageError, match="The tie width is zero or more"):
        check_tie(tie)
    with pytest.raises(UsageError, match="The tie width is zero or more"):
        preferred(np.zeros(1), tie)


@given(hnp.arrays(np.float64, (6, 2), elements=st.integers(0, 20).map(lambda tenths: tenths / 10)))
def test_preferences_of_a_set_and_of_a_comparison_agree(scores: Any) -> None:
    for tie in (0.0, 0.1, 0.3):
        derived = derive_preferences(scores, "x", tie).value.tolist()
        assert derived == [float(pair_margins(item[None], tie)[0]) for item in scores]
        apart = np.rint(scores[:, 0] * 10) - np.rint(scores[:, 1] * 10)
        assert derived == [0.0 if abs(gap) <= round(tie * 10) else float(np.sign(gap)) for gap in apart]
