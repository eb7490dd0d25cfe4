"""Evaluation sets: frozen, cheap to look at in part, the same whatever the order they came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.tables import Ratings
from tests.data.hand_made import DATA, full_set

NAN = np.nan


# --- what is in it ------------------------------------------------------------------------------------


def test_everything_is_in_the_order_of_the_ids() -> None:
    assert DATA.items.tolist() == ["a", "b", "c"]
    assert DATA.models == ("Large (v2) + chat", "small")
    assert DATA.references == ("refA", "refB")
    assert (len(DATA), DATA.shape, DATA.name) == (3, (3, 2), "hand-made")
    np.testing.assert_array_equal(DATA.metrics["chrF"], [[NAN, 3.0], [6.0, 5.0], [2.0, 1.0]])
    np.testing.assert_array_equal(DATA.aspects["adequacy"], [[3.0, 3.0], [1.0, 0.0], [1.0, 2.0]])
    assert DATA.sources is not None
    assert DATA.sources.tolist() == ["source a", None, "source c"]
    assert DATA.outputs is not None
    assert DATA.outputs.tolist() == [[None, "as"], ["", "bs"], ["cl", "cs"]]
    assert DATA.reference_texts is not None
    assert DATA.reference_texts.tolist() == [[None, "ba"], ["ab", "bb"], ["ac", "bc"]]
    np.testing.assert_array_equal(DATA.reference_aspects["fluency"], [[NAN, 7.5], [9.5, 9.0], [8.0, 7.0]])
    assert DATA.columns["topic"].tolist() == ["y", "z", "x"]
    np.testing.assert_array_equal(DATA.columns["cost"], [2.0, NAN, 1.0])
    assert DATA.cells["seed"].tolist() == [[None, 3], [6, 5], [2, 1]]
    assert DATA.file_order.tolist() == [2, 0, 1]


def test_judgements_point_at_the_sorted_ids() -> None:
    ratings = DATA.ratings
    rated = [*DATA.models, *DATA.references]
    assert [
        (DATA.items[item], rated[model], score)
        for item, model, score in zip(ratings.item, ratings.model, ratings.score, strict=True)
    ] == [("c", "small", 1.0), ("a", "Large (v2) + chat", 2.0), ("b", "refB", 3.0), ("b", "refA", 4.0)]
    pairs = DATA.preferences
    assert [
        (DATA.items[item], DATA.models[first], DATA.models[second], value)
        for item, first, second, value in zip(pairs.item, pairs.first, pairs.second, pairs.value, strict=True)
    ] == [("c", "small", "Large (v2) + chat", 1.0), ("b", "Large (v2) + chat", "small", 0.5)]


def test_aspects_that_only_ratings_know_are_their_means() -> None:
    np.testing.assert_array_equal(DATA.aspects["style"], [[2.0, NAN], [NAN, NAN], [NAN, 1.0]])
    np.testing.assert_array_equal(DATA.reference_aspects["style"], [[NAN, NAN], [4.0, 3.0], [NAN, NAN]])
    given = full_set(aspects={"style": [[9.0] * 2] * 3})
    np.testing.assert_array_equal(given.aspects["style"], [[9.0] * 2] * 3)
    np.testing.assert_array_equal(given.reference_aspects["style"][1], [4.0, 3.0])


def test_positions_follow_the_order_of_the_file() -> None:
    documents = EvalSet.from_arrays(["z", "y", "x", "w"], ["m"], columns={"document": ["d", "d", None, "d"]})
    assert dict(zip(documents.items, documents.columns["position"].tolist(), strict=True)) == {
        "z": 0.0,
        "y": 1.0,
        "w": 2.0,
        "x": pytest.approx(NAN, nan_ok=True),
    }
    given = EvalSet.from_arrays(["z", "y"], ["m"], columns={"document": ["d", "d"], "position": [7, 5]})
    assert given.columns["position"].tolist() == [5.0, 7.0]


def test_fields_are_named() -> None:
    assert DATA.fields == (
        "metric:chrF",
        "metric:both",
        "aspect:fluency",
        "aspect:adequacy",
        "aspect:both",
        "aspect:style",
        "column:document",
        "column:domain",
        "column:cost",
        "column:topic",
        "column:position",
        "cell:seed",
        "sources",
        "outputs",
        "references",
        "reference_aspects",
        "ratings",
        "preferences",
    )
    assert EvalSet.from_arrays(["a"], ["m"]).fields == ()


def test_keys_are_those_of_the_ids() -> None:
    np.testing.assert_array_equal(DATA.keys, rng.keys_of(["a", "b", "c"]))
    np.testing.assert_array_equal(DATA.take(["c", "a"]).keys, rng.keys_of(["a", "c"]))


# --- frozen -------------------------------------------------------------------------------------------


def arrays_of(data: EvalSet) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in ("items", "keys", "file_order", "sources", "outputs", "reference_texts"):
        yield name, getattr(data, name)
    for kind in ("metrics", "aspects", "cells", "columns", "reference_aspects"):
        for name, array in getattr(data, kind).items():
            yield f"{kind}.{name}", array
    for kind in ("ratings", "preferences"):
        table = getattr(data, kind)
        held = {**vars(table), **table.extra}
        yield from ((f"{kind}.{name}", held[name]) for name in held if isinstance(held[name], np.ndarray))
    yield from (
        (f"store.{name}", array) for name, array in vars(data.store).items() if hasattr(array, "flags")
    )


@pytest.mark.parametrize("view", [DATA, DATA.take(["a", "b"], ["small"]), DATA.without_labels()])
def test_no_array_can_be_written_to(view: EvalSet) -> None:
    found = {name: array for name, array in arrays_of(view) if array is not None}
    assert len(found) > 15
    assert [name for name, array in found.items() if array.flags.writeable] == []
    with pytest.raises(ValueError, match="read-only"):
        view.metrics["chrF"][0, 0] = 1.0


def test_no_attribute_can_be_set() -> None:
    thing: Any
    for thing, name in ((DATA, "store"), (DATA, "new"), (DATA.store, "items"), (DATA.ratings, "score")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)
    with pytest.raises(AttributeError):
        DATA.items = []  # type: ignore[assignment]


def test_no_named_array_can_be_replaced() -> None:
    mapping: Any
    for mapping in (DATA.metrics, DATA.columns, DATA.store.metrics, DATA.store.cells, DATA.ratings.extra):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["new"] = np.zeros((3, 2))


def test_what_it_was_built_from_is_not_touched_and_not_shared() -> None:
    scores, order = np.array([[1.0], [2.0]]), np.array([1, 0])
    texts = np.array(["x", "y"], object)
    data = EvalSet.from_arrays(["a", "b"], ["m"], metrics={"x": scores}, sources=texts, file_order=order)
    scores[0, 0], texts[0], order[0] = 9.0, "changed", 5
    assert data.metrics["x"].tolist() == [[1.0], [2.0]]
    assert data.sources is not None
    assert data.sources.tolist() == ["x", "y"]
    assert data.file_order.tolist() == [1, 0]


# --- order does not matter -----------------------------------------------------------------------------

numbers = st.floats(-1e6, 1e6) | st.just(NAN)


@st.composite
def shuffled_sets(draw: st.DrawFn) -> tuple[EvalSet, EvalSet]:
    """The same content twice, in the order of a file and in another one."""
    names = st.text(min_size=1, max_size=4).filter(str.strip)
    items = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    models = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    n, m = len(items), len(models)
    scores = np.array(draw(st.lists(numbers, min_size=n * m, max_size=n * m))).reshape(n, m)
    texts = np.array(draw(st.lists(st.none() | st.text(), min_size=n * m, max_size=n * m)), object)
    texts = texts.reshape(n, m)
    column = draw(st.lists(st.none() | st.integers() | st.text(), min_size=n, max_size=n))
    rated = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1), numbers), max_size=6))
    rows, columns = draw(st.permutations(range(n))), draw(st.permutations(range(m)))
    judged = draw(st.permutations(range(len(rated))))
    plain = EvalSet.from_arrays(
        items,
        models,
        metrics={"x": scores},
        outputs=texts,
        columns={"c": column},
        ratings=ratings_of(rated),
    )
    new_row = {old: new for new, old in enumerate(rows)}
    new_model = {old: new for new, old in enumerate(columns)}
    moved = [(new_row[rated[place][0]], new_model[rated[place][1]], rated[place][2]) for place in judged]
    other = EvalSet.from_arrays(
        [items[row] for row in rows],
        [models[place] for place in columns],
        metrics={"x": scores[rows][:, columns]},
        outputs=texts[rows][:, columns],
        columns={"c": [column[row] for row in rows]},
        ratings=ratings_of(moved),
    )
    return plain, other


def ratings_of(rows: list[tuple[int, int, float]]) -> Ratings:
    count = len(rows)
    return Ratings(
        item=np.array([row[0] for row in rows], np.int32),
        model=np.array([row[1] for row in rows], np.int32),
        rater=np.full(count, -1, np.int32),
        aspect=np.zeros(count, np.int32),
        score=np.array([row[2] for row in rows], np.float64),
        seconds=np.full(count, NAN),
        aspects=("overall",),
    )


@given(shuffled_sets())
def test_the_order_of_items_models_and_ratings_does_not_matter(pair: tuple[EvalSet, EvalSet]) -> None:
    one, other = pair
    assert one.digest() == other.digest()
    assert one.items.tolist() == other.items.tolist()
    assert one.models == other.models
    np.testing.assert_array_equal(one.metrics["x"], other.metrics["x"])
    np.testing.assert_array_equal(one.keys, other.keys)
    assert one.outputs is not None
    assert other.outputs is not None
    assert one.outputs.tolist() == other.outputs.tolist()
    assert one.columns["c"].tolist() == other.columns["c"].tolist()
    for name in one.aspects:
        np.testing.assert_allclose(one.aspects[name], other.aspects[name], rtol=1e-12)


def test_the_only_name() -> None:
    assert the_only("metric", None, ["x"], "Name one.") == "x"
    assert the_only("metric", "y", ["x", "y"], "Name one.") == "y"
    with pytest.raises(UnknownNameError, match='There is no metric "z"'):
        the_only("metric", "z", ["x", "y"], "Name one.")
    with pytest.raises(UsageError, match=r"There are 2 metrics: x, y\. Name one\."):
        the_only("metric", None, ["x", "y"], "Name one.")
    with pytest.raises(MissingDataError, match=r"The evaluation set has no metric\. Name one\."):
        the_only("metric", None, [], "Name one.")


def test_it_shows_itself() -> None:
    assert repr(EvalSet.from_arrays(["a"], ["m"], metrics={"chrF": [[1.0]]})).startswith("EvalSet(1 item")
    assert "<" in DATA._repr_html_()
