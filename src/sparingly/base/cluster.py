"""A Dask cluster: workers on any number of machines that see the same folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.base.syntax import argument

if TYPE_CHECKING:
    from distributed import Client

LOCAL, EXTRA = "local", "cluster"


@contextmanager
def cluster_client(address: str, workers: int, purpose: str, patience: float = 30) -> Iterator[Client]:
    """Yield the client of a cluster.

    Args:
        address: The scheduler's, such as ``tcp://10.0.0.1:8786``, or ``local`` for workers on this machine.
        workers: The number of local workers.
        purpose: What the cluster is for; named in the error when the packages are missing.
        patience: How many seconds to wait for the scheduler.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ExtraMissingError(purpose, EXTRA) from None
    if address == LOCAL:
        with (
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            ) as local_cluster,
            Client(local_cluster) as client,  # type: ignore[no-untyped-call]
        ):
            yield client
        return
    try:
        client = Client(address, timeout=patience)  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        raise UsageError(
            f"No Dask scheduler answers at {address}: start one with dask scheduler, or use "
            f"{argument('cluster', 'local')}."
        ) from None
    with client:
        yield client
