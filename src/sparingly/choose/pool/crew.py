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
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sparingly._version import __version__
from sparingly.base.cluster import cluster_client
from sparingly.base.errors import UsageError, listing

if TYPE_CHECKING:
    from distributed import Client

Piece = TypeVar("Piece")
Result = TypeVar("Result")
# How often a piece is tried again after an error, such as a folder that did not answer in time.
RETRIES = 2
_PATIENCE = 30


class Crew(Protocol):
    """Whoever does pieces of work."""

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place and the result of every piece, ``function(piece, *shared)``, as they are done."""
        ...


@dataclass(frozen=True)
class Alone:
    """This process."""

    def each(
        self, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
    ) -> Iterator[tuple[int, Result]]:
        """Do one piece after the other."""
        for place, piece in enumerate(work):
            yield place, function(piece, *shared)


@dataclass(frozen=True)
class Processes:
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
class Workers:
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


def in_order(
    crew: Crew, function: Callable[..., Result], work: Sequence[Piece], *shared: Any
) -> list[Result]:
    """Return the results of all pieces in the order of the pieces."""
    found = dict(crew.each(function, work, *shared))
    return [found[place] for place in range(len(work))]


@contextmanager
def crew_of(jobs: int = 1, cluster: str | None = None, sees: Sequence[Path] = ()) -> Iterator[Crew]:
    """Yield who does the work.

    Args:
        jobs: The processes, or the local workers of the cluster ``local``.
        cluster: The address of a Dask scheduler, or ``local``; None for processes of this machine.
        sees: Folders and files that all workers must see by these very names.
    """
    if jobs < 1:
        raise UsageError(f"There is 1 process or more, not {jobs}.")
    if cluster is None:
        yield Alone() if jobs == 1 else Processes(jobs)
        return
    with cluster_client(cluster, jobs, "Working on a pool with a cluster", _PATIENCE) as client:
        _check(client, cluster, [str(path) for path in sees])
        yield Workers(client)


def _check(client: Client, address: str, paths: list[str]) -> None:
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
