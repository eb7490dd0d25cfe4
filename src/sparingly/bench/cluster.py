"""The same tasks on a Dask cluster: any number of machines that see the same data folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.bench.table import Row
from sparingly.bench.task import Task, finished

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
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
    with _client(address, workers) as client:
        from distributed import as_completed

        # The earlier tasks first, so that a worker keeps the set that it has read.
        futures = [
            client.submit(finished, task, retries=RETRIES, priority=-place, pure=False)
            for place, task in enumerate(tasks)
        ]
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
            future.release()


@contextmanager
def _client(address: str, workers: int) -> Iterator[Client]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ExtraMissingError("Playing a grid on a cluster", "cluster") from None
    if address == LOCAL:
        with (
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            ) as own,
            Client(own) as client,  # type: ignore[no-untyped-call]
        ):
            yield client
        return
    try:
        client = Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        raise UsageError(
            f"No Dask scheduler answers at {address}: start one with dask scheduler, or use --cluster local."
        ) from None
    with client:
        yield client
