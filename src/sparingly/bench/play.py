"""Play a grid: find the cells that its table lacks, compute them in several processes, save each at once."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly._version import __version__
from sparingly.base.cluster import cluster_client
from sparingly.base.errors import InputError, SparinglyError, UsageError
from sparingly.base.progress import listening
from sparingly.bench import table as tables
from sparingly.bench.grid import GridEntry, ReplayGrid, first_share, with_metric
from sparingly.bench.replay import COMPLETED, FAILED, NOT_APPLICABLE, replay_entry
from sparingly.bench.sets import SetFile, open_cached, open_replay_data, set_files
from sparingly.bench.table import GridRow

if TYPE_CHECKING:
    import polars as pl

# How often a task is tried again when its worker is lost, and how long a cluster may take to answer.
RETRIES = 3
_PATIENCE = 30
# How many seeds one task takes: lists are quick, slow methods are not.
_SEEDS_OF_SLOW, _SEEDS, _SEEDS_OF_LISTS = 1, 5, 25
GridProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class ReplayJob:
    """An entry to be replayed with some seeds at some budgets."""

    entry: GridEntry
    seeds: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ReplayTask:
    """What one process computes at a time: jobs on one set or on one resample of it."""

    file: SetFile
    digest: str
    resample: int
    jobs: tuple[ReplayJob, ...]

    def __str__(self) -> str:
        """Return what is computed, for a line on the screen."""
        names = ", ".join(dict.fromkeys(job.entry.name for job in self.jobs))
        return f"{self.file.name}: {names}"


def run_task(task: ReplayTask) -> list[GridRow]:
    """Compute the rows of a task."""
    part = open_replay_data(task.file, task.digest, task.resample)
    shared = {
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
    rows = []
    # Seed by seed, so that entries with the same judgements find them in the cache.
    for seed in sorted({seed for job in task.jobs for seed in job.seeds}):
        for job in (job for job in task.jobs if seed in job.seeds):
            run = {**entry_columns(job.entry, part.judged.metric), "kind": job.entry.kind, "seed": seed}
            for cell in replay_entry(part, job.entry, job.shares, seed):
                values = {**vars(cell), **(cell.measures or {})}
                del values["measures"]
                numbers = {name: None if value != value else value for name, value in values.items()}
                rows.append({**shared, **run, **numbers, "peak_mb": peak_megabytes()})
    return rows


def peak_megabytes() -> float | None:
    """Return the peak memory of this process; None where the system does not say."""
    if sys.platform == "win32":
        return None
    from resource import RUSAGE_SELF, getrusage

    # Kilobytes on Linux, bytes on macOS.
    return getrusage(RUSAGE_SELF).ru_maxrss / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def entry_columns(entry: GridEntry, metric: str | None) -> GridRow:
    """Return the columns that describe an entry; without a metric, texts keep its place open."""

    def method_text(text: str) -> str:
        return text if metric is None else with_metric(text, metric)

    return {
        "entry": entry.name,
        "method": method_text(entry.method),
        "estimator": None if entry.estimator is None else method_text(entry.estimator),
        "p_values": entry.p_values,
        "rounds": entry.rounds,
        "stop": entry.stop,
    }


def run_named_task(task: ReplayTask) -> tuple[ReplayTask, list[GridRow]]:
    """Return a task with its rows."""
    return task, run_task(task)


def on_cluster(
    tasks: Iterable[ReplayTask], address: str, workers: int
) -> Iterator[tuple[ReplayTask, list[GridRow]]]:
    """Yield tasks with their rows as workers finish them; other workers take over the tasks of a lost one.

    The address is the scheduler's, such as ``tcp://10.0.0.1:8786``, or ``local`` for workers on this machine.
    """
    if not (tasks := [*tasks]):
        return
    with cluster_client(address, workers, "Playing a grid on a cluster", _PATIENCE) as client:
        from distributed import as_completed

        # Earlier tasks first, so that a worker can reuse the set that it has read.
        futures = [
            client.submit(run_named_task, task, retries=RETRIES, priority=-place, pure=False)
            for place, task in enumerate(tasks)
        ]
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
            future.release()


@dataclass(frozen=True, eq=False)
class PlayReport:
    """The rows of a grid's cells, how many it lacked, why sets cannot be replayed, and tasks not begun."""

    table: pl.DataFrame
    computed: int
    left_out: dict[str, str]
    tasks_left: int = 0

    def count(self, status: str) -> int:
        """Return how many cells have a status."""
        return int((self.table["status"] == status).sum())

    @property
    def failures(self) -> list[str]:
        """The failures, each method on each set once."""
        rows = self.table.filter(self.table["status"] == FAILED)
        cells = rows.unique(["set", "entry", "reason"], maintain_order=True).iter_rows(named=True)
        return [f"{row['entry']} on {row['set']}: {row['reason']}" for row in cells]


