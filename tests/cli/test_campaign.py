"""The campaign commands: one journey from the first round to the last, and what goes wrong on the way."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sparingly.cli.app import run
from sparingly.cli.subject import is_campaign
from sparingly.data import io as files
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import MODELS, made_set, row, true_score


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small set, and the commands run in it."""
    files.save(made_set(), tmp_path / "data.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begin(*more: str) -> None:
    line = "campaign new c.db data.jsonl -b 8 -a overall --scale 0,100 --size 4 --seed 3"
    assert run([*line.split(), *(more or ("-m", "uniform"))]) == 0


def fill(path: Path, rater: str = "ann", **changed: Any) -> None:
    """Fill in a form truthfully."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    data = made_set()
    for one in rows:
        one |= {"rater": rater, "score": str(true_score(data, one["item"], one["model"]))}
    rows[0] |= changed
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_campaign_from_its_beginning_to_its_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    assert "0 of 24" in capsys.readouterr().out
    for number in (1, 2):
        assert run(["campaign", "next", "c.db", "-o", "form.csv"]) == 0
        assert f"round {number} drawn: 4 rows, 12 answers to come" in capsys.readouterr().out
        fill(folder / "form.csv")
        assert run(["campaign", "record", "c.db", "form.csv"]) == 0
        assert "12 new, 0 corrections, 0 there already, 0 refused" in capsys.readouterr().out
    assert run(["campaign", "next", "c.db"]) == 0
    assert "finished: every chosen item was judged or assigned." in capsys.readouterr().out
    assert run(["campaign", "status", "c.db", "--json"]) == 0
    now = said(capsys)
    assert (now["sets"][0]["answers"], now["sets"][0]["outstanding"]) == (24, 0)
    assert run(["campaign", "status", "c.db", "--at", "5", "--json"]) == 0
    assert said(capsys)["sets"][0]["answers"] == 3
    assert run(["estimate", "c.db", "-e", "mean", "--json"]) == 0
    assert said(capsys)["n"] == 8
    assert run(["campaign", "export", "c.db", "answers.csv"]) == 0
    assert len(list(csv.DictReader(io.StringIO(Path("answers.csv").read_text())))) == 24
    assert run(["campaign", "export", "c.db", "judged.jsonl", "--json"]) == 0
    assert len(files.load("judged.jsonl").ratings) == 24
    capsys.readouterr()
    assert run(["verify", "c.db"]) == 0
    assert "verified: 28 entries are as they were written, and 2 rounds follow" in capsys.readouterr().out
    assert run(["campaign", "close", "c.db"]) == 0
    assert run(["campaign", "record", "c.db", "form.csv"]) == 2


def test_the_budget_of_a_running_campaign(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin("-m", "auto")
    capsys.readouterr()
    assert run(["campaign", "budget", "c.db", "10"]) == 0
    assert capsys.readouterr().out == "budget 10: campaign, at entry 2\n"
    assert run(["campaign", "status", "c.db"]) == 0
    assert "0 of 30" in capsys.readouterr().out
    assert run(["campaign", "budget", "c.db", "9999"]) == 2
    assert "9999" in capsys.readouterr().err


def test_what_the_pages_do_from_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    assert run(["campaign", "next", "c.db", "--preview"]) == 0
    assert "round 1 would ask for 12. The budget leaves 24 of 24" in capsys.readouterr().out
    assert run(["campaign", "next", "c.db", "--preview", "--json"]) == 0
    assert said(capsys)[0]["outputs"] == 12
    assert run(["campaign", "link", "c.db", "anna"]) == 0
    assert re.fullmatch(r"rater anna: .* /r/[\w-]{43}\n", capsys.readouterr().out)
    assert run(["campaign", "link", "c.db", "anna", "--retire"]) == 0
    assert capsys.readouterr().out == "revoked: 1 links of anna\n"
    assert run(["campaign", "link", "c.db", "anna", "--pages", "viewer", "--retire"]) == 2
    Path("guide.md").write_text("# How good is it?\n\n## Scale\n- 0: bad\n")
    assert run(["campaign", "guidelines", "c.db", "guide.md"]) == 0
    capsys.readouterr()
    assert run(["campaign", "guidelines", "c.db"]) == 0
    assert capsys.readouterr().out.startswith("# How good is it?")
    assert run(["campaign", "export", "c.db", "all.zip"]) == 0
    assert {"campaign/answers.csv", "campaign/events.jsonl"} <= set(zipfile.ZipFile("all.zip").namelist())


@pytest.mark.parametrize("option", [["--at", "1"], ["--data", "data"]])
def test_everything_is_exported_whole(
    folder: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    begin()
    Path("all.zip").write_bytes(b"earlier")
    assert run(["campaign", "export", "c.db", "all.zip", *option]) == 2
    assert "leave out --data and --at" in capsys.readouterr().err
    # Written beside it and renamed: whoever reads the earlier file goes on reading it.
    with Path("all.zip").open("rb") as earlier:
        assert run(["campaign", "export", "c.db", "all.zip"]) == 0
        assert earlier.read() == b"earlier"
    assert zipfile.is_zipfile("all.zip")


def test_a_reviewer_decides_in_a_file(folder: Path) -> None:
    begin()
    run(["campaign", "next", "c.db", "-o", "form.csv"])
    rows = list(csv.DictReader(io.StringIO(Path("form.csv").read_text())))
    answers = [
        {"rater": rater, "item": rows[0]["item"], "model": rows[0]["model"], "score": score}
        for rater, score in (("ann", 10), ("ben", 90), ("reviewer: tom", 60))
    ]
    Path("three.jsonl").write_text("\n".join(map(json.dumps, answers)))
    assert run(["campaign", "record", "c.db", "three.jsonl"]) == 0
    with Campaign("c.db") as campaign:
        assert campaign.data().ratings.score.tolist() == [60]
        # Of another output one person has said something, or two nearly the same: there is nothing to decide.
        one, two = campaign.questions()[:2]
        rows = [row(one, 67.5), row(one, 1.0, "reviewer: tom"), row(two, 40), row(two, 60, "ben")]
        campaign.record([*rows, row(two, 90, "reviewer: tom")])
        assert sorted(campaign.data().ratings.score) == [1, 40, 60, 60, 67.5, 90]
        campaign.record([row(two, 70, "ben")])
        campaign.record([row(two, 80, "reviewer: tom")])
        assert sorted(campaign.data().ratings.score) == [1, 60, 67.5, 80]
        campaign.withdraw_rater("ben")
        campaign.record([row(two, 85, "reviewer: tom"), row(one, 2, "reviewer: eva")])
        assert 67.5 in campaign.data().ratings.score


def test_answers_are_acknowledged_one_by_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    run(["campaign", "next", "c.db", "-o", "form.csv"])
    fill(folder / "form.csv", score="101")
    capsys.readouterr()
    assert run(["campaign", "record", "c.db", "form.csv", "--json", "--batch", "1"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["what"] for one in lines] == ["refused", *["new"] * 11]
    assert lines[0]["sentence"].endswith("is outside the scale of overall, 0 to 100.")
    assert [one["seq"] for one in lines[1:]] == list(range(3, 14))
    assert run(["campaign", "record", "c.db", "form.csv", "--on-error", "rollback"]) == 2
    assert "Nothing was recorded, because of one answer: " in capsys.readouterr().err


def test_several_data_sets_and_models_that_come_and_go(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.save(made_set(20, prefix="other"), folder / "more.jsonl")
    line = "campaign new c.db de=data.jsonl uk=more.jsonl -m uniform -b 16 -a overall --size 4"
    assert run(line.split()) == 0
    assert run(["campaign", "next", "c.db", "--data", "de", "-o", "form.csv"]) == 0
    fill(folder / "form.csv")
    assert run(["campaign", "record", "c.db", "form.csv"]) == 0
    files.save(made_set(models=(*MODELS, "Dogwood")), folder / "late.jsonl")
    assert run(["campaign", "add-models", "c.db", "late.jsonl", "--data", "de"]) == 0
    assert run(["campaign", "withdraw", "c.db", "Ash", "--data", "de"]) == 0
    capsys.readouterr()
    assert run(["campaign", "status", "c.db"]) == 0
    shown = capsys.readouterr().out
    assert "de: added later: Dogwood." in shown
    assert "de: withdrawn: Ash." in shown
    assert run(["estimate", "c.db", "--data", "de", "-e", "mean"]) == 0
    assert "Dogwood" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("campaign status no.db", "no.db: there is no such campaign."),
        ("campaign status data.jsonl", "data.jsonl: this is not a campaign."),
        ("campaign new d.db a b -m uniform -b 3", 'Several data sets are written NAME=FILE, and "a" is not.'),
        (
            "campaign new c.db data.jsonl -m uniform -b 3 -a overall",
            'There is a campaign "campaign" in c.db already.',
        ),
        (
            "campaign new mysql://host/d data.jsonl -m uniform -b 3 -a overall",
            "There are no campaigns in mysql",
        ),
        ("campaign status c.db --at 9", "There is no entry 9 in the journal: it goes from 1 to 1."),
        ("campaign status c.db --name other", 'There is no campaign "other".'),
        (
            "campaign next c.db -o form.txt",
            'The extension ".txt" of form.txt is none of .csv, .tsv and .jsonl.',
        ),
        ("campaign record c.db data.jsonl --batch 0", "A batch is at least one answer, not 0."),
        (
            "campaign export c.db out.xyz",
            'The extension ".xyz" of out.xyz is not of a format that can be written.',
        ),
    ],
)
def test_an_error_is_one_line(
    folder: Path, arguments: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begin()
    capsys.readouterr()
    assert run(arguments.split()) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert sentence in complaint


def test_what_is_a_campaign(folder: Path) -> None:
    begin()
    assert is_campaign("c.db")
    assert is_campaign("postgresql+psycopg://somebody@host/name")
    assert not is_campaign("data.jsonl")
    assert not is_campaign("nothing")


def test_answers_come_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin()
    assert run(["campaign", "next", "c.db", "-o", "form.csv"]) == 0
    fill(folder / "form.csv")
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "form.csv").read_text(encoding="utf-8")))
    capsys.readouterr()
    assert run(["campaign", "record", "c.db", "-"]) == 0
    assert "12 new" in capsys.readouterr().out


def test_a_campaign_of_pairs_prints_strengths(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "campaign new p.db data.jsonl -m d_optimal -b 30 -a overall --seed 3"
    assert run(line.split()) == 0
    data, values = made_set(), {"first": 1.0, "second": -1.0}
    for _ in range(9):
        assert run(["campaign", "next", "p.db", "-o", "pairs.csv"]) == 0
        with (folder / "pairs.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for one in rows:
            better = max(values, key=lambda side: true_score(data, one["item"], one[side]))
            one |= {"rater": "ann", "score": values[better]}
        lines = [{name: one[name] for name in ("item", "first", "second", "rater", "score")} for one in rows]
        (folder / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
        assert run(["campaign", "record", "p.db", "a.jsonl"]) == 0
    capsys.readouterr()
    assert run(["estimate", "p.db"]) == 0
    assert "the strongest of 3 models, from 30 comparisons." in capsys.readouterr().out
    assert run(["estimate", "p.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"] == 30
    assert run(["estimate", "p.db", "--estimator", "mean"]) == 2
    assert "strengths, which have no estimator: leave out --estimator." in capsys.readouterr().err
    assert run(["estimate", "p.db", "--format", "latex"]) == 2
    assert "with --json" in capsys.readouterr().err
