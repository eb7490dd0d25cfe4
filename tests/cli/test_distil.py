"""Training, applying and showing a model on the command line."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run
from tests.choose.distil.made_past import made_past

Command = Callable[[str], tuple[int, str, str]]
TRAIN = "distil train past.jsonl later=more.jsonl -u hard=metric_avg -u aspect:overall -o model.skops"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in a folder with past and new data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    sparingly.save(made_past(), "past.jsonl")
    sparingly.save(made_past(200, 50), "more.jsonl")
    sparingly.save(made_past(500, 30, models=("Beta", "Delta")), "new.jsonl")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_train_info_apply_select_verify(command: Command) -> None:
    code, out, err = command(TRAIN)
    assert (code, err) == (EXIT_DONE, "")
    assert "held out by data set" in out
    assert "models learned on: Alpha-7B, Beta\n" in out
    card = json.loads(command("distil info model.skops --json")[1])
    assert [one["name"] for one in card["data"]] == ["later", "past"]
    assert card["digest"] in command("distil info model.skops")[1]
    code, out, _ = command("distil apply model.skops new.jsonl -o scored.jsonl")
    assert code == EXIT_DONE
    assert "30 of 30 sources scored" in out
    assert "judged now: Beta;" in out
    scored = sparingly.load("scored.jsonl")
    assert {"hard_src", "aspect:overall_src"} <= set(scored.columns)
    code, out, _ = command("select new.jsonl -m distilled:model=model.skops,utility=hard -b 5 -o chosen.json")
    assert code == EXIT_DONE
    assert "section 5.3" in out
    assert command("verify chosen.json new.jsonl")[0] == EXIT_DONE


def test_lines_of_text_become_a_table(command: Command, tmp_path: Path) -> None:
    command(TRAIN)
    (tmp_path / "sources.txt").write_text(
        "We saw Zermatt 1789 and the old cat.\n\nЖили-были.\n", encoding="utf-8"
    )
    code, out, _ = command("distil apply model.skops sources.txt -u hard -o scored.csv --json")
    assert code == EXIT_DONE
    assert json.loads(out)["unlike"] == 1
    with Path("scored.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == ["line-000001", "line-000002", "line-000003"]
    assert rows[1]["hard_src"] == ""
    assert (rows[0]["unlike"], "script" in rows[2]["unlike"]) == ("", True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("distil train past.jsonl past.jsonl -u metric_avg -o m.skops", 'Two data sets are called "past"'),
        ("distil train past.jsonl -u metric_avg -o m.skops --family Beta", "not of the form MODEL=FAMILY"),
        ("distil train past.jsonl -u metric_avgg -o m.skops", "metric_avg"),
        ("distil info past.jsonl", "not a skops file"),
        ("distil apply past.jsonl new.jsonl -o x.jsonl", "not a skops file"),
    ],
)
def test_wrong_use_is_one_sentence(command: Command, line: str, words: str) -> None:
    code, _, err = command(line)
    assert code == EXIT_WRONG
    assert words in err
    assert err.count("\n") == 1
