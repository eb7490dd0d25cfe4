"""A folder in which the demo was run, as a newcomer would."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from sparingly.data.synthetic import load_invented
from tests.journeys.command import environment, run


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``sparingly demo --out d`` was run in."""
    folder = tmp_path_factory.mktemp("journey")
    done = run("demo", "--out", "d", cwd=folder, env=environment(COLUMNS="80"))
    (folder / "shown.txt").write_text(done.stdout, encoding="utf-8")
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="session")
def _invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, data = tmp_path_factory.mktemp("invented"), load_invented()
    sparingly.save(data, folder / "data.jsonl")
    chosen = sparingly.select(data.without_labels(), "metric_var:metric=learned", "20%")
    chosen.save(folder / "selection.json")
    return folder


@pytest.fixture
def folder(_invented: Path, tmp_path: Path) -> Path:
    """An own folder with the invented set and a selection from it."""
    for name in ("data.jsonl", "selection.json"):
        (tmp_path / name).write_bytes((_invented / name).read_bytes())
    return tmp_path
