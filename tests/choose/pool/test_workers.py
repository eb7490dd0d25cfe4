"""Who works on a pool cannot be told from the result: not how many, nor a cluster that loses a worker."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import ExtraMissingError, InputError, UsageError
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.select import select_pool
from sparingly.choose.pool.workers import map_in_order, open_executor
from tests.choose.pool.pool_data import some_records, write_pool
from tests.real_workers import real_workers


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def power(base: int, exponent: int) -> int:
    return int(base**exponent)


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_pieces(jobs: int) -> None:
    with open_executor(jobs) as crew:
        assert map_in_order(crew, power, range(5), 3) == [0, 1, 8, 27, 64]
        assert map_in_order(crew, power, [], 3) == []


def test_there_is_somebody_to_work() -> None:
    with pytest.raises(UsageError, match="jobs=… is 1 or more, not 0"), open_executor(0):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_worker_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    # Names from the folder that the command runs in, which is not that of the workers.
    monkeypatch.chdir(tmp_path)
    write_pool(Path("pool"), [("jsonl", some_records(150)), ("csv.gz", some_records(40, seed=1))])
    (tmp_path / "pool" / "bad.jsonl").write_text('{"id": "b", "text": "good"}\n{broken\n', encoding="utf-8")

    def slowly(texts: list[str]) -> Any:
        time.sleep(0.1)
        return np.array([len(text) for text in texts], float)

    slowly.name = "letters"  # type: ignore[attr-defined]
    options: dict[str, Any] = {"by": slowly, "near": True, "embed": "hashed", "stretch": 800, "rows": 20}
    alone = score_pool("pool", "alone", **options)
    (tmp_path / "dask").mkdir()
    with real_workers(tmp_path / "dask") as (address, workers):

        def kill_one(done: int, total: int, what: str) -> None:
            if done == 3:
                assert total > 8
                workers[0].kill()

        there = score_pool("pool", "there", cluster=address, progress=kill_one, **options)
        assert workers[0].wait() != 0, "one worker was killed"
        assert workers[1].poll() is None, "the other one did the rest"
        assert content(Path("alone")) == content(Path("there"))
        assert there.to_dict() == alone.to_dict()
        asked: dict[str, Any] = {
            "design": "pivotal",
            "spread": "embedding",
            "groups": "domain",
            "cosine": 0.9,
        }
        here = select_pool("alone", 20, **asked).selection
        assert select_pool(there, 20, cluster=address, **asked).selection.to_dict() == here.to_dict()
        assert content(Path("alone")) == content(Path("there")), "nothing is left behind"
        with pytest.raises(InputError, match=r"pool/bad\.jsonl, line 2: not JSON: \{broken"):
            score_pool("pool", "refused", cluster=address, bad="refuse")


def test_a_worker_that_cannot_take_part_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    gone = tmp_path / "only here"
    with (
        pytest.raises(UsageError, match=r"does not see .*only here: the pool and its scores must lie in a"),
        open_executor(1, "local", [tmp_path, gone]),
    ):
        pass


def test_a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("sparingly.choose.pool.workers._PATIENCE", 1)
    paths = write_pool(tmp_path, [("jsonl", some_records(5))])
    with pytest.raises(UsageError, match="No Dask scheduler answers at tcp"):
        score_pool(paths, tmp_path / "scored", cluster="tcp://127.0.0.1:9")


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    paths = write_pool(tmp_path, [("jsonl", some_records(5))])
    with pytest.raises(ExtraMissingError, match=r"sparingly\[cluster\]"):
        score_pool(paths, tmp_path / "scored", cluster="local")
