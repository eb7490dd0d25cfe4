from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.bench import play as playing
from sparingly.bench.grid import ReplayGrid, grid_of
from sparingly.bench.play import ReplayTask, peak_megabytes, play, run_task, tasks_of
from sparingly.bench.sets import set_files
from sparingly.bench.table import MEASURED_ANEW, parts_folder, read_table
from sparingly.choose import KMeans
from tests.journeys.command import SCRIPT

METHODS = ("random", "metric_var:metric={metric}", "uniform|weighted_mean", "documents", "residual_size")


def small(**more: Any) -> ReplayGrid:
    how: dict[str, Any] = {"sets": ["demo"], "budgets": ["10%", "30%"], "seeds": 3, "resamples": 2}
    return grid_of(METHODS, **{**how, **more})


def settled(table: pl.DataFrame) -> pl.DataFrame:
    """What two runs of the same cells must agree on."""
    return table.drop(MEASURED_ANEW).with_columns(pl.selectors.float().round(9))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return play(small(), None, tmp_path_factory.mktemp("whole") / "table.parquet").table


# --- the table -------------------------------------------------------------------------------------------


def test_every_cell_has_one_row(whole: pl.DataFrame) -> None:
    # Three draws with three seeds, and two lists on the whole set and two resamples, at two budgets.
    assert whole.height == 2 * (3 * 3 + 2 * 3)
    assert whole.select("entry", "share", "seed", "resample").is_unique().all()
    done = whole.filter(pl.col("status") == "done")
    assert done.height == whole.height - 6
    assert done["signature"].null_count() == 0
    assert done["seconds"].min() is not None
    assert done["soft_pairwise_accuracy"].is_between(0.0, 1.0).all()
    assert whole["peak_mb"].null_count() == (whole.height if sys.platform == "win32" else 0)


def test_rows_say_what_they_are_about(whole: pl.DataFrame) -> None:
    one = whole.filter((pl.col("entry") == "metric_var") & (pl.col("resample") == 1)).row(0, named=True)
    assert one["method"] == "metric_var:metric=chrF"
    assert (one["set"], one["family"], one["truth"], one["metric"]) == ("demo", "demo", "mqm", "chrF")
    assert (one["items"], one["models"], one["kind"]) == (156, 6, "deterministic")
    assert one["counts"] is True
    assert one["strong"] is False
    lost = whole.filter(pl.col("entry") == "residual_size").row(0, named=True)
    assert lost["status"] == "not_applicable"
    assert lost["reason"]


def test_processes_give_the_same_table(whole: pl.DataFrame, tmp_path: Path) -> None:
    report = play(small(), None, tmp_path / "table.parquet", jobs=2)
    assert settled(report.table).equals(settled(whole))


# --- resuming --------------------------------------------------------------------------------------------


