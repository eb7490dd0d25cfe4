"""Plays a grid: finds out which cells are missing, computes them on several processes, keeps what is done."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly._version import __version__
from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.bench import table as tables
from sparingly.bench.entry import Entry
from sparingly.bench.grid import Grid
from sparingly.bench.part import opened
from sparingly.bench.replay import FAILED
from sparingly.bench.sets import Judged, SetFile, set_files
from sparingly.bench.table import Row
from sparingly.bench.task import Job, Task, asked_of, finished

if TYPE_CHECKING:
    import polars as pl

# How many seeds one task takes: lists are quick, the rest is not.
_SEEDS, _SEEDS_OF_LISTS = 5, 25
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Report:
    """How a grid was played.

    Attributes:
        table: The rows of the grid's cells.
        computed: How many of them were computed now.
        left_out: Sets that cannot be replayed, and why.
    """

    table: pl.DataFrame
    computed: int
    left_out: dict[str, str]

    def count(self, status: str) -> int:
        """Return how many cells have a status."""
        return int((self.table["status"] == status).sum())

    @property
    def failures(self) -> list[str]:
        """What failed, each method on each set once."""
        rows = self.table.filter(self.table["status"] == FAILED)
        found = rows.unique(["set", "entry", "reason"], maintain_order=True).iter_rows(named=True)
        return [f"{row['entry']} on {row['set']}: {row['reason']}" for row in found]


def play(
    grid: Grid,
    folder: Path | None,
    out: Path,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Play a grid and write its table; only cells that are missing are computed.

    Args:
        grid: The sets, methods, budgets and runs.
        folder: Where the data sets are.
        out: The table, a Parquet file; what it holds beside the grid's cells stays, and so does what
            another run writes into it at the same time.
        jobs: The number of processes.
        cluster: The address of a Dask scheduler, or ``local`` for one on this machine.
        fresh: Whether all cells are computed again.
        progress: Told after each task how many are done, of how many, and what comes next.
    """
    if jobs < 1:
        raise UsageError(f"A grid is played by one process or more, not {jobs}.")
    if not out.parent.is_dir():
        raise InputError("the folder to write to does not exist", file=out, fix=f"Make {out.parent}")
    files = set_files(folder, grid.sets, grid.truths, grid.metrics)
    known = tables.with_parts(out)
    wanted, left_out = _wanted(grid, files)
    open_cells = wanted if fresh else tables.missing(wanted, known)
    tasks = tasks_of(grid, files, open_cells)
    for done, (task, rows) in enumerate(_computed(tasks, jobs, cluster), start=1):
        tables.keep_part(out, rows)
        if progress is not None:
            progress(done, len(tasks), str(task))
    whole = tables.put_together(out)
    cells = tables.frame_of(wanted).select(tables.CELL)
    return Report(
        whole.join(cells, on=tables.CELL, how="semi", maintain_order="left"), len(open_cells), left_out
    )


def _wanted(grid: Grid, files: Sequence[SetFile]) -> tuple[list[Row], dict[str, str]]:
    """Return the cells of a grid with what is asked of each, and the sets that cannot be replayed."""
    rows: list[Row] = []
    left_out: dict[str, str] = {}
    for file in files:
        try:
            judged = opened(file, file.digest())
        except SparinglyError as error:
            left_out[file.name] = str(error)
            continue
        rows += _cells_of(grid, file, judged)
    return rows, left_out


def _cells_of(grid: Grid, file: SetFile, judged: Judged) -> Iterator[Row]:
    shared = {"set": file.name, "truth": judged.truth, "metric": judged.metric}
    stamp = {"digest": file.digest(), "version": __version__}
    for entry in grid.entries:
        asked = {**shared, **asked_of(entry, judged.metric), **stamp}
        for seed, resample in grid.runs.of(entry):
            for share in grid.shares_of(entry, len(judged.data)):
                yield {**asked, "share": share, "seed": seed, "resample": resample}


def tasks_of(grid: Grid, files: Sequence[SetFile], cells: Sequence[Row]) -> list[Task]:
    """Return the work for some cells, set by set, so that a process keeps what it has read and computed.

    On the whole set a task is one entry (or several that judge the same) with some seeds; on a resample it
    is all of its entries.
    """
    places = {entry.name: place for place, entry in enumerate(grid.entries)}
    order = {file.name: place for place, file in enumerate(files)}
    ordered = sorted(
        cells, key=lambda row: (order[row["set"]], row["resample"], places[row["entry"]], row["seed"])
    )
    tasks: list[Task] = []
    for (name, resample), group in groupby(ordered, key=lambda row: (row["set"], row["resample"])):
        file = files[order[name]]
        jobs = tuple(_jobs(grid, places, list(group)))
        bundles = (jobs,) if resample else _bundles(jobs)
        tasks += [Task(file, file.digest(), resample, bundle) for bundle in bundles]
    return tasks


def _bundles(jobs: Iterable[Job]) -> Iterable[tuple[Job, ...]]:
    """Return jobs that judge the same, and so share the work, together."""
    found: dict[tuple[Entry, tuple[int, ...]], list[Job]] = {}
    for job in jobs:
        found.setdefault((job.entry.plan, job.seeds), []).append(job)
    return map(tuple, found.values())


def _jobs(grid: Grid, places: dict[str, int], cells: Sequence[Row]) -> Iterator[Job]:
    """Yield the jobs of cells that are sorted by entry and seed; seeds at the same budgets go together."""
    for name, of_entry in groupby(cells, key=lambda row: str(row["entry"])):
        entry = grid.entries[places[name]]
        by_shares: dict[tuple[float, ...], list[int]] = {}
        for seed, run in groupby(of_entry, key=lambda row: int(row["seed"])):
            by_shares.setdefault(tuple(row["share"] for row in run), []).append(seed)
        size = _SEEDS_OF_LISTS if entry.kind == "random" and entry.estimator is None else _SEEDS
        for shares, seeds in by_shares.items():
            for start in range(0, len(seeds), size):
                yield Job(entry, tuple(seeds[start : start + size]), shares)


def _computed(tasks: Sequence[Task], jobs: int, cluster: str | None) -> Iterator[tuple[Task, list[Row]]]:
    """Yield tasks with their rows as they are finished."""
    if cluster is not None:
        from sparingly.bench.cluster import on_cluster

        yield from on_cluster(tasks, cluster, jobs)
    elif jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield finished(task)
    else:
        from joblib import Parallel, delayed, parallel_config

        # Every process has one thread: two processes of two threads each would get in each other's way.
        # A process that has grown is replaced by a new one, which is nothing to worry about.
        with parallel_config(backend="loky", inner_max_num_threads=1), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped while some jobs")
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
                delayed(finished)(task) for task in tasks
            )
