from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from sparingly.cli.app import run
from tests.run.campaign.made import answer_all, begin, row


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a campaign ``c.db`` of one answered round."""
    monkeypatch.chdir(tmp_path)
    with begin("c.db") as campaign:
        campaign.next()
        campaign.record([row(campaign.questions()[0], 40, "ann", seconds=1800)])
        answer_all(campaign, rater="ben")
    return tmp_path


@pytest.mark.usefixtures("place")
def test_pause_and_resume(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "pause", "c.db", "--reason", "lunch"]) == 0
    assert capsys.readouterr().out == "paused: campaign, at entry 15\n"
    assert run(["campaign", "status", "c.db"]) == 0
    assert "campaign (overall, paused): " in capsys.readouterr().out
    assert run(["campaign", "pause", "c.db"]) == 2
    assert "is paused already" in capsys.readouterr().err
    assert run(["campaign", "resume", "c.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"campaign": "campaign", "resumed": 16}


def test_hours(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "hours", "c.db", "--rate", "20", "-o", "hours.csv"]) == 0
    shown = capsys.readouterr().out
    assert "ann" in shown
    assert "10.00" in shown
    assert "note: 11 answers came without a time, so the hours are too few." in shown
    assert "written: hours.csv" in shown
    with (place / "hours.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["rater"], one["hours"], one["amount"]) for one in rows] == [
        ("ann", "0.5", "10.0"),
        ("ben", "0.0", "0.0"),
    ]
    assert run(["campaign", "hours", "c.db", "--json"]) == 0
    assert [one["seconds"] for one in json.loads(capsys.readouterr().out)] == [1800, 0]
    assert run(["campaign", "hours", "c.db", "--rate", "-1"]) == 2


@pytest.mark.usefixtures("place")
def test_nobody_has_worked(capsys: pytest.CaptureFixture[str]) -> None:
    begin("new.db").disconnect()
    assert run(["campaign", "hours", "new.db"]) == 0
    assert capsys.readouterr().out == "nobody has answered yet\n"


def test_release(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "release", "c.db", "out", "--licence", "CC-BY-4.0", "--seed", "7"]) == 0
    shown = capsys.readouterr().out
    assert "12 judgements by 2 raters" in shown
    assert "seed of the raters' numbers: 7. Keep it private." in shown
    assert (place / "out" / "README.md").is_file()
    assert run(["campaign", "release", "c.db", "out.zip", "--licence", "MIT", "--no-texts", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["files"] == ["README.md", "ratings.csv", "rounds/data-1.json", "release.json"]
    assert run(["campaign", "release", "c.db", "out", "--licence", "MIT"]) == 2
    assert "there is something at this place already" in capsys.readouterr().err
