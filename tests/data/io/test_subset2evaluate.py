from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.io.subset2evaluate import looks_human

ODD = "Nucleus Decoding + rerank (p = 0.3)"
FIRST: dict[str, Any] = {
    "i": 0,
    "src": "Guten Tag",
    "ref": "Good day",
    "tgt": {"A": "Hello", ODD: ""},
    "scores": {
        "A": {"human": 90, "human_sum": 4.5, "MetricX-23-c": -1.5},
        ODD: {"human": 10.5, "human_sum": None, "MetricX-23-c": -20},
    },
    "cost": 1.25,
    "domain": "news",
    "doc": "d1",
    "subset2evaluate_utility": 0.75,
}
SECOND: dict[str, Any] = {
    "i": 7,
    "src": "Ja",
    "tgt": {"A": "Yes"},
    "scores": {"A": {"human": 100, "MetricX-23-c": -0.5, "mqm": -1}},
    "cost": 0.5,
    "domain": "social",
    "doc": "d2",
}


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_an_item_is_read_with_everything_it_holds(tmp_path: Path) -> None:
    data = io.load(written(tmp_path / "s.jsonl", FIRST, SECOND))
    assert list(data.items) == ["0", "7"]
    assert data.models == ("A", ODD)
    assert list(data.metrics) == ["MetricX-23-c"]
    assert set(data.aspects) == {"human", "human_sum", "mqm"}
    np.testing.assert_array_equal(data.metrics["MetricX-23-c"], [[-1.5, -20], [-0.5, np.nan]])
    np.testing.assert_array_equal(data.aspects["human_sum"], [[4.5, np.nan], [np.nan, np.nan]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["Hello", ""], ["Yes", None]]
    assert data.sources is not None
    assert data.sources.tolist() == ["Guten Tag", "Ja"]
    assert data.references == ("ref",)
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["Good day"], [None]]
    assert data.columns["document"].tolist() == ["d1", "d2"]
    assert data.columns["cost"].tolist() == [1.25, 0.5]
    assert data.columns["subset2evaluate_utility"].tolist() == [0.75, None]


def test_a_json_array_is_read_like_lines(tmp_path: Path) -> None:
    lines = io.load(written(tmp_path / "s.jsonl", FIRST, SECOND))
    array = tmp_path / "s.json"
    array.write_text(json.dumps([FIRST, SECOND], indent=2), encoding="utf-8")
    assert io.load(array).digest() == lines.digest()
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(array.read_bytes()))
    assert io.load(packed).digest() == lines.digest()


def test_aspects_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", FIRST, SECOND)
    data = io.load(path, aspects="human, MetricX-23-c")
    assert set(data.aspects) == {"human", "MetricX-23-c"}
    assert set(data.metrics) == {"human_sum", "mqm"}
    assert set(io.load(path, aspects=["mqm"]).aspects) == {"mqm"}
    with pytest.raises(UnknownNameError, match=r'There is no score "humann"\. Did you mean human'):
        io.load(path, aspects="humann")


@pytest.mark.parametrize(
    ("name", "human"),
    [
        *((name, True) for name in ("human", "human_coherence", "Human-1", "MQM", "da-sqm", "esa")),
        *((name, False) for name in ("HumanEval", "MQM-COMET", "chrF", "humanlike")),
    ],
)
def test_names_of_what_people_score(name: str, human: bool) -> None:
    assert looks_human(name) is human


def test_an_item_without_id_is_refused_unless_told_to_number(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", FIRST, {key: SECOND[key] for key in SECOND if key != "i"})
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, line 2, field i: the item has no id. "
        'Add "i" to every line, or load with ids=order to number the items as they come.'
    )
    data = io.load(path, ids="order")
    assert list(data.items) == ["0", "1"]
    assert data.columns["i"].tolist() == [0, None]
    with pytest.raises(UsageError, match='"order" or absent, not "lines"'):
        io.load(path, ids="lines")


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", FIRST, FIRST)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, line 2, field i: the item 0 was there before (line 1). Give every item its own id."
    )
    with pytest.raises(InputError, match='written as a number and as the text "0"'):
        io.load(written(tmp_path / "t.jsonl", FIRST, SECOND | {"i": "0"}))


