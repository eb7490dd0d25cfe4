"""A small set that lies in a folder as the public ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from benchmarks.papers.work import Effort, Setting, Work
from sparingly.data.synthetic import load_invented

SMALL = Setting("small", "overall", "learned", "a small set", shares=(0.1, 0.25, 0.5))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    demo = load_invented()
    sparingly.save(demo.at(range(0, len(demo), 6)), folder / "small.jsonl.gz")
    return folder


@pytest.fixture
def work(folder: Path, tmp_path: Path) -> Work:
    return Work(folder, tmp_path / "kept", Effort(random_runs=3, seeds=2, parity_runs=2))


@pytest.fixture
def setting() -> Setting:
    return SMALL
