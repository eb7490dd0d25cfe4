"""What can happen to the files and processes of a pool: pipes, other files, full disks, killed processes."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UsageError
from sparingly.choose.pool.records import pool_files
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.select import select_pool
from tests.choose.pool.pool_data import some_records, write_pool


class Killing:
    """A scorer whose process is killed, the first time only or every time."""

    name = "killing"

    def __init__(self, marker: Path, always: bool) -> None:
        self.marker, self.always = marker, always

    def __call__(self, texts: list[str]) -> Any:
        if self.always or not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([len(text) for text in texts], float)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match="a pipe or a device, not a file"):
        pool_files(tmp_path / "pipe.jsonl")


def test_what_else_lies_in_a_folder_is_told(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path / "pool", [("jsonl", some_records(5))])
    os.mkfifo(tmp_path / "pool" / "pipe.jsonl")
    (tmp_path / "pool" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "pool" / "notes.md").write_text("no pool", encoding="utf-8")
    (tmp_path / "pool" / "folder.jsonl").mkdir()
    names = ("gone.jsonl", "notes.md", "pipe.jsonl")
    assert pool_files(tmp_path / "pool") == ([path], [tmp_path / "pool" / name for name in names])
    score_pool(tmp_path / "pool", tmp_path / "scored")
    pool = ScoredPool.load(tmp_path / "scored")
    assert (pool.tally.read, pool.other_files) == (5, 3)
    assert [Path(name).name for name in pool.other_examples] == list(names)


def test_a_file_is_no_folder_for_scores(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, [("jsonl", some_records(5))])
    with pytest.raises(InputError, match="the scores need a folder"):
        score_pool(path, path)


def test_a_full_disk_is_one_sentence_and_work_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = write_pool(tmp_path, [("jsonl", some_records(30))])
    synced, left = os.fsync, [3]

    def full(handle: int) -> None:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        synced(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written \\(No space left on device\\)"):
        score_pool(path, tmp_path / "scored", rows=10)
    # The first part is whole, of the second only the table was written.
    assert sorted(file.suffix for file in (tmp_path / "scored").iterdir()) == [
        ".json",
        ".parquet",
        ".parquet",
    ]
    monkeypatch.undo()
    pool = score_pool(path, tmp_path / "scored", rows=10)
    fresh = score_pool(path, tmp_path / "fresh", rows=10)
    assert pool.to_dict() == fresh.to_dict()


def test_a_killed_process_costs_its_pieces_alone(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(40)), ("csv", some_records(40, seed=1))])
    by = Killing(tmp_path / "killed", always=False)
    pool = score_pool(paths, tmp_path / "scored", by=by, jobs=2, stretch=500)
    assert by.marker.exists()
    assert (pool.tally.read, pool.tally.good) == (80, 80)
    again = score_pool(paths, tmp_path / "alone", by=by, stretch=500)
    assert again.to_dict() == pool.to_dict()
    assert select_pool(pool, 9, design="pivotal").rows == select_pool(again, 9, design="pivotal").rows


def test_processes_that_are_always_killed_are_not_started_for_ever(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(10))])
    with pytest.raises(UsageError, match="Processes were killed 3 times"):
        score_pool(paths, tmp_path / "scored", by=Killing(tmp_path / "killed", always=True), jobs=2)


def test_a_file_that_has_grown_is_read_again(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, [("jsonl", some_records(5))])
    assert score_pool(path, tmp_path / "scored").tally.good == 5
    with path.open("ab") as file:
        file.write(b'{"id": "half')
    pool = score_pool(path, tmp_path / "scored")
    assert (pool.tally.read, pool.tally.good, dict(pool.tally.bad)) == (6, 5, {"broken": 1})
