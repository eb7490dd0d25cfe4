"""roles.md says what one types for every file of the journeys, and what comes out: it is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sparingly.cli.app import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "roles.md"
_, _, TABLE = PAGE.read_text(encoding="utf-8").partition("| file | command | roles | first number |")
ROWS = [line.strip("| ").split(" | ") for line in TABLE.partition("\n\n")[0].splitlines()[2:]]


def quoted(cell: str) -> list[str]:
    """The texts between backticks."""
    return re.findall("`([^`]+)`", cell)


@pytest.mark.parametrize(("file", "line", "roles", "number"), ROWS, ids=lambda cell: quoted(cell)[-1][:30])
def test_the_table_of_first_numbers_is_true(
    shared_journeys: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    file: str,
    line: str,
    roles: str,
    number: str,
) -> None:
    for path in shared_journeys.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    (command,) = quoted(line)
    assert quoted(file)[-1] in command
    assert run(shlex.split(command)[1:]) == 0
    caught = capsys.readouterr()
    shown = " ".join(f"{caught.err} {caught.out}".split())
    for text in (*quoted(roles), *quoted(number)):
        assert text in shown


def test_every_file_of_the_journeys_has_a_row(shared_journeys: Path) -> None:
    named = {quoted(row[0])[-1] for row in ROWS}
    assert named == {path.name for path in shared_journeys.iterdir()}
