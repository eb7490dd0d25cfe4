"""How a call is timed on either side: CPU seconds of the call alone, the median of a few, and peak memory.

It is imported in the environments of peers too: standard library only.
"""

from __future__ import annotations

import json
import resource
import statistics
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


def timed_anew(make: Callable[[], Given], call: Callable[[Given], Output]) -> tuple[Timing, Output]:
    """Time a call on what is made anew for it, so that nothing is remembered; making it is not timed.

    Five calls when the first takes less than 2 s, three below 20 s, else one.
    """
    seconds: list[float] = []
    calls = 1
    while len(seconds) < calls:
        given = make()
        start = time.process_time()
        answer = call(given)
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            calls = 5 if seconds[0] < _QUICK else 3 if seconds[0] < _BEARABLE else 1
    return Timing(seconds[0], statistics.median(seconds), calls), answer


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike ru_maxrss, this does not start at what the process that started this one was holding.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


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