def play(
    grid: ReplayGrid,
    folder: Path | None,
    out: Path,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    fresh: bool = False,
    progress: GridProgress | None = None,
    until: float = inf,
) -> PlayReport:
    """Play a grid and write its table; only cells that are missing are computed.

    Args:
        grid: The sets, methods, budgets and runs.
        folder: Where the data sets are.
        out: The table, a Parquet file; what it holds beside the grid's cells stays, and so does what
            another run writes into it at the same time.
        jobs: The number of processes.
        cluster: The address of a Dask scheduler, or ``local`` for one on this machine.
        fresh: Whether all cells are computed again.
        progress: Called after each task with the number done, the total, and the task.
        until: The time, by ``time.monotonic``, after which no further task is begun.
    """
    if jobs < 1:
        raise UsageError(f"A grid is played by one process or more, not {jobs}.")
    if not out.parent.is_dir():
        raise InputError("the folder to write to does not exist", file=out, fix=f"Make {out.parent}")
    files = set_files(folder, grid.sets, grid.truths, grid.metrics, results=out)
    saved = tables.read_with_parts(out)
    grid_cells, left_out = _grid_cells(grid, files)
    open_cells = grid_cells if fresh else tables.missing_cells(grid_cells, saved)
    tasks = tasks_of(grid, files, open_cells)
    count, in_time = 0, takewhile(lambda _: time.monotonic() < until, tasks)
    # Work inside of a task is not counted on its own.
    with listening(None):
        for count, (task, rows) in enumerate(_run_tasks(in_time, jobs, cluster), start=1):
            tables.save_part(out, rows)
            if progress is not None:
                progress(count, len(tasks), str(task))
    cells = tables.frame_of(grid_cells).select(tables.CELL)
    table = tables.merge_parts(out).join(cells, on=tables.CELL, how="semi", maintain_order="left")
    return PlayReport(table, len(open_cells), left_out, len(tasks) - count)


def _grid_cells(grid: ReplayGrid, files: Sequence[SetFile]) -> tuple[list[GridRow], dict[str, str]]:
    """Return the cells of a grid, and the sets that cannot be replayed with the reason."""
    rows: list[GridRow] = []
    left_out: dict[str, str] = {}
    for file in files:
        try:
            judged = open_cached(file, file.digest())
        except SparinglyError as error:
            left_out[file.name] = str(error)
            continue
        of_set = {"set": file.name, "truth": judged.truth, "metric": judged.metric}
        of_set |= {"digest": file.digest(), "version": __version__}
        for entry in grid.entries:
            request = {**of_set, **entry_columns(entry, judged.metric)}
            shares = grid.shares_of(entry, len(judged.data))
            rows += [
                {**request, "share": share, "seed": seed, "resample": resample}
                for seed, resample in grid.runs.of_entry(entry)
                for share in shares
            ]
    return rows, left_out


def tasks_of(grid: ReplayGrid, files: Sequence[SetFile], cells: Sequence[GridRow]) -> list[ReplayTask]:
    """Return the tasks for some cells, set by set, so that a process can reuse what it has read and computed.

    On the whole set a task is one entry (or several that judge the same) with some seeds; on a resample it
    is all of its entries.
    """
    places = {entry.name: place for place, entry in enumerate(grid.entries)}
    order = {file.name: place for place, file in enumerate(files)}
    ordered = sorted(
        cells, key=lambda row: (order[row["set"]], row["resample"], places[row["entry"]], row["seed"])
    )
    tasks: list[ReplayTask] = []
    for (name, resample), group in groupby(ordered, key=lambda row: (row["set"], row["resample"])):
        file = files[order[name]]
        bundles: dict[object, list[ReplayJob]] = {}
        for job in _jobs(grid, places, list(group)):
            bundle = "resample" if resample else (job.entry.plan, job.seeds)
            bundles.setdefault(bundle, []).append(job)
        tasks += [ReplayTask(file, file.digest(), resample, tuple(jobs)) for jobs in bundles.values()]
    return tasks


