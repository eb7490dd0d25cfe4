"""Sets put together from arrays: what does not fit is told in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import DataError
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings
from tests.data.hand_made import DATA

NAN = np.nan


def one_rating(item: int, model: int) -> Ratings:
    code = np.zeros(1, np.int32)
    return Ratings(
        item=code + np.int32(item),
        model=code + np.int32(model),
        rater=code,
        aspect=code,
        score=np.ones(1),
        seconds=np.ones(1),
        raters=("r",),
        aspects=("x",),
    )


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"items": ["a", "a"]}, 'The item "a" is there twice. Every item needs an id of its own.'),
        ({"items": [1, "1"]}, 'The item "1" is there twice. Every item needs an id of its own.'),
        ({"items": ["a", ""]}, "There is an empty id. Every item needs an id."),
        ({"models": ["m", "m"]}, 'The model "m" is there twice. Every model needs an id of its own.'),
        ({"items": ["a", 1.5]}, "The ids of items are text or whole numbers, not 1.5."),
        ({"items": ["a", True]}, "The ids of items are text or whole numbers, not True."),
        (
            {"metrics": {"x": [[1.0, 2.0]]}},
            'The metric "x" has the shape (1, 2), but there are 2 items and 2 columns.',
        ),
        (
            {"metrics": {"x": [[1.0, np.inf], [0.0, 0.0]]}},
            'The metric "x" holds an infinite number. Write a finite one, or NaN where it is missing.',
        ),
        (
            {"aspects": {"x": [["a", "b"], ["c", "d"]]}},
            'The aspect "x" holds something that is not a number.',
        ),
        ({"aspects": {"x": [[10**400, 1], [1, 1]]}}, 'The aspect "x" holds something that is not a number.'),
        (
            {"metrics": {"": [[0.0] * 2] * 2}},
            "The name of a metric must be a text that is not empty, not ''.",
        ),
        ({"columns": {5: [1, 2]}}, "The name of a column must be a text that is not empty, not 5."),
        ({"columns": {"x": [1]}}, 'The column "x" has 1 values but there are 2 items.'),
        ({"columns": {"cost": [1, "x"]}}, 'The column "cost" holds something that is not a number.'),
        (
            {"columns": {"cost": [1, -1]}},
            'The column "cost" holds a negative number. Costs and weights are zero or more.',
        ),
        ({"columns": {"position": [1, np.inf]}}, 'The column "position" holds an infinite number.'),
        ({"columns": {"length": np.array([1, np.inf])}}, 'The column "length" holds an infinite number.'),
        ({"sources": ["one"]}, "The sources must fill the shape (2,), one for each item (and model)."),
        ({"sources": "ab"}, "The sources must fill the shape (2,), one for each item (and model)."),
        ({"sources": ["x", 5]}, "The sources hold 5, which is not text. Write None where one is missing."),
        (
            {"outputs": [["x"], ["y"]]},
            "The outputs must fill the shape (2, 2), one for each item (and model).",
        ),
        ({"outputs": [None, None]}, "The outputs must fill the shape (2, 2), one for each item (and model)."),
        (
            {"references": {"r": ["x"]}},
            "The references must fill the shape (2,), one for each item (and model).",
        ),
        (
            {"reference_aspects": {"x": [[1.0], [2.0]]}},
            'The reference aspect "x" has the shape (2, 1), but there are 2 items and 0 columns.',
        ),
        ({"cells": {"x": [[1, 2]]}}, 'The cell column "x" must fill the shape (2, 2), one for each item'),
        ({"ratings": one_rating(2, 0)}, "A rating points at an item or model that is not there."),
        ({"ratings": one_rating(0, 2)}, "A rating points at an item or model that is not there."),
    ],
)
def test_what_does_not_fit(parts: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        EvalSet.from_arrays(parts.pop("items", ["a", "b"]), parts.pop("models", ["m", "n"]), **parts)
    assert str(caught.value).startswith(sentence)


def test_ids_are_text() -> None:
    data = EvalSet.from_arrays([10, np.int64(9)], ["m"], metrics={"x": [[1.0], [2.0]]})
    assert data.items.tolist() == ["10", "9"]
    assert data.metrics["x"].tolist() == [[1.0], [2.0]]


def test_a_cell_may_hold_a_list() -> None:
    data = EvalSet.from_arrays(["a"], ["m", "n"], cells={"spans": [[[1, 2], [3]]]})
    assert data.cells["spans"].tolist() == [[[1, 2], [3]]]
    assert data.cells["spans"].shape == (1, 2)


def test_columns_of_documents_and_domains_are_text() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"], ["m"], columns={"document": [1, None, NAN], "domain": ["x", "", 2]}
    )
    assert data.columns["document"].tolist() == ["1", None, None]
    assert data.columns["domain"].tolist() == ["x", "", "2"]


def test_building_from_its_parts_gives_a_set_back() -> None:
    again = EvalSet.from_arrays(list(DATA.items), list(DATA.models), **DATA.parts())
    assert again.digest() == DATA.digest()
    assert again.file_order.tolist() == DATA.file_order.tolist()
    view = DATA.take(["a", "c"], ["small"])
    assert view.with_parts().digest() == view.digest()


def test_a_set_without_items_or_models() -> None:
    assert EvalSet.from_arrays([], []).shape == (0, 0)
    assert EvalSet.from_arrays(
        [], ["m"], metrics={"x": np.empty((0, 1))}, preferences=Preferences()
    ).shape == (0, 1)