def test_bad_values_are_named_with_their_place(tmp_path: Path) -> None:
    bad = json.loads(json.dumps(SECOND))
    bad["scores"]["A"]["human"] = "good"
    array = tmp_path / "s.json"
    array.write_text("[\n" + json.dumps(FIRST) + ",\n\n" + json.dumps(bad) + "\n]", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        io.load(array)
    assert str(caught.value) == (
        f'{array}, line 4, field scores.A.human: "good" is text, not a number. '
        "Write the number without quotes, or null where it is missing."
    )
    with pytest.raises(InputError, match='line 2, field cost: "cheap" is text'):
        io.load(written(tmp_path / "t.jsonl", FIRST, SECOND | {"cost": "cheap"}))
    with pytest.raises(InputError, match="line 2, field document: the item has a doc and another document"):
        io.load(written(tmp_path / "u.jsonl", FIRST, SECOND | {"document": "d9"}))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[{"i": 1, "tgt": {}}, 3]', "line 1: expected a JSON object, not 3."),
        ('[{"i": 1, "tgt": {}}\n{"i": 2}]', "line 2: this is not JSON"),
        ('[{"i": 1, "tgt": {}},\n{"i": 2, "i": 3}]', 'line 2, field i: the key "i" is there twice'),
        ('[{"i": 1, "tgt": {}},\n{"i": 2', "line 2: this is not JSON"),
        ('[{"i": 1, "tgt": {}}] x', "this is not JSON"),
    ],
)
def test_a_broken_array_is_explained(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        io.load(path, "subset2evaluate")
    assert wrong in str(caught.value)


def test_writing_gives_the_layout_of_the_tool(tmp_path: Path) -> None:
    data = io.load(written(tmp_path / "s.jsonl", FIRST, SECOND))
    path = tmp_path / "out.jsonl"
    assert io.save(data, path, "subset2evaluate") == []
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert first["i"] == 0
    assert first["tgt"] == {"A": "Hello", ODD: ""}
    assert first["scores"][ODD] == {"human": 10.5, "MetricX-23-c": -20}
    assert first["doc"] == "d1"
    assert first["ref"] == "Good day"
    assert second["scores"] == {"A": {"human": 100, "MetricX-23-c": -0.5, "mqm": -1}, ODD: {}}
    assert "ref" not in second
    assert io.load(path).digest() == data.digest()


def test_what_has_no_place_is_told(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(
        ["a", "b"],
        ["m", "n"],
        metrics={"mqm": [[1, 2], [3, 4]], "chrF": [[1, 2], [3, 4]]},
        aspects={"mqm": [[5, 6], [7, 8]]},
        references={"A": ["x", "y"], "B": ["z", "w"]},
        columns={"src": [1, 2], "topic": ["t", "u"]},
    ).with_preferences_from("aspect:mqm")
    path = tmp_path / "out.jsonl"
    lost = io.save(data, path, "subset2evaluate")
    assert lost == ["preferences", "metric:mqm", "column:src", "references"]
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert first["i"] == "a"
    assert first["scores"]["m"] == {"chrF": 1, "mqm": 5}
    assert first["topic"] == "t"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(st.text("ab1 ", min_size=1).filter(str.strip), min_size=1, max_size=5, unique=True),
    scores=st.data(),
)
def test_what_is_written_reads_back(tmp_path: Path, ids: list[str], scores: st.DataObject) -> None:
    number = st.floats(-1e6, 1e6) | st.just(float("nan"))
    matrix = st.lists(st.lists(number, min_size=2, max_size=2), min_size=len(ids), max_size=len(ids))
    texts = st.lists(
        st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2),
        min_size=len(ids),
        max_size=len(ids),
    )
    metric, aspect = scores.draw(matrix), scores.draw(matrix)
    metric[0][0] = aspect[0][0] = 1.0
    outputs = scores.draw(texts)
    outputs[0][0] = "there"
    data = EvalSet.from_arrays(
        ids, ["m", ODD], metrics={"chrF": metric}, aspects={"human_sum": aspect}, outputs=outputs
    )
    path = tmp_path / "s.jsonl"
    io.save(data, path, "subset2evaluate")
    assert io.load(path).digest() == data.digest()


def test_scores_whose_names_tell_the_wrong_kind_are_told(tmp_path: Path) -> None:
    numbers = [[1.0, 2.0]]
    data = EvalSet.from_arrays(
        ["a"],
        ["m", "n"],
        metrics={"chrF": numbers, "mqm": numbers},
        aspects={"fluency": numbers, "human": numbers, "style": numbers},
        outputs=[["x", "y"]],
    )
    path = tmp_path / "out.jsonl"
    assert io.save(data, path, "subset2evaluate") == [
        *("aspect:fluency", "aspect:style", "metric:mqm"),
        "which scores people gave (read it with aspects=fluency,human,style)",
    ]
    assert io.load(path).digest() != data.digest()
    assert io.load(path, aspects="fluency,human,style").digest() == data.digest()


def test_a_metric_with_the_name_of_a_protocol_needs_the_empty_option(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(["a"], ["m", "n"], metrics={"esa": [[1.0, 2.0]]}, outputs=[["x", "y"]])
    lost = io.save(data, tmp_path / "out.jsonl", "subset2evaluate")
    assert lost == ["metric:esa", "which scores people gave (read it with aspects=)"]
    assert io.load(tmp_path / "out.jsonl", aspects="").digest() == data.digest()


@pytest.mark.shared_data
def test_aspects_of_a_real_set_come_back_by_the_option_that_is_named(
    shared_data: Path, tmp_path: Path
) -> None:
    data = io.load(shared_data / "webnlg20_en.jsonl.gz")
    lost = io.save(data, tmp_path / "out.jsonl", "subset2evaluate")
    assert {f"aspect:{name}" for name in data.aspects} <= set(lost)
    option = lost[-1].partition("aspects=")[2].removesuffix(")")
    again = io.load(tmp_path / "out.jsonl", aspects=option)
    assert set(again.aspects) == set(data.aspects)
    assert set(again.metrics) == set(data.metrics)
