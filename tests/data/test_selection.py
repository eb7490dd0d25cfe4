from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import RANKING_ONLY, Row, Selection


@pytest.fixture(scope="module")
def data() -> EvalSet:
    return EvalSet.from_arrays(
        [f"<b>i{place:02d}</b>" for place in range(20)],
        ["x", "y"],
        metrics={"m": np.random.default_rng(1).normal(size=(20, 2))},
        columns={"cost": [1.0 + place for place in range(20)]},
    )


@pytest.fixture
def drawn(data: EvalSet) -> Selection:
    return sparingly.select(data, "random", 5, seed=3)


@pytest.fixture
def listed(data: EvalSet) -> Selection:
    return sparingly.select(data, "metric_var", "cost:60", never=["<b>i00</b>"])


def tuples(*values: tuple[str, ...] | None) -> Any:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def written(selection: Selection, path: Path) -> dict[str, Any]:
    selection.save(path)
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


# --- what is in it ----------------------------------------------------------------------------------


def test_rows_of_a_draw(drawn: Selection) -> None:
    assert len(drawn) == 5
    assert [row.item for row in drawn] == list(drawn.items)
    assert drawn.row(0) == Row(item=drawn.items[0], probability=0.25, weight=4.0, reason="drawn at random")
    assert drawn.is_probability_sample
    assert drawn.total_cost is None


def test_rows_of_a_list(listed: Selection) -> None:
    first = listed.row(0)
    assert first.probability is first.weight is None
    assert first.utility == listed.utility[0] if listed.utility is not None else False
    assert listed.weight is None
    assert listed.total_cost is not None
    assert listed.total_cost <= 60


def test_rows_say_which_models_they_ask_for(listed: Selection) -> None:
    names = ("a", "b", "c")
    assert listed.model_mask(names).all()
    models = np.full(len(listed), None, object)
    models[0], models[1] = ("c", "gone"), ("a", "b")
    mask = replace(listed, models=models).model_mask(names)
    assert mask[:2].tolist() == [[False, False, True], [True, True, False]]
    assert mask[2:].all()
    pairs = np.full(len(listed), None, object)
    pairs[:] = [("b", "a")] * len(listed)
    assert (replace(listed, pairs=pairs).model_mask(names) == [True, True, False]).all()


def test_nothing_can_be_written_to(listed: Selection) -> None:
    with pytest.raises(ValueError, match="read-only"):
        listed.items[0] = "other"


def test_missing_numbers_are_none(data: EvalSet) -> None:
    gappy = EvalSet.from_arrays(["a", "b"], ["x"], metrics={"m": [[1.0], [np.nan]]})
    rows = list(sparingly.select(gappy, "metric_avg", 2))
    assert [row.utility for row in rows] == [-1.0, None]


def test_a_hundred_thousand_rows_are_listed_in_linear_time() -> None:
    data = EvalSet.from_arrays([f"i{place}" for place in range(100_000)], ["x"])
    chosen = sparingly.select(data, "random", "100%")
    assert sum(row.weight or 0 for row in chosen) == 100_000


# --- files ------------------------------------------------------------------------------------------


def test_file_says_what_it_is(drawn: Selection, listed: Selection, tmp_path: Path) -> None:
    held = written(drawn, tmp_path / "drawn.json")
    assert (held["format"], held["version"]) == ("sparingly/selection", 1)
    assert held["kind"] == "probability sample"
    assert held["signature"]["text"] == str(drawn.signature)
    assert held["rows"][0] == {"item": drawn.items[0], "probability": 0.25, "weight": 4.0}
    other = written(listed, tmp_path / "listed.json")
    assert other["kind"] == RANKING_ONLY
    assert other["never"] == ["<b>i00</b>"]
    assert other["cost"] == sum(row["cost"] for row in other["rows"])


def test_round_trip(data: EvalSet, drawn: Selection, listed: Selection, tmp_path: Path) -> None:
    second = sparingly.select(data, "random", 2, pool=drawn)
    for name, selection in {"drawn": drawn, "listed": listed, "second": second}.items():
        path = tmp_path / f"{name}.json"
        held = written(selection, path)
        again = Selection.load(path)
        assert again.to_dict() == selection.to_dict() == held
        assert again.signature == selection.signature
        assert list(again) == list(selection)


