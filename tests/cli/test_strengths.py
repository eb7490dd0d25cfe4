"""``sparingly strengths``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    data = load_invented()
    sparingly.save(data, tmp_path / "scores.jsonl")
    sparingly.save(data.with_preferences_from("overall", tie=2.0), tmp_path / "data.jsonl")
    return tmp_path


def test_strengths(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["strengths", "data.jsonl", "--covariate", "length"]) == 0
    printed = capsys.readouterr().out
    assert "Rowan is the strongest of 8 models, from 6,720 comparisons." in printed
    assert printed.index("Rowan") < printed.index("Hazel-instruct") < printed.index("Cedar-MT")
    assert "length: one standard deviation more adds" in printed


def test_strengths_as_json_are_those_of_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["strengths", "scores.jsonl", "--from-scores", "overall", "--tie", "2", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    wanted = sparingly.bradley_terry(load_invented().with_preferences_from("overall", tie=2.0))
    assert np.allclose(values["strengths"], wanted.strengths)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scores.jsonl"], "derive them with --from-scores ASPECT."),
        (["data.jsonl", "--tie", "2"], "name them, too, with --from-scores."),
        (["data.jsonl", "--aspect", "nope"], 'There is no aspect with preferences "nope".'),
    ],
)
def test_what_is_missing_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["strengths", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_campaign_says_the_same_as_compare(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"prompt": f"question {place}", "response_a": f"yes {place}", "response_b": f"no {place}"}
        for place in range(30)
    ]
    (folder / "ab.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["campaign", "new", "ab.db", "ab.jsonl", "--ask", "pairs", "--budget", "30"]) == 0
    assert run(["strengths", "ab.db"]) == 2
    assert "no labels yet" in capsys.readouterr().err
    assert run(["campaign", "next", "ab.db", "--out", "form.csv"]) == 0
    header, *lines = (folder / "form.csv").read_text().splitlines()
    names, filled = header.split(","), []
    for place, line in enumerate(lines):
        cells = line.split(",")
        cells[names.index("score")] = "1" if place % 4 else "-1"
        cells[names.index("rater")] = "Ada"
        filled.append(",".join(cells))
    (folder / "votes.csv").write_text("\n".join([header, *filled]) + "\n")
    assert run(["campaign", "record", "ab.db", "votes.csv"]) == 0
    capsys.readouterr()
    assert run(["strengths", "ab.db", "--json"]) == 0
    strengths = json.loads(capsys.readouterr().out)
    assert run(["compare", "ab.db", "--json"]) == 0
    assert strengths == json.loads(capsys.readouterr().out)
