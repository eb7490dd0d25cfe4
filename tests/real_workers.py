"""A Dask cluster of real processes on this machine, so that tests can kill one of them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.command import environment

Process = subprocess.Popen[bytes]


def dask(*arguments: str, cwd: Path) -> Process:
    """Start a scheduler or a worker, which writes its log into a folder."""
    log = (cwd / f"{arguments[0]}.log").open("ab")
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, "-m", "dask", *arguments]
    with log:
        return subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env=environment(**threads))


@contextmanager
def real_workers(folder: Path, count: int = 2) -> Iterator[tuple[str, list[Process]]]:
    """Start a scheduler and workers, each a process of its own; yield the address and the workers."""
    from distributed import Client

    where = folder / "scheduler.json"
    file = ("--scheduler-file", str(where))
    scheduler = dask("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1", *file, cwd=folder)
    workers: list[Process] = []
    try:
        deadline = time.monotonic() + 120
        while not where.exists():
            assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        how = ("--nthreads", "1", "--nworkers", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        workers += [dask("worker", *how, *file, cwd=folder) for _ in range(count)]
        with Client(scheduler_file=str(where)) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(count, timeout=120)
            address = client.scheduler.address
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