def test_round_trip_of_everything_a_row_can_hold(drawn: Selection, tmp_path: Path) -> None:
    full = replace(
        drawn,
        cluster_weight=np.arange(1.0, 6.0),
        pool_probability=np.array([0.25, 0.5, 0.75, 1.0, 0.3]),
        stratum=np.array(["news", None, "social", "news", "news"], object),
        unit=np.array(["d1", "d1", None, "d2", "d3"], object),
        models=tuples(("x",), None, ("x", "y"), None, None),
        pairs=tuples(None, ("x", "y"), None, None, ("y", "x")),
        context=tuples(("before", "just before"), None, (), None, ("earlier",)),
        reasons=np.array(["one", "", "drawn at random", "two", "three"], object),
        notes=("a note",),
    )
    again = Selection.load(_saved(full, tmp_path))
    assert [replace(row, context=tuple(row.context)) for row in again] == list(full)
    assert again.notes == ("a note",)
    assert again.row(1).context == ()
    assert again.row(4).pair == ("y", "x")
    assert (again.row(1).stratum, again.row(1).unit, again.row(1).pool_probability) == (None, "d1", 0.5)


def test_a_row_says_how_it_was_drawn(drawn: Selection) -> None:
    full = replace(drawn, stratum=np.array(["s"] * 5, object), unit=np.array(["d"] * 5, object))
    assert full.to_dict()["rows"][0] == {
        "item": drawn.items[0],
        "probability": 0.25,
        "weight": 4.0,
        "stratum": "s",
        "unit": "d",
    }


def test_files_without_the_newer_columns_still_load(drawn: Selection) -> None:
    again = Selection.from_dict(drawn.to_dict())
    for held in (again, again.row(0)):
        assert (held.stratum, held.unit, held.pool_probability) == (None, None, None)


def _saved(selection: Selection, folder: Path) -> Path:
    path = folder / "selection.json"
    selection.save(path)
    return path


def test_unknown_keys_are_kept(drawn: Selection, tmp_path: Path) -> None:
    path = tmp_path / "later.json"
    held = written(drawn, path)
    held["campaign"] = {"round": 3, "by": ["me"]}
    held["rows"][2]["snippet"] = [1, 2]
    path.write_text(json.dumps(held), encoding="utf-8")
    again = Selection.load(path)
    assert again.unknown == {"campaign": {"round": 3, "by": ["me"]}}
    assert written(again, tmp_path / "again.json") == held


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_odd_ids_survive(name: str, tmp_path: Path) -> None:
    ids = ["größe", "日本語", "a\nb", 'quo"te', "half \ud83d", "|&_%#", "0"]
    selection = sparingly.select(EvalSet.from_arrays(ids, ["x"]), "random", 7)
    selection.save(tmp_path / name)
    assert list(Selection.load(tmp_path / name).items) == list(selection.items)


