"""How the work on a pool is cut and handed out; it has no influence on what is selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from sparingly.base.errors import UsageError
from sparingly.choose.pool.places import STRETCH_BYTES

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
class Work:
    """How the work is done."""

    rows: int = 100_000
    batch: int = 10_000
    stretch: int = STRETCH_BYTES
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
