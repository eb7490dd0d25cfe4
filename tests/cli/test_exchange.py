"""``sparingly export`` and ``sparingly import``: tasks out, answers in, and what was left out is told."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented

DATA = load_invented()


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo's data and a selection of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    sparingly.save(DATA.without_labels(), "data.jsonl")
    sparingly.select(DATA, "uniform", 6, seed=1).save("chosen.json")
    return tmp_path


def fill_in(path: Path, score: str) -> None:
    """Write a score into every row of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "overall": score, "rater": row["rater"] or "Ada"} for row in rows)


def test_there_and_back(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "data.jsonl", "chosen.json", "--to", "csv", "-o", "sheets"]) == 0
    assert "key file (keep private): sheets.key.json" in capsys.readouterr().out
    fill_in(there / "sheets" / "tasks.csv", "70")
    asked = ["import", "sheets/tasks.csv", "--key", "sheets.key.json"]
    assert run([*asked, "--from", "csv", "--out", "ratings.csv"]) == 0
    assert "0 left out; 0 are missing" in capsys.readouterr().out
    with Path("ratings.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 6 * len(DATA.models)
    assert run([*asked, "--into", "data.jsonl", "--out", "judged.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == []
    assert run(["estimate", "judged.jsonl", "chosen.json"]) == 0
    assert "70" in capsys.readouterr().out


def test_raters_of_an_assignment_have_files_of_their_own(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed = ["assign", "data.jsonl", "chosen.json", "-r", "Ada,Bo", "-o", "who.json"]
    assert run([*handed, "--control-share", "0.5", "--controls-out", "controls.jsonl"]) == 0
    asked = ["export", "data.jsonl", "chosen.json", "--to", "csv", "-o", "out"]
    assert run([*asked, "--assignment", "who.json", "--controls", "controls.jsonl"]) == 0
    assert sorted(path.name for path in (there / "out").iterdir()) == ["tasks-Ada.csv", "tasks-Bo.csv"]
    for path in (there / "out").iterdir():
        fill_in(path, "101" if "Bo" in path.name else "9")
    capsys.readouterr()
    files = ["out/tasks-Ada.csv", "out/tasks-Bo.csv"]
    assert run(["import", *files, "--key", "out.key.json"]) == 0
    shown = capsys.readouterr().out
    assert "outside the scale 0 to 100" in shown
    assert "a control item" in shown
    apart = ["--controls", "controls.jsonl", "--controls-out", "judged-controls.jsonl"]
    assert run(["import", *files, "--key", "out.key.json", *apart]) == 0
    controls = sparingly.load("judged-controls.jsonl")
    assert set(controls.ratings.raters) == {"Ada"}
    assert run(["import", *files, "--key", "out.key.json", *apart[:2]]) == 2
    assert "need both" in capsys.readouterr().err
    assert run(["import", *files, "--key", "out.key.json", "--strict"]) == 2
    assert "tasks-Bo.csv, line 2, field overall: the score 101 is outside" in capsys.readouterr().err


def test_the_open_round_of_a_campaign(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = ["campaign", "new", "c.db", "data.jsonl", "-m", "uniform", "-b", "4", "-a", "overall"]
    assert run([*new, "--scale", "0,100", "--size", "2"]) == 0
    assert run(["campaign", "next", "c.db"]) == 0
    assert run(["export", "c.db", "--to", "csv", "-o", "round", "--json"]) == 0
    assert (there / "c.db.key.json").exists()
    fill_in(there / "round" / "tasks.csv", "33")
    capsys.readouterr()
    assert run(["import", "round/tasks.csv", "--into", "c.db", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recorded"]["new"] == 2 * len(DATA.models)
    assert run(["import", "round/tasks.csv", "--into", "c.db"]) == 0
    assert run(["export", "c.db", "--to", "csv", "-o", "round", "-a", "x"]) == 2
    assert "leave out --aspect" in capsys.readouterr().err


def test_the_tools_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--to", "list"]) == 0
    assert "label-studio" in capsys.readouterr().out
    assert run(["export", "--to", "list", "--json"]) == 0
    assert {"tool", "summary", "kinds"} == set(json.loads(capsys.readouterr().out)[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["export", "--to", "csv"], "Name the data and a folder"),
        (["export", "data.jsonl", "chosen.json", "--to", "excel", "-o", "x"], 'no annotation tool "excel"'),
        (["export", "data.jsonl", "chosen.json", "--to", "csv", "-o", "x", "-T", "a"], "key=value"),
        (["export", "data.jsonl", "chosen.json", "--to", "csv", "-o", "x", "--scale", "5"], "two numbers"),
        (["export", "data.jsonl", "chosen.json", "--to", "csv", "-o", "x", "--key", "x/k.json"], "leave"),
        (["import", "a.csv"], "Name the key"),
        (["import", "a.csv", "--key", "none.json"], "none.json: there is no such file"),
    ],
)
def test_wrong_use_gets_one_sentence(
    there: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert run(arguments) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