def _jobs(grid: ReplayGrid, places: dict[str, int], cells: Sequence[GridRow]) -> Iterator[ReplayJob]:
    """Yield the jobs of cells sorted by entry and seed; seeds with the same budgets form one job."""
    for name, of_entry in groupby(cells, key=lambda row: str(row["entry"])):
        entry = grid.entries[places[name]]
        by_shares: dict[tuple[float, ...], list[int]] = {}
        for seed, run in groupby(of_entry, key=lambda row: int(row["seed"])):
            by_shares.setdefault(tuple(row["share"] for row in run), []).append(seed)
        size = _SEEDS_OF_SLOW if entry.slow else _SEEDS
        size = _SEEDS_OF_LISTS if entry.kind == "random" and entry.estimator is None else size
        for shares, seeds in by_shares.items():
            for start in range(0, len(seeds), size):
                yield ReplayJob(entry, tuple(seeds[start : start + size]), shares)


def _run_tasks(
    tasks: Iterable[ReplayTask], jobs: int, cluster: str | None
) -> Iterator[tuple[ReplayTask, list[GridRow]]]:
    """Yield tasks with their rows as they are finished."""
    if cluster is not None:
        yield from on_cluster(tasks, cluster, jobs)
    elif jobs == 1:
        yield from map(run_named_task, tasks)
    else:
        from joblib import Parallel, delayed, parallel_config

        # Every process has one thread: two processes of two threads each would get in each other's way.
        # The warning about a process that was replaced because it had grown is harmless.
        with parallel_config(backend="loky", inner_max_num_threads=1), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped while some jobs")
            run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
            yield from run(delayed(run_named_task)(task) for task in tasks)


# --- What is printed: the means of each method over sets, budgets and runs, and the failures ---


_MEANS = ("soft_pairwise_accuracy", "pairwise_accuracy", "kendall_b", "top1_match", "seconds")


def overview(report: PlayReport) -> list[dict[str, Any]]:
    """Return one row per entry: on how many sets it was played, and its means, every set counting the same.

    Within a set, budgets and runs count the same; the lowest budgets, which are there for parity alone, are
    left out unless only they were played. Sets that are too small to count are in it, too: they are left out
    where methods are compared with each other (see the leaderboard).
    """
    import polars as pl

    completed = report.table.filter(pl.col("status") == COMPLETED)
    # A resample has the budgets of the whole set.
    items = dict(completed.group_by("set").agg(pl.col("items").max()).iter_rows())
    if items:
        first = completed["set"].replace_strict({name: first_share(count) for name, count in items.items()})
        usual = completed.filter(completed["share"] >= first)
        completed = usual if usual.height else completed
    # Of the printed intervals, those that hold the full set's score; of significant pairs, the wrong ones.
    coverage = (pl.col("covered").sum() / pl.col("intervals").sum()).fill_nan(None)
    wrong_sign = (pl.col("wrong_sign").sum() / pl.col("significant").sum()).fill_nan(None)
    by_set = completed.group_by("entry", "set").agg(
        pl.col(_MEANS).mean(), coverage.alias("coverage"), wrong_sign.alias("wrong_sign")
    )
    means = by_set.group_by("entry").agg(
        pl.len().alias("sets"), pl.col(*_MEANS, "coverage", "wrong_sign").mean()
    )
    order = report.table.select("entry").unique(maintain_order=True)
    summary = order.join(means, on="entry", how="left").with_columns(pl.col("sets").fill_null(0))
    columns = ("soft_pairwise_accuracy", "entry")
    return summary.sort(*columns, descending=[True, False], nulls_last=True).to_dicts()


def show_overview(report: PlayReport, path: str) -> None:
    """Print the overview of a run, and where its table is."""
    from sparingly.show.terminal.console import fixed, line, notes, percent, show_table

    columns = ("method", "sets", "soft accuracy", "accuracy", "Kendall b", "best", "coverage", "wrong")
    rows = [
        (
            row["entry"],
            str(row["sets"]),
            fixed(row["soft_pairwise_accuracy"], 4),
            fixed(row["pairwise_accuracy"], 4),
            fixed(row["kendall_b"], 3),
            percent(row["top1_match"]),
            percent(row["coverage"]),
            percent(row["wrong_sign"]),
        )
        for row in overview(report)
    ]
    show_table(columns, rows, numbers=7)
    line(headline(report, path))
    notes((f"{name} is left out: {reason}" for name, reason in report.left_out.items()))


def headline(report: PlayReport, path: str) -> str:
    """Return in one line how many cells there are, and how they ended."""
    parts = [f"{report.table.height} cells, {report.computed} of them computed now"]
    for status, words in ((NOT_APPLICABLE, "not applicable"), (FAILED, "failed")):
        if count := report.count(status):
            parts.append(f"{count} {words}")
    return f"{', '.join(parts)}: {path}"
