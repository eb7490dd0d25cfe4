"""A folder in which the demo was run, as a newcomer would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.command import run


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``sparingly demo --out d`` was run in."""
    folder = tmp_path_factory.mktemp("journey")
    done = run("demo", "--out", "d", cwd=folder)
    (folder / "shown.txt").write_text(done.stdout, encoding="utf-8")
    assert done.stderr == ""
    return folder


@pytest.fixture
def folder(demo_folder: Path, tmp_path: Path) -> Path:
    """An own folder with the demo's data and selection."""
    for name in ("data.jsonl", "selection.json"):
        (tmp_path / name).write_bytes((demo_folder / "d" / name).read_bytes())
    return tmp_path
