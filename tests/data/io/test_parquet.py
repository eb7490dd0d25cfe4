from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from sparingly.base.errors import InputError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from tests.data.io.sets import check_same, evaluation_sets

ODD = "Nucleus (p = 0.3) + tools"
HEADER = {"format": "sparingly/evalset", "version": "1", "models": json.dumps(["tiny", ODD])}


def written(path: Path, columns: dict[str, Any], **header: str) -> Path:
    pl.DataFrame(columns).write_parquet(path, metadata={**HEADER, **header})
    return path


def documented() -> dict[str, Any]:
    """The columns of the layout as it is documented, made without our writer."""
    numbers = pl.Array(pl.Float64, 2)
    rating = {
        "model": ODD,
        "reference": None,
        "rater": "anna",
        "aspect": "fluency",
        "score": 4.0,
        "seconds": 9.5,
    }
    remark = {**rating, "model": None, "reference": "refA", "score": None, "seconds": None}
    preference = {
        "first": "tiny",
        "second": ODD,
        "value": -1.0,
        "rater": None,
        "aspect": None,
        "seconds": 3.0,
    }
    return {
        "item": ["b", "a"],
        "source": ["Zwei", None],
        "document": ["d1", "d1"],
        "position": [1, 0],
        "year": [2023, None],
        "references": [["two"], None],
        "outputs": [["", "deux"], [None, "un"]],
        "metric:chrF": pl.Series([[1.0, 2.0], [3.0, None]], dtype=numbers),
        "aspect:overall": pl.Series([[None, float("nan")], [5.0, 6.0]], dtype=numbers),
        "reference_aspect:overall": pl.Series([[9.0], None], dtype=pl.Array(pl.Float64, 1)),
        "cell:seed": [[1, 2], [None, 4]],
        "ratings": [[rating, remark], None],
        "preferences": pl.Series([None, [preference]]),
    }


def test_the_documented_layout_is_read(tmp_path: Path) -> None:
    data = io.load(written(tmp_path / "set.parquet", documented(), references=json.dumps(["refA"])))
    assert data.items.tolist() == ["a", "b"]
    assert data.models == (ODD, "tiny")
    assert data.file_order.tolist() == [1, 0]
    assert data.sources is not None
    assert data.sources.tolist() == [None, "Zwei"]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["un", None], ["deux", ""]]
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [[None], ["two"]]
    np.testing.assert_array_equal(data.metrics["chrF"], [[np.nan, 3], [2, 1]])
    np.testing.assert_array_equal(data.aspects["overall"], [[6, 5], [np.nan, np.nan]])
    np.testing.assert_array_equal(data.reference_aspects["overall"], [[np.nan], [9]])
    assert data.columns["document"].tolist() == ["d1", "d1"]
    assert data.columns["position"].tolist() == [0, 1]
    np.testing.assert_array_equal(data.columns["year"], [np.nan, 2023])
    assert data.cells["seed"].tolist() == [[4, None], [2, 1]]


def test_judgements_are_read_with_their_names(tmp_path: Path) -> None:
    data = io.load(written(tmp_path / "set.parquet", documented(), references=json.dumps(["refA"])))
    ratings, preferences = data.ratings, data.preferences
    assert ratings.item.tolist() == [1, 1]
    assert ratings.model.tolist() == [0, 2]
    assert ratings.raters == ("anna",)
    assert ratings.aspects == ("fluency",)
    np.testing.assert_array_equal(ratings.score, [4, np.nan])
    np.testing.assert_array_equal(ratings.seconds, [9.5, np.nan])
    assert data.aspects["fluency"][1, 0] == 4
    assert (preferences.item.tolist(), preferences.first.tolist(), preferences.second.tolist()) == (
        [0],
        [1],
        [0],
    )
    assert preferences.rater.tolist() == [-1]
    assert preferences.value.tolist() == [-1]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=evaluation_sets())
def test_everything_comes_back(tmp_path_factory: pytest.TempPathFactory, data: EvalSet) -> None:
    path = tmp_path_factory.mktemp("sets") / "set.parquet"
    assert io.save(data, path) == []
    check_same(data, io.load(path))


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["wmt23_ende_esa", "llmfao_pairwise", "webnlg20_en", "wmt20_ende_notext"])
def test_real_sets_come_back(shared_data: Path, tmp_path: Path, name: str) -> None:
    data = io.load(shared_data / f"{name}.jsonl.gz")
    io.save(data, tmp_path / "set.parquet")
    check_same(data, io.load(tmp_path / "set.parquet"))


def test_a_view_is_written_as_it_is_seen(tmp_path: Path) -> None:
    data = io.load(written(tmp_path / "set.parquet", documented(), references=json.dumps(["refA"])))
    view = data.take(models=["tiny"]).without_labels()
    io.save(view, tmp_path / "view.parquet")
    check_same(view, io.load(tmp_path / "view.parquet"))


