from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.data.tables import Preferences, derive_preferences
from sparingly.infer.rank.winners import margins_and_counts, pair_margins


def table(item: list[int], first: list[int], second: list[int], value: list[float]) -> Preferences:
    return Preferences(
        item=np.array(item, np.int32),
        first=np.array(first, np.int32),
        second=np.array(second, np.int32),
        value=np.array(value, np.float64),
    )


# Item 0: two people prefer a to b, one the reverse; item 1: b, softly; item 2: a tie of a and b, c over a.
VOTES = table([0, 0, 0, 1, 2, 2], [0, 0, 1, 1, 0, 2], [1, 1, 0, 0, 1, 0], [1.0, 1.0, 1.0, 0.5, 0.0, 1.0])


def test_an_item_counts_once_however_many_people_judged_it() -> None:
    margins, counts = margins_and_counts(VOTES, 3, None)
    assert margins[:2] == pytest.approx([(1 / 3 - 0.5 + 0.0) / 3, -1.0])
    assert np.isnan(margins[2])
    assert counts.tolist() == [3, 1, 0]
    assert margins_and_counts(VOTES, 3, [0])[0][0] == pytest.approx(1 / 3)


def test_votes_that_cancel_and_no_votes() -> None:
    cancelled = table([0, 1, 2], [0, 0, 1], [1, 1, 0], [0.1, 0.2, 0.3])
    assert margins_and_counts(cancelled, 2)[0].tolist() == [0.0]
    assert np.isnan(margins_and_counts(table([], [], [], []), 3)[0]).all()


scores_strategy = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=4, max_size=4), min_size=1, max_size=8
)


@given(scores_strategy, st.sampled_from([0.0, 1.0]))
def test_preferences_derived_from_scores_give_the_margins_of_the_scores(
    scores: list[list[float]], tie: float
) -> None:
    values = np.array(scores)
    derived, _ = margins_and_counts(derive_preferences(values, "any", tie), 4)
    np.testing.assert_allclose(derived, pair_margins(values, tie), atol=1e-12)
