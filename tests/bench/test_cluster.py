"""A grid on a Dask cluster of two real workers, one of which is killed in the middle."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.bench.cluster import on_cluster
from sparingly.bench.grid import Grid, grid_of
from sparingly.bench.table import MEASURED_ANEW
from sparingly.bench.work import play
from tests.journeys.command import environment

pytest.importorskip("distributed")


def grid() -> Grid:
    methods = [
        "random",
        "metric_var:metric={metric}",
        "uniform|greg",
        "waves:regressor=none",
        "residual_size",
    ]
    return grid_of(methods, sets=["demo"], budgets=["10%", "30%", "50%"], seeds=12, resamples=2)


def settled(table: pl.DataFrame) -> pl.DataFrame:
    """What two runs of the same cells must agree on."""
    return table.drop(MEASURED_ANEW).with_columns(pl.selectors.float().round(9))


def dask(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    log = (cwd / f"{arguments[0]}.log").open("ab")
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, "-m", "dask", *arguments]
    with log:
        return subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env=environment(**threads))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each a process of its own; yields the address and the workers."""
    from distributed import Client

    where = tmp_path / "scheduler.json"
    file = ("--scheduler-file", str(where))
    scheduler = dask("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1", *file, cwd=tmp_path)
    workers: list[subprocess.Popen[bytes]] = []
    try:
        deadline = time.monotonic() + 120
        while not where.exists():
            assert time.monotonic() < deadline, (tmp_path / "scheduler.log").read_text()
            time.sleep(0.05)
        how = ("--nthreads", "1", "--nworkers", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        workers += [dask("worker", *how, *file, cwd=tmp_path) for _ in range(2)]
        with Client(scheduler_file=str(where)) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(2, timeout=120)
            address = client.scheduler.address
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_worker_changes_nothing(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    wanted = play(grid(), None, tmp_path / "here.parquet", jobs=2)

    def kill_one(done: int, total: int, what: str) -> None:
        if done == 2:
            assert total > 6
            workers[0].kill()

    found = play(grid(), None, tmp_path / "there.parquet", cluster=address, progress=kill_one)
    assert workers[0].wait() != 0, "one worker was killed"
    assert workers[1].poll() is None, "the other one did the rest"
    assert found.computed == wanted.computed == wanted.table.height
    assert settled(found.table).equals(settled(wanted.table))


def test_a_local_cluster(tmp_path: Path) -> None:
    few = grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=2)
    found = play(few, None, tmp_path / "there.parquet", cluster="local", jobs=1)
    wanted = play(few, None, tmp_path / "here.parquet")
    assert settled(found.table).equals(settled(wanted.table))


def test_without_work_no_cluster_is_asked() -> None:
    assert list(on_cluster([], "tcp://127.0.0.1:1", 1)) == []


def test_a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparingly.bench.cluster._PATIENCE", 1)
    few = grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=1)
    with pytest.raises(UsageError, match="No Dask scheduler answers at tcp"):
        play(few, None, tmp_path / "table.parquet", cluster="tcp://127.0.0.1:9")


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, Any] = {"distributed": None}
    monkeypatch.setitem(sys.modules, "distributed", held["distributed"])
    few = grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=1)
    with pytest.raises(ExtraMissingError, match=r"sparingly\[cluster\]"):
        play(few, None, tmp_path / "table.parquet", cluster="local")
