from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import InputError
from sparingly.data import io

BASE = "gpt4_1106_preview"
ODD = "Mistral-7B + RAHF (DUAL v0.2)"


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def output(instruction: str, text: str | None, generator: str = ODD) -> dict[str, Any]:
    return {"dataset": "koala", "instruction": instruction, "output": text, "generator": generator}


def annotation(instruction: str, first: str, second: str, preference: Any, **more: Any) -> dict[str, Any]:
    return {
        "instruction": instruction,
        "output_1": first,
        "generator_1": BASE,
        "dataset": "koala",
        "output_2": second,
        "generator_2": ODD,
        "annotator": "weighted_alpaca_eval_gpt4_turbo",
        "preference": preference,
        "price_per_example": 0.01,
        **more,
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results as the repository of AlpacaEval keeps them: a folder for each model."""
    root = tmp_path / "results"
    put(root / "mine" / "model_outputs.json", [output("Hi", "Hello"), output("Sum", ""), output("Why", "So")])
    put(root / BASE / "model_outputs.json", [output("Hi", "Hey", BASE), output("Sum", None, BASE)])
    put(
        root / "mine" / "weighted" / "annotations.json",
        [annotation("Hi", "Hey", "Hello", 1.25), annotation("Sum", "Total", "", None)],
    )
    put(root / "leaderboard.json", {"mine": 50.0})
    return root


def test_outputs_and_annotations_come_together(results: Path) -> None:
    data = io.load(results)
    assert data.models == (ODD, BASE)
    assert data.sources is not None
    assert sorted(data.sources) == ["Hi", "Sum", "Why"]
    assert all(name.startswith("alpaca-") and len(name) == 23 for name in data.items)
    by_source = dict(zip(data.sources, range(3), strict=True))
    assert data.outputs is not None
    assert data.outputs[by_source["Hi"]].tolist() == ["Hello", "Hey"]
    assert data.outputs[by_source["Sum"]].tolist() == ["", "Total"]
    assert data.outputs[by_source["Why"]].tolist() == ["So", None]
    assert data.columns["dataset"].tolist() == ["koala"] * 3
    table = data.preferences
    assert len(table) == 1
    assert table.item.tolist() == [by_source["Hi"]]
    assert (table.first.tolist(), table.second.tolist()) == ([1], [0])
    assert table.value.tolist() == [0.5]
    assert table.raters == ("weighted_alpaca_eval_gpt4_turbo",)
    assert table.extra["price_per_example"].tolist() == [0.01]
    assert data.columns["missing_preferences"][by_source["Sum"]] == 1
    assert not data.aspects


@pytest.mark.parametrize(
    ("preference", "value"), [(1, 1), (2, -1), (2.0, -1), (1.5, 0), (0, 0), (1.75, -0.5)]
)
def test_preferences_are_turned(tmp_path: Path, preference: float, value: float) -> None:
    path = put(tmp_path / "annotations.json", [annotation("Hi", "a", "b", preference)])
    assert io.load(path).preferences.value.tolist() == [value]


def test_files_can_be_given_together(results: Path) -> None:
    annotations = results / "mine" / "weighted" / "annotations.json"
    data = io.load(annotations, outputs=["../model_outputs.json", str(results / BASE / "model_outputs.json")])
    assert data.digest() == io.load(results).digest()
    outputs = results / "mine" / "model_outputs.json"
    assert io.load(outputs, annotations="weighted/annotations.json").shape == (3, 2)
    assert io.load(results, outputs=str(outputs)).digest() == io.load(results).digest()
    with pytest.raises(InputError, match=r"none\.json: there is no such file"):
        io.load(outputs, annotations="none.json")


def test_an_input_belongs_to_the_instruction(tmp_path: Path) -> None:
    records = [output("Translate", "x") | {"input": "Hallo"}, output("Translate", "y") | {"input": ""}]
    data = io.load(put(tmp_path / "o.json", records))
    assert data.sources is not None
    assert sorted(data.sources) == ["Translate", "Translate\n\nHallo"]


def test_ids_depend_on_the_instruction_alone(tmp_path: Path) -> None:
    one = io.load(put(tmp_path / "a.json", [output("Hi", "x"), output("Sum", "y")]))
    other = io.load(put(tmp_path / "b.json", [output("Sum", "z", "other")]))
    assert set(other.items) < set(one.items)


def test_an_instruction_twice_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "model_outputs.json", [output("Hi", "x"), output("Hi", "x")])
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, line 8, field instruction: the instruction "Hi" is there twice for one generator '
        "(first on line 2). Keep one of them."
    )


def test_outputs_that_contradict_each_other_are_refused(results: Path) -> None:
    path = put(results / "z" / "annotations.json", [annotation("Hi", "Hey", "Hullo", 1)])
    with pytest.raises(InputError) as caught:
        io.load(results)
    assert str(caught.value) == (
        f"{path}, line 2, field output_2: the generator has another output for this instruction in "
        "model_outputs.json, line 2. Load only files of one run of each generator."
    )


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"preference": 3}, "field preference: 3 is not a preference. Write 1, 2, a number between them"),
        ({"preference": "1"}, 'field preference: "1" is text, not a number'),
        ({"generator_2": None}, 'field generator_2: the record has no generator_2. Add "generator_2" to it.'),
        ({"generator_2": BASE}, f'the model "{BASE}" is compared with itself'),
        ({"output_1": 3}, "field output_1: 3 is not text"),
    ],
)
def test_a_bad_annotation_is_named(tmp_path: Path, change: dict[str, Any], wrong: str) -> None:
    record = annotation("Hi", "a", "a", 1) | change
    path = put(tmp_path / "annotations.json", [annotation("Why", "a", "b", 2), record])
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value).startswith(f"{path}, line 13")
    assert wrong in str(caught.value)


def test_what_is_something_else_is_not_taken_for_it(tmp_path: Path) -> None:
    path = put(tmp_path / "o.json", [{"instruction": "Hi", "output": "x"}])
    assert io.recognise(path).name == "table"
    with pytest.raises(InputError, match="these are neither outputs nor annotations of AlpacaEval"):
        io.load(path, "alpaca_eval")
    with pytest.raises(InputError, match="this directory holds no data in a known layout"):
        io.load(tmp_path)
