"""``sparingly bench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import polars as pl
import pytest

from sparingly.choose import KMeans
from sparingly.cli.app import run

FEW = ["--sets", "demo", "--budgets", "10%,30%", "--seeds", "2", "--resamples", "1"]
METHODS = ["--methods", "random; uniform|weighted_mean; metric_var:metric={metric}"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # As in a pipe, whatever the width of the terminal that the tests run in.
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def test_a_grid_from_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *FEW, *METHODS, "--out", "table.parquet"]) == 0
    printed = capsys.readouterr()
    assert "12 cells, 12 of them computed now: table.parquet" in printed.out
    assert "uniform|weighted_mean" in printed.out
    assert printed.err == "", "there is no progress in a pipe"
    table = pl.read_parquet(folder / "table.parquet")
    assert table.height == 12
    assert run(["bench", *FEW, *METHODS, "--out", "table.parquet"]) == 0
    assert "12 cells, 0 of them computed now" in capsys.readouterr().out


def test_a_grid_from_a_file_with_fewer_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "grid.toml").write_text('sets = ["demo"]\n[[entry]]\nmethod = "random"\n', encoding="utf-8")
    arguments = ["bench", "grid.toml", "-o", "table.parquet", "--seeds", "3", "--budgets", "20%", "--json"]
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cells"], found["computed"]) == (3, 3)
    assert found["statuses"] == {"done": 3, "not_applicable": 0, "failed": 0}
    assert found["entries"][0]["entry"] == "random"


def test_a_failure_is_told_and_the_exit_code_is_one(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(*given: object) -> NoReturn:
        raise ZeroDivisionError("nothing is left")

    monkeypatch.setattr(KMeans, "choose", choose)
    assert run(["bench", *FEW, "--methods", "random;kmeans", "-o", "table.parquet"]) == 1
    printed = capsys.readouterr()
    assert "4 failed: table.parquet" in printed.out
    assert printed.err == "sparingly: 1 method failed: kmeans on demo: ZeroDivisionError: nothing is left\n"
    assert (folder / "table.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*FEW, *METHODS], "Say where the table goes"),
        (["grid.toml", *METHODS, "-o", "t.parquet"], "not both"),
        (["grid.toml", "-o", "t.parquet"], "grid.toml: there is no such file"),
        (["--methods", "random", "-o", "t.parquet"], "--folder"),
        (["--methods", "randum", "--sets", "demo", "-o", "t.parquet"], "Did you mean random"),
        (["--methods", "random", "--sets", "demo", "-o", "no/t.parquet"], "does not exist"),
        (["--methods", "random", "--sets", "demo", "--budgets", "10", "-o", "t"], "a share of the items"),
    ],
)
def test_wrong_use(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *arguments]) == 2
    assert sentence in capsys.readouterr().err
