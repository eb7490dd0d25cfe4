"""``sparingly raters`` and ``sparingly assign``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented
from tests.infer.estimate.test_severity import Row, rated_set
from tests.run.raters.test_controls import both_judged_everything, judged_controls


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    data = load_invented()
    sparingly.save(data, tmp_path / "data.jsonl")
    sparingly.select(data, "random", 60, seed=1).save(tmp_path / "chosen.json")
    return tmp_path


def test_raters(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["raters", "data.jsonl", "--aspect", "overall", "--metric", "learned"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "5 raters of overall",
        "Krippendorff's α 0.84 [",
        "variance of a rating",
        "Rowan",
    ):
        assert words in printed
    assert "none far from the rest" in printed
    assert run(["raters", "data.jsonl", "-a", "overall", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [row["rater"] for row in values["severity"]["raters"]] == ["Ada", "Bo", "Chidi", "Dana", "Emre"]


def test_raters_of_a_set_without_any(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparingly.save(load_invented().without_labels(), demo / "bare.jsonl")
    assert run(["raters", "bare.jsonl"]) == 2
    assert "No label says who gave it. If a column does, add --role COLUMN=rater." in capsys.readouterr().err


def test_assign_and_controls(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["assign", "data.jsonl", "chosen.json", "--raters", "Ada, Bo,Chidi"]
    more = [
        "--unit",
        "document",
        "--overlap",
        "0.2",
        "--control-share",
        "0.2",
        "--controls-out",
        "controls.jsonl",
    ]
    assert run([*command, *more, "-o", "tasks.json"]) == 0
    printed = capsys.readouterr().out
    assert "All raters are connected through shared documents" in printed
    assert "written to tasks.json" in printed
    handed = sparingly.Assignment.load(demo / "tasks.json")
    assert handed.raters == ("Ada", "Bo", "Chidi")
    controls = sparingly.load(demo / "controls.jsonl")
    assert sum(handed.controls.values()) == len(controls) == 12
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "sparingly/assignment"


def test_what_cannot_be_assigned(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["assign", "data.jsonl", "chosen.json"]
    assert run([*command, "-r", "Ada,Ada"]) == 2
    assert "twice" in capsys.readouterr().err
    assert run([*command, "-r", "Ada,Bo", "--load", "10"]) == 2
    assert "raise the load" in capsys.readouterr().err
    assert run([*command, "-r", "Ada,Bo", "--controls", "0.1"]) == 2
    assert "--controls-out" in capsys.readouterr().err
    assert run([*command, "-r", "Ada,Bo,Chidi,Dana,Emre,Femi,Gus,Hana", "--overlap", "0.05"]) == 0
    assert "Not all raters are connected" in capsys.readouterr().out


def test_raters_with_controls_and_flags(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, chosen = both_judged_everything(), sparingly.Selection.load("chosen.json")
    controls = judged_controls(sparingly.control_items(data, chosen, share=0.5), "Ada", "Bo")
    sparingly.save(data, demo / "two.jsonl")
    sparingly.save(controls, demo / "controls.jsonl")
    assert run(["raters", "two.jsonl", "-a", "overall", "--controls", "controls.jsonl"]) == 0
    printed = capsys.readouterr().out
    assert "right / tied / wrong" in printed
    assert "10 / 0 / 0" in printed
    assert "Bo scored" in printed
    assert "with fewer than 4 raters" in printed
    assert "1.00" in printed, "Ada agrees with herself"


def test_groups_of_raters_are_shown(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[Row] = [(item, 0, "ab"[item % 2], float(item * 7 % 11)) for item in range(30)]
    sparingly.save(rated_set(rows, 1), demo / "apart.jsonl")
    assert run(["raters", "apart.jsonl", "-v"]) == 0
    printed = capsys.readouterr().out
    assert "raters connected through shared items: a; b" in printed
    assert "no output has two ratings yet" in printed
