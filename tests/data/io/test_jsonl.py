"""Our own JSON Lines: read from files written by hand, written, and read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Head
from tests.data.hand_made import DATA

NAN = np.nan
LARGE = "Large (v2) + chat"
HEADER: dict[str, Any] = {"format": "sparingly/evalset", "version": 1}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


EVERYTHING: list[dict[str, Any]] = [
    {**HEADER, "models": [LARGE, "small", "silent"], "metrics": ["chrF", "unused"], "aspects": ["mqm"]},
    {
        "item": "b",
        "source": "eine Quelle",
        "document": "d1",
        "position": 1,
        "domain": "news",
        "cost": 34.5,
        "weight": 2,
        "references": {"refA": "a reference", "refB": None},
        "outputs": {LARGE: "an output", "small": ""},
        "metrics": {LARGE: {"chrF": 0.5}, "small": {"chrF": None}},
        "aspects": {LARGE: {"mqm": -1}},
        "reference_aspects": {"refA": {"mqm": 0}},
        "ratings": [
            {"model": LARGE, "rater": 7, "aspect": "mqm", "score": -1, "seconds": 3.5, "wave": 2},
            {"reference": "refA", "rater": 8, "aspect": "mqm", "score": 0, "comment": "perfect"},
            {"model": "small", "rater": 7, "aspect": "mqm", "score": "unreadable"},
        ],
        "preferences": [
            {
                "first": LARGE,
                "second": "small",
                "value": 0.5,
                "rater": "ann",
                "aspect": "style",
                "side": 1,
            }
        ],
        "cells": {"tokens": {LARGE: 5, "small": 0}},
        "topic": {"depth": [1, 2]},
    },
    {"item": "a", "columns": {"metrics": "a column of this name"}},
]


def test_a_file_with_everything(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", *EVERYTHING)
    data = io.load(path)
    assert data.models == (LARGE, "silent", "small")
    assert data.items.tolist() == ["a", "b"]
    assert data.file_order.tolist() == [1, 0]
    np.testing.assert_array_equal(data.metrics["chrF"], [[NAN] * 3, [0.5, NAN, NAN]])
    np.testing.assert_array_equal(data.metrics["unused"], np.full((2, 3), NAN))
    np.testing.assert_array_equal(data.aspects["mqm"], [[NAN] * 3, [-1, NAN, NAN]])
    np.testing.assert_array_equal(data.reference_aspects["mqm"], [[NAN, NAN], [0, NAN]])
    assert data.sources is not None
    assert data.sources.tolist() == [None, "eine Quelle"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [[None] * 3, ["an output", None, ""]]
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [[None, None], ["a reference", None]]
    np.testing.assert_array_equal(data.columns["cost"], [NAN, 34.5])
    np.testing.assert_array_equal(data.columns["position"], [NAN, 1])
    assert data.columns["document"].tolist() == [None, "d1"]
    assert data.columns["topic"].tolist() == [None, {"depth": [1, 2]}]
    assert data.columns["metrics"].tolist() == ["a column of this name", None]
    assert data.cells["tokens"].tolist() == [[None] * 3, [5, None, 0]]
    ratings = data.ratings
    assert ratings.raters == ("7", "8")
    assert ratings.comment is not None
    assert ratings.comment.tolist() == [None, "perfect", "unreadable"]
    np.testing.assert_array_equal(ratings.score, [-1, 0, NAN])
    np.testing.assert_array_equal(ratings.seconds, [3.5, NAN, NAN])
    assert ratings.extra["wave"].tolist() == [2, None, None]
    assert [[*data.models, *data.references][model] for model in ratings.model] == [LARGE, "refA", "small"]
    pairs = data.preferences
    assert (pairs.value.tolist(), pairs.raters, pairs.aspects) == ([0.5], ("ann",), ("style",))
    assert pairs.extra["side"].tolist() == [1]


def test_a_file_without_a_header_and_with_little_else(tmp_path: Path) -> None:
    data = io.load(write(tmp_path / "set.txt", {"item": 1, "outputs": {"m": "x"}}, {"item": 2}))
    assert data.items.tolist() == ["1", "2"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["x"], [None]]


def test_ratings_alone_make_aspects(tmp_path: Path) -> None:
    rating = {"model": "m", "aspect": "style"}
    scores = [{**rating, "rater": "r", "score": 2}, {**rating, "rater": "s", "score": 4}]
    data = io.load(write(tmp_path / "set.jsonl", {"item": "a", "ratings": scores}))
    np.testing.assert_array_equal(data.aspects["style"], [[3.0]])


def test_metrics_for_which_low_is_good_are_turned_round(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", {"item": "a", "metrics": {"m": {"TER": 0.25, "chrF": 1}}})
    data = io.load(path, lower_is_better=["TER"])
    assert data.metrics["TER"].tolist() == [[-0.25]]
    assert data.metrics["chrF"].tolist() == [[1.0]]
    with pytest.raises(UsageError, match='There is no metric or aspect "TERR"'):
        io.load(path, lower_is_better=["TERR"])


# --- there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["set.jsonl", "set.ndjson", "set.jsonl.gz", "set.jsonl.xz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert io.save(DATA, path) == []
    again = io.load(path)
    assert again.digest() == DATA.digest()
    assert again.file_order.tolist() == DATA.file_order.tolist()
    assert again.fields == DATA.fields
    for view in (DATA.take(["a", "c"], ["small"]), DATA.without_labels(), DATA.only(["metric:both"])):
        io.save(view, path)
        assert io.load(path).digest() == view.digest()


def test_files_are_written_in_the_order_of_the_one_they_came_from(tmp_path: Path) -> None:
    io.save(DATA, tmp_path / "set.jsonl")
    lines = (tmp_path / "set.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("item") for line in lines] == [None, "c", "a", "b"]
    assert json.loads(lines[0]) == {
        **HEADER,
        "models": [LARGE, "small"],
        "metrics": ["chrF", "both"],
        "aspects": ["fluency", "adequacy", "both", "style"],
    }


RESERVED = ["item", "source", "references", "outputs", "metrics", "aspects", "cells", "ratings", "columns"]


@pytest.mark.parametrize("name", [*RESERVED, "format", "version", "models", "doc", "scores"])
def test_a_column_may_have_any_name(tmp_path: Path, name: str) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["m"], columns={name: ["x", "y"]})
    io.save(data, tmp_path / "set.jsonl")
    assert io.load(tmp_path / "set.jsonl").columns[name].tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 2.5, None],
        [1, 2, 3],
        [True, False, None],
        ["x", 1, 1.0],
        [{"deep": [1.0, NAN]}, [], ""],
        [2**70, 1e300, -0.0],
        np.array([0.5, NAN, 3.0]),
        np.array([1, 2, 3]),
        np.array(["x", "y", "z"]),
        ["half a pair: \ud800", "line\u2028end", "\x00"],
    ],
)
def test_a_column_may_hold_anything(tmp_path: Path, column: Any) -> None:
    data = EvalSet.from_arrays(["a", "b", "c"], ["m"], columns={"x": column})
    io.save(data, tmp_path / "set.jsonl")
    assert io.load(tmp_path / "set.jsonl").digest() == data.digest()


def test_what_json_cannot_hold(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(["a"], ["m"], columns={"x": [[float("inf")]]})
    with pytest.raises(DataError, match='The item "a" holds something that JSON cannot'):
        io.save(data, tmp_path / "set.jsonl")
    assert list(tmp_path.iterdir()) == []


names = st.text(min_size=1, max_size=5).filter(str.strip)
# Larger numbers are refused.
numbers = st.floats(-1e100, 1e100) | st.just(float("nan"))


@settings(max_examples=40, deadline=None)  # every example waits for the disk
@given(st.data())
def test_any_set_comes_back(tmp_path_factory: pytest.TempPathFactory, draw: st.DataObject) -> None:
    items = draw.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    models = draw.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    n, m = len(items), len(models)

    def matrix(elements: st.SearchStrategy[Any]) -> list[list[Any]]:
        return draw.draw(st.lists(st.lists(elements, min_size=m, max_size=m), min_size=n, max_size=n))

    # A column or text that is missing everywhere is not there at all; a metric is.
    data = EvalSet.from_arrays(
        items,
        models,
        metrics={name: matrix(numbers) for name in draw.draw(st.lists(names, max_size=2, unique=True))},
        outputs=matrix(st.text()),
        sources=draw.draw(st.lists(st.text(), min_size=n, max_size=n)),
        columns={draw.draw(names): draw.draw(st.lists(st.text() | st.integers(), min_size=n, max_size=n))},
    )
    path = tmp_path_factory.mktemp("any") / "set.jsonl"
    io.save(data, path)
    assert io.load(path, "jsonl").digest() == data.digest()


@pytest.mark.shared_data
@pytest.mark.journey
def test_every_shared_set_comes_back(shared_data: Path, tmp_path: Path) -> None:
    paths = sorted(shared_data.glob("*.jsonl.gz"))
    assert len(paths) > 25
    for path in paths:
        data = io.load(path)
        assert io.save(data, tmp_path / "set.jsonl") == []
        again = io.load(tmp_path / "set.jsonl")
        assert again.digest() == data.digest(), path.name
        assert again.fields == data.fields, path.name


# --- recognised ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "known"),
    [
        (HEADER, True),
        ({"item": "a", "metrics": {}}, True),
        ({"item": "a", "source": "x"}, True),
        ({"item": "a", "scores": {}}, False),
        ({"metrics": {}}, False),
    ],
)
def test_recognition(tmp_path: Path, record: dict[str, Any], known: bool) -> None:
    path = write(tmp_path / "set", record)
    assert io.format_named("jsonl").recognises(Head(path)) == known


def test_a_packed_file_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "set"
    path.write_bytes(gzip.compress(json.dumps(HEADER).encode() + b"\n" + b'{"item": "a"}'))
    assert io.load(path).items.tolist() == ["a"]


def test_a_file_that_only_looks_like_one(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", {"format": "sparingly/selection", "version": 1})
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, field format: this is a "sparingly/selection" file, not an evaluation set.'
    )


def test_extensions_tell_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r'The extension ".docx" of a\.docx is not of a format that can be written\.'
    ):
        io.save(DATA, tmp_path / "a.docx")
    with pytest.raises(UsageError, match="The format collection can be read but not written"):
        io.save(DATA, tmp_path / "a.jsonl", "collection")


def test_fields_without_any_value_are_carried_or_named(tmp_path: Path) -> None:
    missing = np.full((2, 1), None, object)
    data = EvalSet.from_arrays(
        ["a", "b"],
        ["m"],
        metrics={"chrF": [[1.0], [2.0]], "none": [[np.nan], [np.nan]]},
        sources=[None, None],
        outputs=missing,
        columns={"year": [None, None], "cost": [None, None]},
        cells={"prompt": missing},
    )
    for name in ("d.jsonl", "d.parquet", "d.csv"):
        assert io.save(data, tmp_path / name) == []
        assert set(io.load(tmp_path / name).fields) == set(data.fields)
    lost = io.save(data, tmp_path / "peer.jsonl", "subset2evaluate")
    kept = io.load(tmp_path / "peer.jsonl", "subset2evaluate").fields
    assert set(lost) == set(data.fields) - set(kept)
    assert "column:year" in lost
    path = write(tmp_path / "e.jsonl", {**HEADER, "empty": ["ratings"]}, {"item": "a"})
    with pytest.raises(InputError, match='field empty: "ratings" is not a field that can be empty'):
        io.load(path)
