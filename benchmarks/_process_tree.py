"""What a command takes, with all the processes that it starts: seconds, processor time and memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PAUSE = 0.25
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Taken:
    """Wall-clock seconds, processor seconds, and the most megabytes that all processes held at once."""

    seconds: float
    processor: float
    megabytes: float


def watched(command: Sequence[str]) -> Taken:
    """Run a command and look at its processes four times a second.

    Memory that processes share is counted once (proportional set size). Processor time is what was last seen
    of every process, so that the last quarter of a second of a worker may be missing.
    """
    began = time.perf_counter()
    process = subprocess.Popen(list(command), stdout=subprocess.DEVNULL)
    ticks: dict[int, int] = {}
    most = 0.0
    while process.poll() is None:
        family = _family(process.pid)
        most = max(most, sum(map(_megabytes, family)))
        ticks |= {pid: spent for pid in family if (spent := _ticks(pid)) is not None}
        time.sleep(_PAUSE)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Taken(time.perf_counter() - began, sum(ticks.values()) / _TICKS, most)


def _family(root: int) -> list[int]:
    """Return a process and all that come from it."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in _read(task).split()]
    return found


def _megabytes(pid: int) -> float:
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Pss:"))


def _ticks(pid: int) -> int | None:
    """Return the processor time of a process; None once it is gone."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) if fields else None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
