"""The table in docs/reference/logs.md: every kind of log gives the roles and first number named."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from sparingly.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "tests" / "data" / "io" / "logs"


def table_rows() -> list[list[str]]:
    """The rows of the table: the log, its command, its roles and the first number."""
    section = (
        (ROOT / "docs" / "reference" / "logs.md")
        .read_text(encoding="utf-8")
        .partition("## The first number")[2]
    )
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("row", table_rows(), ids=lambda row: row[0])
def test_a_row_of_the_table(
    row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, command, roles, number = row
    shutil.copytree(LOGS, tmp_path, dirs_exist_ok=True)
    with sqlite3.connect(tmp_path / "mlflow.db") as store:
        store.executescript((LOGS / "mlflow.sql").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    words = command.strip("`").split()[1:]
    assert run(words) == 0
    assert number in capsys.readouterr().out
    assert run(["info", *(word for word in words[1:] if (tmp_path / word).exists())]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for role in roles.split("`, `"):
        assert role.strip("`").replace(" → ", " ") in out
