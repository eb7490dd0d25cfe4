from __future__ import annotations

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.data.tables import Ratings


def judged() -> EvalSet:
    rows = np.arange(6, dtype=np.int32)
    return EvalSet.from_arrays(
        ["a", "b", "c"],
        ["x", "y"],
        references={"human": ["A", "B", "C"]},
        aspects={"mqm": np.arange(6.0).reshape(3, 2)},
        ratings=Ratings(
            item=(rows // 2).astype(np.int32),
            # One rating is of the reference, whose code follows those of the models.
            model=np.array([0, 1, 0, 1, 0, 2], np.int32),
            rater=np.zeros(6, np.int32),
            aspect=np.zeros(6, np.int32),
            score=np.arange(6.0),
            seconds=np.ones(6),
            raters=("r",),
            aspects=("mqm",),
        ),
    ).with_preferences_from("mqm")


def test_only_the_scores_and_ratings_of_the_given_cells_are_seen() -> None:
    cells = np.array([[True, False], [False, True], [False, False]])
    seen = judged().reveal(cells)
    np.testing.assert_array_equal(np.isnan(seen.aspects["mqm"]), ~cells)
    kept = seen.ratings
    assert list(zip(kept.item.tolist(), kept.model.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 2)]
    assert len(seen.preferences) == 0


def test_preferences_are_seen_row_by_row() -> None:
    data = judged()
    seen = data.reveal(np.zeros(data.shape, bool), np.array([False, True, True]))
    assert seen.preferences.item.tolist() == [1, 2]


def test_a_view_keeps_its_items_and_models() -> None:
    data = judged().take(items=["b", "c"], models=["y"])
    seen = data.reveal(np.array([[True], [False]]))
    assert seen.models == ("y",)
    np.testing.assert_array_equal(seen.aspects["mqm"], [[3.0], [np.nan]])


def test_the_rest_of_the_set_is_as_it_was() -> None:
    data = load_invented()
    seen = data.reveal(np.zeros(data.shape, bool))
    assert set(data.metrics) == set(seen.metrics)
    inputs = [name for name in data.fields if name.startswith(("metric:", "column:")) or name == "outputs"]
    assert data.digest(inputs) == seen.digest(inputs)
