"""The executors of work on a pool: this process, several of them, or the workers of a Dask cluster.

Work comes in pieces (ranges of files, parts) that are independent of each other, and every piece writes its
own files whole or not at all. So a lost worker costs only the pieces it had in hand, which others do again,
and the result does not depend on who did what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from sparingly._version import __version__
from sparingly.base.cluster import cluster_client
from sparingly.base.errors import UsageError, listing
from sparingly.base.syntax import argument
from sparingly.choose.pool.records import RANGE_BYTES

if TYPE_CHECKING:
    from distributed import Client

Piece = TypeVar("Piece")
Result = TypeVar("Result")
PoolProgress = Callable[[int, int, str], None]
# How often a piece is tried again after an error, such as a folder that did not answer in time.
RETRIES = 2
_PATIENCE = 30


class Executor(Protocol):
    """Runs pieces of work."""

    def map_unordered(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place and the result of every piece, ``function(piece, *shared)``, in any order."""
        ...


@dataclass(frozen=True)
class SerialExecutor:
    """This process."""

    def map_unordered(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Run one piece after the other."""
        for place, piece in enumerate(work):
            yield place, function(piece, *shared)


@dataclass(frozen=True)
class ProcessExecutor:
    """Several processes on this machine."""

    jobs: int

    def map_unordered(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Run as many pieces at once as there are processes; pieces of a killed process run again."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        remaining = dict(enumerate(work))
        for _ in range(1 + RETRIES):
            tasks = [
                delayed(_with_place)(place, function, piece, shared) for place, piece in remaining.items()
            ]
            try:
                # One piece at a time: batches of them would make the processes end at different times.
                pieces = Parallel(n_jobs=self.jobs, batch_size=1, return_as="generator_unordered")(tasks)
                for place, result in pieces:
                    del remaining[place]
                    yield place, result
                return
            except TerminatedWorkerError:
                continue
        raise UsageError(
            f"Processes were killed {1 + RETRIES} times, perhaps for lack of memory: use fewer jobs or rows. "
            "Finished work is saved."
        )


def _with_place(
    place: int, function: Callable[..., Result], piece: Any, shared: tuple[Any, ...]
) -> tuple[int, Result]:
    return place, function(piece, *shared)


@dataclass(frozen=True, eq=False)
class ClusterExecutor:
    """The workers of a Dask cluster."""

    client: Client

    def map_unordered(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Submit the pieces as tasks; those of a lost worker are submitted again."""
        import dask
        from distributed import KilledWorker, as_completed

        # Shared values are tasks, too: a worker that lacks one gets it from another, or recomputes it.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures = [self.client.submit(_identity, value, pure=False) for value in shared]
            places = {}
            for place, piece in enumerate(work):
                options = {"retries": RETRIES, "priority": -place, "pure": False}
                places[self.client.submit(function, piece, *futures, **options)] = place
        try:
            for future in as_completed(list(places)):  # type: ignore[no-untyped-call]
                result: Result = future.result()
                future.release()
                yield places.pop(future), result
        except KilledWorker as error:
            raise UsageError(
                f"A piece of the work has cost several workers, the last one {error.last_worker}: give them "
                "more memory, or score the pool again with fewer rows in a part: "
                f"{argument('rows', '10000')}."
            ) from None


def _identity(value: Any) -> Any:
    return value


def map_in_order(
    executor: Executor, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
) -> list[Result]:
    """Return the results of all pieces in the order of the pieces."""
    results = dict(executor.map_unordered(function, work, *shared))
    return [results[place] for place in range(len(work))]


@contextmanager
def open_executor(
    jobs: int = 1, cluster: str | None = None, shared_paths: Sequence[Path] = ()
) -> Iterator[Executor]:
    """Yield an executor; all workers of a cluster must see the shared paths under these names."""
    if jobs < 1:
        raise UsageError(f"{argument('jobs')} is 1 or more, not {jobs}.")
    if cluster is None:
        yield SerialExecutor() if jobs == 1 else ProcessExecutor(jobs)
        return
    with cluster_client(cluster, jobs, "Working on a pool with a cluster", _PATIENCE) as client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise UsageError(f"The cluster {cluster} has no worker: start some with dask worker.") from None
        worker_states = client.run(_report, [str(path) for path in shared_paths])
        for worker, (version, lost) in sorted(worker_states.items()):
            if version != __version__:
                raise UsageError(
                    f"The worker {worker} has sparingly {version}, here it is {__version__}: install "
                    "the same version on both."
                )
            if lost:
                raise UsageError(
                    f"The worker {worker} does not see {listing(lost)}: the pool and its scores must lie in "
                    "a folder that all machines share under one name."
                )
        yield ClusterExecutor(client)


def _report(paths: list[str]) -> tuple[str, list[str]]:
    return __version__, [path for path in paths if not Path(path).exists()]


class WorkOptions(TypedDict, total=False):
    """How to split and run the work; every key is optional. It has no influence on what is selected."""

    rows: int  # records of a part
    batch: int  # texts that are scored at once
    stretch: int  # bytes of a large file in one piece of work
    jobs: int  # processes
    cluster: str | None  # address of a Dask scheduler, or local for one on this machine with ``jobs`` workers
    progress: PoolProgress | None  # called with the pieces done, their total, and a text on what was read


@dataclass(frozen=True)
class WorkSettings:
    """``WorkOptions`` with their defaults."""

    rows: int = 100_000
    batch: int = 10_000
    stretch: int = RANGE_BYTES
    jobs: int = 1
    cluster: str | None = None
    progress: PoolProgress | None = None

    def __post_init__(self) -> None:
        if min(self.rows, self.batch, self.stretch, self.jobs) < 1:
            raise UsageError("rows, batch, stretch and jobs are 1 or more.")

    def report(self, completed: int, total: int, detail: str) -> None:
        """Report the progress."""
        if self.progress is not None:
            self.progress(completed, total, detail)
