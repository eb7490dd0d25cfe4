"""Views of evaluation sets and sets made from others: cheap, and as strict as the set itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from tests.data.hand_made import DATA, full_set

NAN = np.nan

# --- views --------------------------------------------------------------------------------------------


def test_views_share_the_arrays_until_they_are_asked_for() -> None:
    for view in (
        DATA.at([0]),
        DATA.take(["a"], ["small"]),
        DATA.only(["metric:chrF"]),
        DATA.without_labels(),
        DATA.at([0, 1]).take(models=["small"]).only(["sources"]),
    ):
        assert view.store is DATA.store
        assert not {"metrics", "outputs", "sources", "aspects"} & set(vars(view))
    assert DATA.without_labels().metrics["chrF"] is DATA.store.metrics["chrF"]
    assert DATA.only(["outputs"]).outputs is DATA.store.outputs
    assert DATA.ratings is DATA.store.ratings
    view = DATA.at([1])
    assert view.metrics["chrF"] is view.metrics["chrF"], "cut once"


def test_a_view_of_items_and_models() -> None:
    view = DATA.take(["c", "a"], ["small"])
    assert view.items.tolist() == ["a", "c"]
    assert view.models == ("small",)
    np.testing.assert_array_equal(view.metrics["chrF"], [[3.0], [1.0]])
    assert view.outputs is not None
    assert view.outputs.tolist() == [["as"], ["cs"]]
    assert view.cells["seed"].tolist() == [[3], [1]]
    assert view.columns["topic"].tolist() == ["y", "x"]
    assert view.file_order.tolist() == [1, 0]
    np.testing.assert_array_equal(view.reference_aspects["fluency"], [[NAN, 7.5], [8.0, 7.0]])
    assert view.ratings.score.tolist() == [1.0]
    assert view.ratings.extra["hit"].tolist() == [1]
    assert len(view.preferences) == 0


def test_a_view_of_a_view() -> None:
    view = DATA.take(["b", "c"]).take(["c"])
    assert view.items.tolist() == ["c"]
    assert view.preferences.value.tolist() == [1.0]
    assert (view.preferences.item.tolist(), view.preferences.first.tolist()) == ([0], [1])
    with pytest.raises(UnknownNameError, match='There is no item "a"'):
        DATA.take(["b", "c"]).take(["a"])
    with pytest.raises(UnknownNameError, match='There is no model "small"'):
        DATA.take(models=["Large (v2) + chat"]).take(models=["small"])


def test_ratings_of_references_stay_in_a_view_of_models() -> None:
    view = DATA.take(["b"], ["small"])
    assert view.ratings.score.tolist() == [3.0, 4.0]
    assert [[*view.models, *view.references][model] for model in view.ratings.model] == ["refB", "refA"]


def test_at_takes_positions_or_a_mask() -> None:
    assert DATA.at([2, 0, 2]).items.tolist() == ["a", "c"]
    assert DATA.at(row for row in (1,)).items.tolist() == ["b"]
    assert DATA.at(np.array([True, False, True])).items.tolist() == ["a", "c"]
    assert DATA.at([]).shape == (0, 2)
    assert DATA.at([1, 2]).at([1]).items.tolist() == ["c"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([3], "There is no item at position 3: there are 3 items, from 0."),
        ([-1, 0], "There is no item at position -1: there are 3 items, from 0."),
        ([0.5], "Positions of items are whole numbers."),
        (np.array([True]), "The mask has 1 values but there are 3 items."),
    ],
)
def test_positions_that_are_none(rows: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        DATA.at(rows)
    assert str(caught.value) == sentence


def test_positions_of_ids() -> None:
    assert DATA.positions(["c", "a", "c"]).tolist() == [2, 0, 2]
    assert DATA.at([1, 2]).positions(["c"]).tolist() == [1]
    with pytest.raises(UnknownNameError, match='There is no item "d"'):
        DATA.positions(["a", "d"])


def test_take_names_what_is_not_there() -> None:
    with pytest.raises(UnknownNameError, match=r'There is no model "smal"\. Did you mean small\?'):
        DATA.take(models=["smal"])
    with pytest.raises(UnknownNameError, match='There is no item "z"'):
        DATA.take(items=["z"])
    assert DATA.take(items=[], models=[]).shape == (0, 0)


def test_only_shows_what_is_named() -> None:
    view = DATA.only(["metric:chrF", "column:domain", "outputs"])
    assert view.fields == ("metric:chrF", "column:domain", "outputs")
    assert view.items.tolist() == ["a", "b", "c"]
    assert view.sources is None
    assert view.reference_texts is None
    assert (len(view.ratings), len(view.preferences)) == (0, 0)
    with pytest.raises(UnknownNameError, match='There is no metric "both"'):
        view.metrics["both"]
    assert view.only(["sources", "outputs"]).fields == ("outputs",), "what is hidden stays hidden"


def test_labels_can_be_hidden() -> None:
    view = DATA.without_labels()
    assert not any(fields.is_label(name) for name in view.fields)
    assert set(view.fields) == set(DATA.fields) - fields.labels(DATA.fields)
    assert not view.aspects
    assert not view.reference_aspects
    assert (len(view.ratings), len(view.preferences)) == (0, 0)
    assert view.with_column("new", [1, 2, 3]).fields == (
        *(name for name in view.fields if name.startswith(("metric", "column"))),
        "column:new",
        "cell:seed",
        "sources",
        "outputs",
        "references",
    )


def test_ratings_without_the_references_that_they_rate() -> None:
    """The texts of references can be hidden while what people said of them is not."""
    view = DATA.only(["ratings", "reference_aspects"]).with_metric("new", np.zeros((3, 2)))
    assert view.references == ("refA", "refB")
    assert view.ratings.score.tolist() == [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(view.reference_aspects["fluency"], DATA.reference_aspects["fluency"])
    np.testing.assert_array_equal(view.aspects["style"], DATA.aspects["style"])


def test_names_that_are_no_text_are_unknown_names() -> None:
    data: Any = EvalSet.from_arrays(["1", "2"], ["m"], metrics={"chrF": [[1.0], [2.0]]})
    with pytest.raises(UnknownNameError, match=r'no item 1: names are text[.] Did you mean "1"'):
        data.take(items=[1])
    with pytest.raises(UnknownNameError, match="There is no model 0: names are text"):
        data.take(models=[0])
    with pytest.raises(UnknownNameError, match="There is no metric 3: names are text"):
        data.metrics[3]


def test_names_are_looked_up_with_did_you_mean() -> None:
    with pytest.raises(UnknownNameError, match=r'no metric "chrf2"\. Did you mean chrF\?'):
        DATA.metrics["chrf2"]
    assert "chrF" in DATA.metrics
    assert "x" not in DATA.metrics
    assert repr(DATA.metrics) == "<2 metrics: chrF, both>"


# --- new sets -------------------------------------------------------------------------------------------


def test_new_aspects_metrics_and_columns() -> None:
    scores = np.arange(6.0).reshape(3, 2)
    for data, held in (
        (DATA.with_aspect("new", scores), "aspects"),
        (DATA.with_metric("new", scores), "metrics"),
    ):
        np.testing.assert_array_equal(getattr(data, held)["new"], scores)
        assert set(data.fields) - set(DATA.fields) == {f"{held.removesuffix('s')}:new"}
        assert data.digest(DATA.fields) == DATA.digest()
    assert DATA.with_column("new", ["p", "q", "r"]).columns["new"].tolist() == ["p", "q", "r"]
    assert "new" not in DATA.metrics, "the set itself is as it was"
    with pytest.raises(DataError, match=r'The metric "new" has the shape \(2, 2\), but there are 3 items'):
        DATA.with_metric("new", scores[:2])


def test_preferences_from_scores() -> None:
    data = DATA.with_preferences_from("fluency", tie=0.5).preferences
    # Large - small: a NaN - 2, b 5 - 4, c 1 - 1.
    assert data.item.tolist() == [1, 2]
    assert data.value.tolist() == [1.0, 0.0]
    assert data.aspects == ("fluency",)
    assert DATA.with_preferences_from("fluency", tie=1.0).preferences.value.tolist() == [0.0, 0.0]
    assert DATA.with_preferences_from("chrF").preferences.value.tolist() == [1.0, 1.0]
    combined = DATA.with_preferences_from("sum:of=[fluency,adequacy]").preferences
    assert combined.value.tolist() == [1.0, -1.0]
    with pytest.raises(UsageError, match="The tie width is zero or more, not -1"):
        DATA.with_preferences_from("fluency", tie=-1)


def test_a_reference_as_a_model() -> None:
    data = DATA.with_reference_as_model("refA", "human")
    assert data.models == ("Large (v2) + chat", "human", "small")
    assert data.references == ("refA", "refB")
    np.testing.assert_array_equal(data.metrics["chrF"][:, 1], [NAN] * 3)
    np.testing.assert_array_equal(data.metrics["chrF"][:, [0, 2]], DATA.metrics["chrF"])
    np.testing.assert_array_equal(data.aspects["fluency"][:, 1], [NAN, 9.5, 8.0])
    np.testing.assert_array_equal(data.aspects["adequacy"][:, 1], [NAN] * 3)
    np.testing.assert_array_equal(data.aspects["style"][:, 1], [NAN, 4.0, NAN])
    assert data.outputs is not None
    assert data.outputs[:, 1].tolist() == [None, "ab", "ac"]
    assert data.cells["seed"][:, 1].tolist() == [None] * 3
    rated = [*data.models, *data.references]
    assert [rated[model] for model in data.ratings.model] == ["small", "Large (v2) + chat", "refB", "human"]
    assert [data.models[model] for model in data.preferences.first] == ["small", "Large (v2) + chat"]


def test_a_reference_as_a_model_under_its_own_name_or_none() -> None:
    assert "refB" in DATA.with_reference_as_model("refB").models
    with pytest.raises(UnknownNameError, match='There is no reference "refX"'):
        DATA.with_reference_as_model("refX")
    with pytest.raises(DataError, match='There is a model "small" already'):
        DATA.with_reference_as_model("refA", "small")


def test_a_reference_without_text_as_a_model() -> None:
    data = full_set(references={"refB": [None] * 3, "refA": [None] * 3}).with_reference_as_model("refA")
    assert data.outputs is not None
    assert data.outputs[:, data.models.index("refA")].tolist() == [None] * 3
