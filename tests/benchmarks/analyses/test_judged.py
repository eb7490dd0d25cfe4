from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.analyses.pairs import item_preferences
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.winners import margins_and_counts

SCORES = np.array([[3.0, 1.0, 2.0], [1.0, 1.5, np.nan], [2.0, 2.0, 0.0], [0.0, 4.0, 4.0]])


def scored() -> EvalSet:
    return EvalSet.from_arrays(list("wxyz"), list("abc"), aspects={"mqm": SCORES})


def test_by_scores() -> None:
    found = item_preferences(scored(), "mqm", None, 0.5)
    assert found.by == "mqm"
    np.testing.assert_array_equal(found.between(0, 1), [1.0, 0.0, 0.0, -1.0])
    np.testing.assert_array_equal(found.between(2, 0), [-1.0, np.nan, -1.0, 1.0])


@given(st.sampled_from([0.0, 0.5, 1.0]))
def test_given_preferences_are_the_same_as_the_scores_they_come_from(tie: float) -> None:
    data = scored()
    own = item_preferences(data.with_preferences_from("mqm", tie), None, None, 0.0)
    by_scores = item_preferences(data, "mqm", None, tie)
    for first, second in zip(*pair_indices(3), strict=True):
        for pair in ((first, second), (second, first)):
            np.testing.assert_array_equal(own.between(*pair), by_scores.between(*pair))


def test_margins_are_those_of_winners() -> None:
    data = load_invented().with_preferences_from("overall", 2.0)
    found = item_preferences(data, None, None, 0.0)
    margins, _ = margins_and_counts(data.preferences, len(data.models))
    pairs = list(zip(*pair_indices(len(data.models)), strict=True))
    np.testing.assert_allclose([np.nanmean(found.between(*pair)) for pair in pairs], margins)


def test_what_cannot_be_asked() -> None:
    data = scored()
    with pytest.raises(UsageError, match="Give a truth or an aspect of the preferences, not both"):
        item_preferences(data, "mqm", "mqm", 0.0)
    with pytest.raises(UsageError, match="A tie width goes with a truth"):
        item_preferences(data, None, None, 1.0)
    with pytest.raises(UsageError, match="The tie width is zero or more, not -1"):
        item_preferences(data, "mqm", None, -1.0)
    with pytest.raises(MissingDataError, match="The set has no preferences"):
        item_preferences(data, None, None, 0.0)
