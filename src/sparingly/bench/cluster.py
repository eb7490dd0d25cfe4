"""The same tasks on a Dask cluster: any number of machines that see the same data folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparingly.base.cluster import cluster_client
from sparingly.bench.table import Row
from sparingly.bench.task import Task, finished

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
