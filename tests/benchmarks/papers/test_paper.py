"""``python -m benchmarks.paper``: one table or figure of a paper by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import paper
from benchmarks.analyses.__main__ import ANALYSES
from benchmarks.papers.catalogue import PaperTable


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
    return made


def test_tables_are_listed(table: PaperTable, capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "s9-table1  Somebody 2030, Table 1: nothing"
    assert [line.split()[0] for line in lines[1:]] == list(ANALYSES)
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
        (["s0-fig5"], "s0-fig5 cannot be computed: "),
        (["s0-table1", "--data", "nowhere"], "name its folder with --data"),
    ],
)
def test_what_cannot_be_computed(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paper.main(arguments) == 2
    assert sentence in capsys.readouterr().err
