"""Ratings and preferences by hand."""

from __future__ import annotations

import numpy as np

from sparingly.data.describe.judgements import RatingsSummary, Seconds, preferences, ratings
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings

NAN = float("nan")
Row = tuple[int, int, int, int, float, float]


def table(rows: list[Row], comment: list[str | None] | None = None) -> Ratings:
    item, model, rater, aspect, score, seconds = zip(*rows, strict=True)
    return Ratings(
        item=np.array(item, np.int32),
        model=np.array(model, np.int32),
        rater=np.array(rater, np.int32),
        aspect=np.array(aspect, np.int32),
        score=np.array(score, np.float64),
        seconds=np.array(seconds, np.float64),
        comment=None if comment is None else np.array(comment, object),
        raters=("ann", "bob"),
        aspects=("overall", "fluency"),
    )


def rated(rows: list[Row], comment: list[str | None] | None = None) -> EvalSet:
    return EvalSet.from_arrays(
        ["a", "b"], ["m", "n"], references={"ref": ["x", "y"]}, ratings=table(rows, comment)
    )


def summary(rows: list[Row], comment: list[str | None] | None = None) -> RatingsSummary:
    found = ratings(rated(rows, comment))
    assert found is not None
    return found


def test_counts_by_hand() -> None:
    found = summary(
        [
            (0, 0, 0, 0, 50, NAN),
            (0, 0, 1, 0, 70, NAN),
            (0, 0, 0, 1, 60, NAN),
            (1, 1, 0, 0, 10, NAN),
            (1, 1, 0, 0, 20, NAN),
            (1, 0, -1, 0, 30, NAN),
            (1, 0, -1, 0, 30, NAN),
            (1, 2, 1, 0, 99, NAN),
        ]
    )
    assert found.count == 8
    assert found.raters == {"": 2, "ann": 4, "bob": 2}
    assert found.aspects == {"overall": 7, "fluency": 1}
    # Cells: (a,m,overall) twice, (a,m,fluency), (b,n,overall) twice, (b,m,overall) twice, (b,ref,overall).
    assert (found.cells, found.repeated_share) == (5, 3 / 5)
    assert (found.duplicates, found.of_unknown_raters, found.of_references) == (1, 2, 1)
    assert (found.comments, found.seconds) == (0, None)


def test_remarks_are_comments_and_no_ratings() -> None:
    found = summary([(0, 0, 0, 0, 50, NAN), (0, 0, 0, 0, NAN, NAN)], [None, "odd word"])
    assert (found.count, found.comments, found.duplicates) == (1, 1, 0)


def test_seconds_by_hand() -> None:
    found = summary([(0, 0, 0, 0, 1, 10.0), (0, 1, 0, 0, 1, 30.0), (1, 0, 1, 0, 1, NAN)])
    assert found.seconds == Seconds(known=2, median=20.0, longest=30.0, total=40.0)


def test_one_time_beside_every_aspect_counts_once() -> None:
    rows: list[Row] = [(item, 0, 0, aspect, 1, 10.0 + item) for item in (0, 1) for aspect in (0, 1)]
    assert summary(rows).seconds == Seconds(known=2, median=10.5, longest=11.0, total=21.0)


def test_times_of_their_own_are_added_even_when_two_agree_by_chance() -> None:
    rows: list[Row] = [(0, 0, 0, 0, 1, 10), (0, 0, 0, 1, 1, 10), (0, 1, 0, 0, 1, 9), (0, 1, 0, 1, 1, 4)]
    rows += [(1, 0, 0, 0, 1, 8), (1, 0, 0, 1, 1, 3)]
    found = summary(rows).seconds
    assert found is not None
    assert (found.known, found.total) == (6, 44.0)


def test_equal_times_of_unknown_raters_are_two_judgements() -> None:
    found = summary([(0, 0, -1, 0, 1, 10.0), (0, 0, -1, 1, 1, 10.0)]).seconds
    assert found is not None
    assert found.total == 20.0


def test_a_view_describes_its_own_ratings_only() -> None:
    data = rated([(0, 0, 0, 0, 50, NAN), (1, 0, 1, 0, 70, NAN)])
    found = ratings(data.take(items=["b"]))
    assert found is not None
    assert found.raters == {"bob": 1}
    assert ratings(data.without_labels()) is None


def test_preferences_by_hand() -> None:
    given = Preferences(
        item=np.array([0, 0, 1, 1], np.int32),
        first=np.array([0, 1, 2, 0], np.int32),
        second=np.array([1, 0, 0, 2], np.int32),
        value=np.array([1.0, 0.0, -1.0, 0.0]),
        rater=np.array([0, 0, -1, 1], np.int32),
        aspect=np.array([-1, 0, 0, 0], np.int32),
        seconds=np.full(4, NAN),
        raters=("ann", "bob"),
        aspects=("overall",),
    )
    found = preferences(EvalSet.from_arrays(["a", "b"], ["m", "n", "o"], preferences=given))
    assert found is not None
    assert (found.count, found.ties_share, found.raters) == (4, 0.5, 2)
    assert found.aspects == {"": 1, "overall": 3}
    assert (found.pairs, found.possible_pairs) == (2, 3)


def test_nobody_said_anything() -> None:
    data = EvalSet.from_arrays(["a"], ["m"])
    assert (ratings(data), preferences(data)) == (None, None)
