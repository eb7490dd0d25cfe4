"""Play a grid: find the cells that its table lacks, compute them in several processes, save each at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly._version import __version__
from sparingly.base.cluster import cluster_client
from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.bench import table as tables
from sparingly.bench.grid import Entry, Grid, with_metric
from sparingly.bench.replay import FAILED, Cell, replay_entry
from sparingly.bench.sets import Judged, SetFile, opened, opened_part, set_files
from sparingly.bench.table import Row

if TYPE_CHECKING:
    import polars as pl

# --- what one process computes at a time -----------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """An entry to be replayed with some seeds at some budgets."""

    entry: Entry
    seeds: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """What one process computes at a time: jobs on one set, or on one resample of it."""

    file: SetFile
    digest: str
    resample: int
    jobs: tuple[Job, ...]

    def __str__(self) -> str:
        """Return what is computed, for a line on the screen."""
        names = ", ".join(dict.fromkeys(job.entry.name for job in self.jobs))
        return f"{self.file.name}: {names}"


def run_task(task: Task) -> list[Row]:
    """Compute the rows of a task."""
    part = opened_part(task.file, task.digest, task.resample)
    about = {
        "set": task.file.name,
        "family": task.file.family,
        "truth": part.truth,
        "metric": part.judged.metric,
        "strong": task.file.strong,
        "counts": part.judged.counts,
        "items": len(part.data),
        "models": len(part.data.models),
        "resample": task.resample,
        "digest": task.digest,
        "version": __version__,
    }
    return [
        {
            **about,
            **asked_of(job.entry, part.judged.metric),
            "kind": job.entry.kind,
            "seed": seed,
            **_row(cell),
        }
        # Seed by seed, so that entries that judge the same find what was judged.
        for seed in sorted({seed for job in task.jobs for seed in job.seeds})
        for job in task.jobs
        if seed in job.seeds
        for cell in replay_entry(part, job.entry, job.shares, seed)
    ]


def _row(cell: Cell) -> Row:
    values = {name: value for name, value in vars(cell).items() if name != "measures"}
    measures = {name: None if value != value else value for name, value in (cell.measures or {}).items()}
    return {**values, **measures, "peak_mb": peak_megabytes()}


def peak_megabytes() -> float | None:
    """Return the most memory that this process has held so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    from resource import RUSAGE_SELF, getrusage

    # Kilobytes on Linux, bytes on macOS.
    return getrusage(RUSAGE_SELF).ru_maxrss / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def asked_of(entry: Entry, metric: str | None) -> Row:
    """Return what a row says of its entry."""
    return {
        "entry": entry.name,
        "method": _text(entry.method, metric),
        "estimator": None if entry.estimator is None else _text(entry.estimator, metric),
        "p_values": entry.p_values,
        "rounds": entry.rounds,
        "stop": entry.stop,
    }


def _text(text: str, metric: str | None) -> str:
    """Return a text with the metric, or as it is where the set has none."""
    return text if metric is None else with_metric(text, metric)


def finished(task: Task) -> tuple[Task, list[Row]]:
    """Compute a task, and say which one it was."""
    return task, run_task(task)


# --- the same tasks on a Dask cluster: any number of machines that see the same data folder --------------


# How often a task is tried again when its worker is lost.
RETRIES = 3
_PATIENCE = 30


def on_cluster(tasks: Sequence[Task], address: str, workers: int) -> Iterator[tuple[Task, list[Row]]]:
    """Yield tasks with their rows as workers finish them; what a lost worker had is done by the others.

    Args:
        tasks: What is to be computed.
        address: Of the scheduler, such as ``tcp://10.0.0.1:8786``, or ``local`` for workers on this machine.
        workers: How many local workers.
    """
    if not tasks:
        return
    with cluster_client(address, workers, "Playing a grid on a cluster", _PATIENCE) as client:
        from distributed import as_completed

        # The earlier tasks first, so that a worker keeps the set that it has read.
        futures = [
            client.submit(finished, task, retries=RETRIES, priority=-place, pure=False)
            for place, task in enumerate(tasks)
        ]
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
            future.release()


# --- the grid --------------------------------------------------------------------------------------------


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