def test_what_the_file_says(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(["a"], ["m"], metrics={"chrF": [[1.0]]}, columns={"item": ["odd"], "n": [1]})
    io.save(data, tmp_path / "set.parquet")
    metadata = pl.read_parquet_metadata(tmp_path / "set.parquet")
    assert {name: metadata[name] for name in ("format", "version", "models", "references")} == {
        "format": "sparingly/evalset",
        "version": "1",
        "models": '["m"]',
        "references": "[]",
    }
    schema = pl.read_parquet_schema(tmp_path / "set.parquet")
    assert list(schema) == ["item", "column:item", "n", "metric:chrF"]
    assert schema["metric:chrF"] == pl.Array(pl.Float64, 1)


def test_a_packed_file_and_a_name_with_brackets(tmp_path: Path) -> None:
    plain = written(tmp_path / "set[1]*.parquet", {"item": ["a"], "metric:x": [[1.0, 2.0]]})
    packed = tmp_path / "set.parquet.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    check_same(io.load(plain), io.load(packed))
    io.save(io.load(plain), tmp_path / "again.parquet.gz")
    check_same(io.load(plain), io.load(tmp_path / "again.parquet.gz"))


def test_many_items_in_any_order_over_several_row_groups(tmp_path: Path) -> None:
    count = 5_000
    rng = np.random.default_rng(3)
    ids = [f"i{number:05d}" for number in rng.permutation(count)]
    scores = rng.normal(size=(count, 2))
    scores[7, 1] = np.nan
    frame = pl.DataFrame({"item": ids, "metric:x": pl.Series(scores), "n": rng.normal(size=count)})
    frame.write_parquet(tmp_path / "set.parquet", metadata=HEADER, row_group_size=700)
    data = io.load(tmp_path / "set.parquet")
    order = np.argsort(ids)
    np.testing.assert_array_equal(data.metrics["x"], scores[order][:, ::-1])
    np.testing.assert_array_equal(data.columns["n"], frame["n"].to_numpy()[order])
    assert not data.metrics["x"].flags.writeable


@pytest.mark.parametrize(
    ("columns", "header", "sentence"),
    [
        ({"metric:x": [[1.0, 2.0]]}, {}, "field item: the items have no ids. Add the column item."),
        ({"item": ["a", None]}, {}, "field item: the item in row 2 has no id."),
        ({"item": ["a", "b", "a"]}, {}, 'field item: the item "a" is there twice.'),
        ({"item": [1.5]}, {}, "field item: ids are texts or whole numbers, not Float64."),
        ({"item": pl.Series([], dtype=pl.String)}, {}, "there is no item in it."),
        (
            {"item": ["a"], "metric:x": [[1.0, 2.0, 3.0]]},
            {},
            "field metric:x: expected 2 numbers per item, not List(Float64).",
        ),
        (
            {"item": ["a", "b"], "outputs": [["x", "y"], ["x"]]},
            {},
            "field outputs: the list in row 2 has not 2 values.",
        ),
        ({"item": ["a"], "source": [1]}, {}, "field source: expected texts, not Int64."),
        (
            {"item": ["a"], "metric:x": [[float("inf"), 1.0]]},
            {},
            'the metric "x" holds an infinite number. Write a finite one, or NaN where it is missing.',
        ),
        ({"item": ["a"], "cost": [-1.0]}, {}, 'the column "cost" holds a negative number. Costs and weights'),
        (
            {"item": ["a"]},
            {"version": "2"},
            "field version: version 2 is newer than the version 1 that this sparingly reads. Update",
        ),
        ({"item": ["a"]}, {"models": "tiny"}, "field metadata models: expected a JSON list of names."),
        (
            {"item": ["a"], "ratings": [[{"model": "tinny", "score": 1.0}]]},
            {},
            'there is no model "tinny". Did you mean tiny?',
        ),
        (
            {"item": ["a"], "ratings": [[{"rater": "r", "score": 1.0}]]},
            {},
            "field ratings: a rating needs either a model or a reference.",
        ),
        ({"item": ["a"], "ratings": [1]}, {}, "field ratings: expected lists of records, not Int64."),
    ],
)
def test_wrong_files_get_one_sentence(
    tmp_path: Path, columns: dict[str, Any], header: dict[str, str], sentence: str
) -> None:
    path = written(tmp_path / "set.parquet", columns, **header)
    with pytest.raises(InputError) as caught:
        io.load(path)
    place = f"{path}, " if sentence.startswith("field") else f"{path}: "
    assert str(caught.value).startswith(place + sentence)


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path / "set.parquet", {"item": ["a"], "metric:x": [[1.0, 2.0]]})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"the Parquet file cannot be read \(.*\). Is it cut off\?"):
        io.load(path)


def test_another_parquet_file_is_not_taken_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"item": ["a"], "model": ["m"], "metric:x": [1.0]}).write_parquet(path)
    assert io.recognise(path).name == "table"
    with pytest.raises(InputError) as caught:
        io.load(path, "parquet")
    assert str(caught.value) == (
        f"{path}: this Parquet file is not one of sparingly's own. "
        "Load a table with one row for each item and model with the format table."
    )


def test_a_value_that_no_file_can_hold(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(["a"], ["m"], columns={"thing": [object]})
    with pytest.raises(ValueError, match=r'The column "thing" holds .* cannot be written to a file'):
        io.save(data, tmp_path / "set.parquet")
    assert list(tmp_path.iterdir()) == []


def test_only_arrays_that_are_handed_over_are_not_copied() -> None:
    mine, given = np.ones((1, 1)), np.ones((1, 1))
    copied = EvalSet.from_arrays(["a"], ["m"], metrics={"x": mine})
    mine[0, 0] = 5
    assert copied.metrics["x"][0, 0] == 1
    kept = EvalSet.from_arrays(["a"], ["m"], metrics={"x": given}, owned=True)
    assert np.shares_memory(kept.metrics["x"], given)
    assert not given.flags.writeable