def test_nothing_is_begun_after_the_time_that_was_given(
    whole: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, clock = tmp_path / "table.parquet", iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    first = play(small(), None, out, until=1.5)
    assert 0 < first.table.height < whole.height
    assert first.tasks_left > 0
    assert read_table(out).height == first.table.height
    rest = play(small(), None, out)
    assert rest.tasks_left == 0
    assert settled(rest.table).equals(settled(whole))


def test_only_missing_cells_are_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "table.parquet"
    first = play(small(), None, out)
    assert first.computed == first.table.height
    seen: list[str] = []
    again = play(small(seeds=4), None, out, progress=lambda done, total, what: seen.append(what))
    # Three methods that draw have one seed more, at two budgets.
    assert again.computed == 3 * 2
    assert len(seen) == 3
    assert play(small(seeds=4), None, out).computed == 0
    assert play(small(seeds=4), None, out, fresh=True).computed == again.table.height
    monkeypatch.setattr(playing, "__version__", "99.0")
    assert play(small(), None, out).computed == first.table.height


def test_a_changed_file_is_computed_again(tmp_path: Path) -> None:
    data, out = tmp_path / "talks.jsonl", tmp_path / "table.parquet"
    grid = grid_of(["random"], budgets=["10%"], seeds=2)
    sparingly.save(sparingly.make_evalset(items=80, aspects=("mqm",)), data)
    assert play(grid, tmp_path, out).computed == 2
    assert play(grid, tmp_path, out).computed == 0
    sparingly.save(sparingly.make_evalset(items=90, aspects=("mqm",)), data)
    report = play(grid, tmp_path, out)
    assert report.computed == 2
    assert report.table["items"].to_list() == [90, 90]
    assert read_table(out).height == 2


def test_other_cells_of_the_table_stay(tmp_path: Path) -> None:
    out = tmp_path / "table.parquet"
    play(grid_of(["random"], sets=["demo"], budgets=["10%"], seeds=2), None, out)
    report = play(grid_of(["uniform"], sets=["demo"], budgets=["10%"], seeds=2), None, out)
    assert report.table["entry"].unique().to_list() == ["uniform"]
    assert sorted(read_table(out)["entry"].unique().to_list()) == ["random", "uniform"]


def test_an_interruption_loses_only_what_was_being_computed(
    whole: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "table.parquet"

    def stop(done: int, total: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(small(), None, out, progress=stop)
    assert not out.exists()
    assert len(list(parts_folder(out).glob("*.parquet"))) == 2
    report = play(small(), None, out)
    assert 0 < report.computed < report.table.height
    assert settled(report.table).equals(settled(whole))
    assert not parts_folder(out).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_goes_on_where_it_was(whole: pl.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "table.parquet"
    command = ["bench", "--sets", "demo", "--methods", ";".join(METHODS), "--budgets", "10%,30%"]
    command += ["--seeds", "3", "--resamples", "2", "--out", str(out)]
    running = subprocess.Popen([str(SCRIPT), *command])
    deadline = time.monotonic() + 120
    while not list(parts_folder(out).glob("*.parquet")) and running.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    report = play(small(), None, out)
    assert report.computed < report.table.height
    assert settled(report.table).equals(settled(whole))


# --- what goes wrong -------------------------------------------------------------------------------------


def test_a_set_that_cannot_be_replayed_is_left_out(tmp_path: Path) -> None:
    sparingly.save(sparingly.make_evalset(items=80), tmp_path / "talks.jsonl")
    report = play(
        grid_of(["random"], sets=["talks", "demo"], budgets=["10%"], seeds=1),
        tmp_path,
        tmp_path / "t.parquet",
    )
    assert list(report.left_out) == ["talks"]
    assert "Name the truth of talks" in report.left_out["talks"]
    assert report.table["set"].to_list() == ["demo"]


def test_failures_are_told_once_for_each_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(*given: object) -> NoReturn:
        raise ZeroDivisionError("nothing is left")

    monkeypatch.setattr(KMeans, "choose", choose)
    grid = grid_of(["kmeans"], sets=["demo"], budgets=["10%"], seeds=2)
    report = play(grid, None, tmp_path / "table.parquet")
    assert report.failures == ["kmeans on demo: ZeroDivisionError: nothing is left"]
    assert report.count("failed") == 2
    assert play(grid, None, tmp_path / "table.parquet").computed == 2, "what failed is tried again"


def test_jobs_must_be_one_or_more(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one process or more"):
        play(small(), None, tmp_path / "table.parquet", jobs=0)


# --- tasks -----------------------------------------------------------------------------------------------


def test_tasks_keep_a_set_together_and_share_what_is_judged() -> None:
    grid = grid_of(
        ["random", "metric_var:metric={metric}", "metric_avg:metric={metric}"],
        sets=["demo"],
        budgets=["10%"],
        seeds=30,
        resamples=1,
    )
    files = set_files(None, ["demo"])
    cells, _ = playing._grid_cells(grid, files)
    tasks = tasks_of(grid, files, cells)
    assert [(task.resample, len(task.jobs)) for task in tasks] == [(0, 1)] * 4 + [(1, 2)]
    assert [len(task.jobs[0].seeds) for task in tasks] == [25, 5, 1, 1, 1]
    assert str(tasks[-1]) == "demo: metric_var, metric_avg"
    assert isinstance(tasks[0], ReplayTask)
    assert {row["entry"] for row in run_task(tasks[-1])} == {"metric_var", "metric_avg"}


def test_memory_is_that_of_the_process() -> None:
    found = peak_megabytes()
    assert found is None if sys.platform == "win32" else found is not None and found > 20
