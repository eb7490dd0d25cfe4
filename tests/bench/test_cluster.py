"""A grid on a Dask cluster of two real workers, one of which is killed in the middle."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.bench.grid import ReplayGrid, grid_of
from sparingly.bench.play import on_cluster, play
from sparingly.bench.table import MEASURED_ANEW
from tests.real_workers import Process, real_workers

pytest.importorskip("distributed")


def grid() -> ReplayGrid:
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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[Process]]]:
    """A scheduler and two workers, each a process of its own; yields the address and the workers."""
    with real_workers(tmp_path) as found:
        yield found


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_worker_changes_nothing(cluster: tuple[str, list[Process]], tmp_path: Path) -> None:
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
    monkeypatch.setattr("sparingly.bench.play._PATIENCE", 1)
    few = grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=1)
    with pytest.raises(UsageError, match="No Dask scheduler answers at tcp"):
        play(few, None, tmp_path / "table.parquet", cluster="tcp://127.0.0.1:9")


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, Any] = {"distributed": None}
    monkeypatch.setitem(sys.modules, "distributed", held["distributed"])
    few = grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=1)
    with pytest.raises(ExtraMissingError, match=r"sparingly\[cluster\]"):
        play(few, None, tmp_path / "table.parquet", cluster="local")
