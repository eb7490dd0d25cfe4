"""``python -m benchmarks.paper``: one table or figure of a paper by its name."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import paper
from benchmarks.analyses.__main__ import ANALYSES
from benchmarks.papers.catalogue import HOMES, PaperTable
from benchmarks.papers.work import Work
from benchmarks.verdicts import REPRODUCES, reproduces


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> PaperTable:
    made = PaperTable(
        name="s9-table1",
        title="Somebody 2030, Table 1: nothing",
        sets=("demo",),
        figures=lambda work: {"runs": work.effort.random_runs, "jobs": work.jobs},
        text=lambda figures: f"| runs |\n|---|\n| {figures['runs']} |\n",
    )
    monkeypatch.setattr(paper, "names", lambda: ("s9-table1",))
    monkeypatch.setattr(paper, "paper_table", lambda name: made)
    monkeypatch.setattr(paper, "reproduces", lambda name: ("no", "nothing is here."))
    return made


def test_tables_are_listed(table: PaperTable, capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in lines[:3]] == [
        "name         reproduces",
        "s9-table1    no          Somebody 2030, Table 1: nothing",
        "                         because nothing is here.",
    ]
    assert [line.split()[0] for line in lines[3:]] == list(ANALYSES)
    assert paper.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["s9-table1"] == table.title


def test_an_analysis_is_a_name_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.main(["distances"]) == 0
    assert capsys.readouterr().out == "by overall, 28 pairs of models: median distance 0.285\n"


def test_a_table_is_printed_and_its_numbers_are_written(
    table: PaperTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["s9-table1", "--data", ".", "--effort", "quick", "--jobs", "2"]
    assert paper.main([*arguments, "--out", str(tmp_path / "numbers.json")]) == 0
    assert capsys.readouterr().out == f"{table.title}\n\n| runs |\n|---|\n| 4 |\n"
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == {"runs": 4, "jobs": 2}
    assert paper.main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": 4, "jobs": 2}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["s0-table50"], 'There is no table of a paper "s0-table50". Did you mean s0-table5'),
        (["distancs"], 'There is no table of a paper "distancs". Did you mean distances?'),
        (["s0-table7"], "s0-table7 cannot be computed: "),
        (
            ["s0-table1", "--data", "nowhere"],
            "s0-table1 wants wmt23_zhen.jsonl.gz, wmt23_ende.jsonl.gz in nowhere; missing there: "
            "all. Name the folder of the data sets with --data.",
        ),
    ],
)
def test_what_cannot_be_computed(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paper.main(arguments) == 2
    assert sentence in capsys.readouterr().err


def test_every_table_says_whether_it_reproduces() -> None:
    assert set(REPRODUCES) == set(HOMES)
    for name in HOMES:
        verdict, because = reproduces(name)
        assert verdict in ("yes", "direction", "no")
        assert because.endswith(".") == (verdict != "yes")


def test_all_tables_are_computed_once_and_dated(
    table: PaperTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["all", "--data", str(tmp_path), "--effort", "quick", "--out", str(tmp_path / "done")]
    assert paper.main([*arguments, "--minutes", "0"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "s9-table1    not yet"
    assert "0 of 1 tables are in" in out
    assert "type the same command again" in out
    assert paper.main(arguments) == 0
    first = capsys.readouterr().out
    assert re.match(r"s9-table1    20\d\d-\d\d-\d\d, 0 s, code \w{8}\n1 of 1 tables are in ", first)
    written = (tmp_path / "done" / "s9-table1.quick.md").read_text(encoding="utf-8")
    assert written.endswith("Somebody 2030, Table 1: nothing\n\n| runs |\n|---|\n| 4 |\n")
    # What is there is not computed again.
    assert paper.main([*arguments, "--minutes", "0"]) == 0
    assert capsys.readouterr().out == first
    # A name says this table alone, though other names begin like it.
    assert paper.main([*arguments, "--only", "s9-table1"]) == 0
    assert capsys.readouterr().out == first


def test_all_takes_names_and_beginnings_of_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["all", "--data", str(tmp_path), "--out", str(tmp_path), "--minutes", "0", "--only"]

    def begun(*only: str) -> list[str]:
        assert paper.main([*arguments, *only]) == 0
        return [line.split()[0] for line in capsys.readouterr().out.splitlines() if "not yet" in line]

    assert begun("s0-table1", "s2-t") == ["s0-table1", *(f"s2-table{number}" for number in range(1, 5))]
    assert begun("s0-table10") == ["s0-table10"]
    assert paper.main([*arguments, "s0-tabel1"]) == 2
    assert "Did you mean s0-table1" in capsys.readouterr().err


def test_time_counts_cells_that_were_there(
    table: PaperTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def figures(work: Work) -> dict[str, int]:
        work.reused.add(tmp_path, 7.4)
        return {"runs": 1}

    monkeypatch.setattr(paper, "paper_table", lambda name: replace(table, figures=figures))
    assert paper.main(["all", "--data", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert ", 7 s, code" in capsys.readouterr().out
