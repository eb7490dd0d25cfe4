"""Tables of judgements: means of cells, rows taken, preferences derived from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparingly.base.errors import UsageError
from sparingly.data.tables import Preferences, Ratings, derive_preferences

NAN = np.nan


def ratings(**changed: Any) -> Ratings:
    columns: dict[str, Any] = {
        "item": np.array([0, 0, 1, 1, 0], np.int32),
        "model": np.array([0, 0, 1, 0, 0], np.int32),
        "rater": np.array([0, 1, 0, -1, 1], np.int32),
        "aspect": np.array([0, 0, 0, 1, 0], np.int32),
        "score": np.array([1.0, 2.0, 5.0, 7.0, NAN]),
        "seconds": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        "comment": np.array([None, None, "fine", None, "no score"], object),
        "raters": ("ann", "bob"),
        "aspects": ("fluency", "style"),
        "extra": {"wave": np.array(list("abcde"), object)},
    }
    return Ratings(**{**columns, **changed})


def test_means_of_cells() -> None:
    np.testing.assert_array_equal(ratings().means("fluency", 2, 2), [[1.5, NAN], [NAN, 5.0]])
    np.testing.assert_array_equal(ratings().means("style", 2, 2), [[NAN, NAN], [7.0, NAN]])
    np.testing.assert_array_equal(ratings().means("fluency", 3, 2)[2], [NAN, NAN])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(-100, 100)), max_size=30))
def test_means_are_those_of_a_loop(rows: list[tuple[int, int, float]]) -> None:
    count = len(rows)
    table = Ratings(
        item=np.array([row[0] for row in rows], np.int32),
        model=np.array([row[1] for row in rows], np.int32),
        rater=np.full(count, -1, np.int32),
        aspect=np.zeros(count, np.int32),
        score=np.array([row[2] for row in rows], np.float64),
        seconds=np.full(count, NAN),
        aspects=("overall",),
    )
    means = table.means("overall", 4, 3)
    for item in range(4):
        for model in range(3):
            scores = [score for i, m, score in rows if (i, m) == (item, model)]
            expected = np.mean(scores) if scores else NAN
            np.testing.assert_allclose(means[item, model], expected, rtol=1e-12, atol=1e-12)


def test_comments_are_counted() -> None:
    assert ratings().comments == 2
    assert ratings(comment=None).comments == 0


def test_rows_are_taken_with_everything_that_belongs_to_them() -> None:
    some = ratings().take(np.array([False, False, True, True, False]), item=np.array([7, 8], np.int32))
    assert len(some) == 2
    assert some.item.tolist() == [7, 8]
    assert some.score.tolist() == [5.0, 7.0]
    assert some.comment is not None
    assert some.comment.tolist() == ["fine", None]
    assert some.extra["wave"].tolist() == ["c", "d"]
    assert (some.raters, some.aspects) == (("ann", "bob"), ("fluency", "style"))
    assert ratings(comment=None).take(np.array([1])).comment is None


def test_an_empty_table() -> None:
    assert (len(Ratings()), len(Preferences())) == (0, 0)
    assert Ratings().comments == 0


def test_tables_are_frozen() -> None:
    table = ratings()
    for column in (table.item, table.score, table.comment, table.extra["wave"]):
        assert column is not None
        assert not column.flags.writeable
    extra: Any = table.extra
    with pytest.raises(TypeError):
        extra["new"] = None


def test_preferences_from_scores() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [5.0, NAN, 5.25]])
    table = derive_preferences(scores, "fluency")
    assert list(zip(table.item, table.first, table.second, table.value, strict=True)) == [
        (0, 0, 1, -1.0),
        (0, 0, 2, -1.0),
        (0, 1, 2, 1.0),
        (1, 0, 2, -1.0),
    ]
    assert (table.aspects, set(table.aspect.tolist())) == (("fluency",), {0})
    assert set(table.rater.tolist()) == {-1}
    assert np.isnan(table.seconds).all()


def test_scores_within_the_tie_width_are_ties() -> None:
    scores = np.array([[1.0, 1.5, 1.75]])
    assert derive_preferences(scores, "x", tie=0.5).value.tolist() == [0.0, -1.0, 0.0]
    assert derive_preferences(scores, "x", tie=10).value.tolist() == [0.0, 0.0, 0.0]


def test_the_tie_width_is_one_of_decimals() -> None:
    """0.4 - 0.3 is a little more than 0.1 in binary, 0.3 - 0.2 a little less."""
    assert derive_preferences(np.array([[0.4, 0.3], [0.3, 0.2]]), "x", tie=0.1).value.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("tie", [-0.1, NAN])
def test_a_tie_width_that_is_none(tie: float) -> None:
    with pytest.raises(UsageError, match="The tie width is zero or more"):
        derive_preferences(np.zeros((1, 2)), "x", tie)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(0, 4)), elements=st.floats(-9, 9)),
    st.floats(0, 5),
)
def test_preferences_turn_round_with_the_models(scores: Any, tie: float) -> None:
    """Every pair once; exchanging the models exchanges who wins."""
    table = derive_preferences(scores, "x", tie)
    turned = derive_preferences(scores[:, ::-1], "x", tie)
    items, models = scores.shape
    assert len(table) == items * models * (models - 1) // 2
    last = models - 1
    won = {
        (i, a, b): v for i, a, b, v in zip(table.item, table.first, table.second, table.value, strict=True)
    }
    for item, first, second, value in zip(
        turned.item, turned.first, turned.second, turned.value, strict=True
    ):
        assert won[item, last - second, last - first] == -value