def test_a_file_that_cannot_be_written_leaves_nothing(drawn: Selection, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder to write to does not exist"):
        drawn.save(tmp_path / "no" / "where.json")
    broken = replace(drawn, unknown={"set": {1, 2}})
    with pytest.raises(TypeError):
        broken.save(tmp_path / "broken.json")
    assert list(tmp_path.iterdir()) == []


# --- bad files: one sentence each -------------------------------------------------------------------


def changed(held: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    *parents, last = [int(name) if name.isdigit() else name for name in place.split(".")]
    target: Any = held
    for name in parents:
        target = target[name]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return held


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ("version", 2, "field version: version 2 is newer than the version 1 that this sparingly reads"),
        ("version", "1", 'field version: "1" is not a version'),
        (
            "format",
            "sparingly/evalset",
            'field format: this is a "sparingly/evalset" file, not sparingly/selection',
        ),
        ("format", ..., "field format: this is a null file, not sparingly/selection"),
        ("rows", {}, "field rows: expected a list […]"),
        ("rows.1", 5, "field rows[1]: expected an object {…}, not 5"),
        ("rows.1.item", ..., "field rows[1].item: null is not an id"),
        ("rows.1.item", "", "field rows[1].item: the id is empty"),
        ("rows.1.probability", 0, "field rows[1].probability: 0.0 is not an inclusion probability"),
        ("rows.1.probability", 1.5, "field rows[1].probability: 1.5 is not an inclusion probability"),
        ("rows.1.probability", ..., "field rows[1].probability: nan is not an inclusion probability"),
        ("rows.1.probability", "a half", 'field rows[1].probability: "a half" is text, not a number'),
        ("rows.0.pool_probability", 2, "field rows[0].pool_probability: 2.0 is not an inclusion probability"),
        ("rows.1.stratum", 7, "field rows[1].stratum: 7 is not text"),
        ("rows.1.unit", ["d"], "field rows[1].unit: ['d'] is not text"),
        ("rows.1.reason", 7, "field rows[1].reason: 7 is not text"),
        ("rows.1.models", "x", 'field rows[1].models: expected a list […], not "x"'),
        ("rows.1.models", [], "field rows[1].models: [] names 0 models. Name at least one"),
        ("rows.1.pair", ["x"], "field rows[1].pair: ['x'] names 1 model. A pair is two models"),
        ("rows.1.context", [None], "field rows[1].context: null is not an id"),
        ("notes", "none", 'field notes: expected a list […], not "none"'),
        ("notes", [1], "field notes: 1 is not text"),
        ("never", [None], "field never[0]: null is not an id"),
        ("pool", "all", 'field pool: expected a list […], not "all"'),
        ("cost_unit", 3, "field cost_unit: 3 is not text"),
        ("signature", ..., "field signature: the signature has no "),
        ("signature.seed", ..., 'field signature: the signature has no "seed"'),
        ("signature", [], "field signature: expected an object {…}"),
        ("signature.seed", "3", 'field signature.seed: "3" is not a whole number'),
        ("signature.n", True, "field signature.n: true is not a whole number"),
        ("signature.of", None, "field signature.of: null is not a whole number"),
        ("signature.method", 5, "field signature.method: 5 is not text"),
        ("signature.budget", None, "field signature.budget: the text is missing"),
        ("signature.labels", 5, "field signature.labels: 5 is not text"),
        ("signature.pool", {"seed": "x"}, 'field signature.pool.seed: "x" is not a whole number'),
    ],
)
def test_what_is_wrong_is_named(
    drawn: Selection, tmp_path: Path, place: str, value: Any, sentence: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(changed(drawn.to_dict(), place, value)), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Selection.load(path)
    assert str(caught.value).startswith(f"{path}, {sentence}")
    assert "\n" not in str(caught.value)


def test_an_item_that_is_there_twice(drawn: Selection, tmp_path: Path) -> None:
    held = drawn.to_dict()
    held["rows"][3]["item"] = held["rows"][1]["item"] = 12
    held["rows"][2]["item"] = "12"
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(InputError, match='field rows: the item "12" is there twice'):
        Selection.load(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"),
        (b"[]", "expected an object {…}, not []"),
        (b"not json", "is not JSON"),
        (b'{"format": "sparingly/selection"', "is not JSON"),
        (b"\xff{}", "is not UTF-8"),
    ],
)
def test_files_that_are_no_selections(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Selection.load(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    with pytest.raises(InputError, match="there is no such file"):
        Selection.load(tmp_path / "absent.json")
    with pytest.raises(InputError, match="this is a directory"):
        Selection.load(tmp_path)


# --- in a notebook ----------------------------------------------------------------------------------


def test_notebook_shows_the_first_items_escaped(data: EvalSet) -> None:
    html = sparingly.select(data, "random", 12)._repr_html_()
    assert "&lt;b&gt;i" in html
    assert "<b>i" not in html
    assert "12 of 20 items" in html
    assert "The first: " in html
    assert "random:balance=none" in html


def test_text_is_one_line(drawn: Selection) -> None:
    assert repr(drawn) == f"Selection(5 of 20 items; {drawn.signature})"
