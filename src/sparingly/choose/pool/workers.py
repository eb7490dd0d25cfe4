"""Who does the work on a pool: this process, several of them, or the workers of a Dask cluster.

Work comes in pieces (stretches of files, parts) that know nothing of each other, and every piece writes its
own files whole or not at all. So a worker that is lost costs the pieces it had in hand, which others do
again, and who did what cannot be told from the result.
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
from sparingly.choose.pool.records import RANGE_BYTES

if TYPE_CHECKING:
    from distributed import Client


# --- Who does the work on a pool: this process, several of them, or the workers of a Dask cluster


Piece = TypeVar("Piece")
Result = TypeVar("Result")
# How often a piece is tried again after an error, such as a folder that did not answer in time.
RETRIES = 2
_PATIENCE = 30


class Executor(Protocol):
    """Whoever does pieces of work."""

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place and the result of every piece, ``function(piece, *shared)``, as they are done."""
        ...


@dataclass(frozen=True)
class SerialExecutor:
    """This process."""

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Do one piece after the other."""
        for place, piece in enumerate(work):
            yield place, function(piece, *shared)


@dataclass(frozen=True)
class ProcessExecutor:
    """Several processes on this machine."""

    jobs: int

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Do as many pieces at once as there are processes; those of one that was killed are done again."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        left = dict(enumerate(work))
        for _ in range(1 + RETRIES):
            tasks = [delayed(_numbered)(place, function, piece, shared) for place, piece in left.items()]
            try:
                # One piece at a time: batches of them would make the processes end at different times.
                pieces = Parallel(n_jobs=self.jobs, batch_size=1, return_as="generator_unordered")(tasks)
                for place, result in pieces:
                    del left[place]
                    yield place, result
                return
            except TerminatedWorkerError:
                continue
        raise UsageError(
            f"Processes were killed {1 + RETRIES} times, perhaps for lack of memory: use fewer jobs or rows. "
            "What is done is kept."
        )


def _numbered(
    place: int, function: Callable[..., Result], piece: Any, shared: tuple[Any, ...]
) -> tuple[int, Result]:
    return place, function(piece, *shared)


@dataclass(frozen=True, eq=False)
class ClusterExecutor:
    """The workers of a Dask cluster."""

    client: Client

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Hand out the pieces as tasks; those that a lost worker had are handed out again."""
        import dask
        from distributed import KilledWorker, as_completed

        # What all pieces need is a task, too: whoever lacks it gets it from another worker, or made anew.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            held = [self.client.submit(_itself, value, pure=False) for value in shared]
            places = {
                self.client.submit(
                    function, piece, *held, retries=RETRIES, priority=-place, pure=False
                ): place
                for place, piece in enumerate(work)
            }
        try:
            for future in as_completed(list(places)):  # type: ignore[no-untyped-call]
                result: Result = future.result()
                future.release()
                yield places.pop(future), result
        except KilledWorker as error:
            raise UsageError(
                f"A piece of the work has cost several workers, the last one {error.last_worker}: give them "
                "more memory, or score the pool anew with fewer --rows."
            ) from None


def _itself(value: Any) -> Any:
    return value


def map_in_order(
    crew: Executor, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
) -> list[Result]:
    """Return the results of all pieces in the order of the pieces."""
    found = dict(crew.each(function, work, *shared))
    return [found[place] for place in range(len(work))]


@contextmanager
def open_executor(jobs: int = 1, cluster: str | None = None, sees: Sequence[Path] = ()) -> Iterator[Executor]:
    """Yield who does the work.

    Args:
        jobs: The processes, or the local workers of the cluster ``local``.
        cluster: The address of a Dask scheduler, or ``local``; None for processes of this machine.
        sees: Folders and files that all workers must see by these very names.
    """
    if jobs < 1:
        raise UsageError(f"There is 1 process or more, not {jobs}.")
    if cluster is None:
        yield SerialExecutor() if jobs == 1 else ProcessExecutor(jobs)
        return
    with cluster_client(cluster, jobs, "Working on a pool with a cluster", _PATIENCE) as client:
        _check_workers(client, cluster, [str(path) for path in sees])
        yield ClusterExecutor(client)


def _check_workers(client: Client, address: str, paths: list[str]) -> None:
    """Refuse workers of another version, and those that do not see the files."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise UsageError(f"The cluster {address} has no worker: start some with dask worker.") from None
    found: dict[str, tuple[str, list[str]]] = client.run(_report, paths)
    for worker, (version, lost) in sorted(found.items()):
        if version != __version__:
            raise UsageError(f"The worker {worker} has sparingly {version}, here it is {__version__}.")
        if lost:
            raise UsageError(
                f"The worker {worker} does not see {listing(lost)}: the pool and its scores must lie in a "
                "folder that all machines share under one name."
            )


def _report(paths: list[str]) -> tuple[str, list[str]]:
    return __version__, [path for path in paths if not Path(path).exists()]


# --- How the work on a pool is cut and handed out; it has no influence on what is selected


Progress = Callable[[int, int, str], None]


class WorkOptions(TypedDict, total=False):
    """How to do the work; every key may be left out.

    Attributes:
        rows: The records of a part, 100,000 unless given.
        batch: The texts that are scored at once, 10,000 unless given.
        stretch: The bytes of a large file that one worker takes at a time.
        jobs: The number of processes, 1 unless given.
        cluster: The address of a Dask scheduler, or ``local`` for one on this machine with ``jobs`` workers.
        progress: Told how many stretches (then parts) are done, of how many, and what was read.
    """

    rows: int
    batch: int
    stretch: int
    jobs: int
    cluster: str | None
    progress: Progress | None


@dataclass(frozen=True)
class WorkSettings:
    """How the work is done."""

    rows: int = 100_000
    batch: int = 10_000
    stretch: int = RANGE_BYTES
    jobs: int = 1
    cluster: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if min(self.rows, self.batch, self.stretch, self.jobs) < 1:
            raise UsageError("rows, batch, stretch and jobs are 1 or more.")

    def tell(self, done: int, of: int, what: str) -> None:
        """Say how far the work is."""
        if self.progress is not None:
            self.progress(done, of, what)
