"""How a call is timed on either side: CPU seconds of the call alone, the median of a few, and peak memory.

It is imported in the environments of peers too: standard library only.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Given = TypeVar("Given")
Output = TypeVar("Output")

_QUICK, _BEARABLE = 2.0, 20.0


@dataclass(frozen=True)
class Timing:
    """CPU seconds of the first call and of the median one, and how many calls there were."""

    first: float
    median: float
    calls: int


def timed(call: Callable[[], Output]) -> tuple[Timing, Output]:
    """Time a call on data that are loaded already; return its answer, too."""
    return timed_anew(lambda: None, lambda _: call())


def timed_anew(
    make: Callable[[], Given], call: Callable[[Given], Output], clock: Callable[[], float] = time.process_time
) -> tuple[Timing, Output]:
    """Time a call on what is made anew for it, so that nothing is remembered; making it is not timed.

    Five calls when the first takes less than 2 s, three below 20 s, else one.
    """
    seconds: list[float] = []
    calls = 1
    while len(seconds) < calls:
        given = make()
        start = clock()
        answer = call(given)
        seconds.append(clock() - start)
        if len(seconds) == 1:
            calls = 5 if seconds[0] < _QUICK else 3 if seconds[0] < _BEARABLE else 1
    return Timing(seconds[0], statistics.median(seconds), calls), answer


def timed_command(command: list[str], out: Path) -> Timing:
    """Time a command as its user starts it, with all that it loads; what it prints goes into a file."""

    def run() -> None:
        with out.open("wb") as file:
            subprocess.run(command, check=True, stdout=file)

    def of_children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    return timed_anew(lambda: None, lambda _: run(), of_children)[0]


def peak_megabytes() -> float:
    """Return the most memory that this process, or a command that it started, has held, in MB."""
    return max(_own_peak(), _largest_of(resource.RUSAGE_CHILDREN))


def _own_peak() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike ru_maxrss, this does not start at what the process that started this one was holding.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    return _largest_of(resource.RUSAGE_SELF)


def _largest_of(whom: int) -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whom).ru_maxrss * unit / 1e6


def report(path: Path, timing: Timing, loaded: float, answer: Any) -> None:
    """Write the outcome of one measurement for the process that asked for it."""
    outcome = {
        "seconds": timing.median,
        "first_seconds": timing.first,
        "calls": timing.calls,
        "loaded_mb": loaded,
        "peak_mb": peak_megabytes(),
        "answer": answer,
    }
    path.write_text(json.dumps(outcome), encoding="utf-8")
