"""What one process computes at a time: some entries on one set, or on one resample of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from sparingly._version import __version__
from sparingly.bench.entry import Entry, with_metric
from sparingly.bench.part import opened_part
from sparingly.bench.replay import Cell, replay_entry
from sparingly.bench.sets import SetFile
from sparingly.bench.table import Row


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
