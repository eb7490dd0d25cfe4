"""How a call is timed on either side: CPU seconds of the call alone, the median of a few, and peak memory.

It is imported in the peer's environment too: standard library only.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Input = TypeVar("Input")
Output = TypeVar("Output")

_QUICK, _BEARABLE = 2.0, 20.0


def timed(prepare: Callable[[], Input], call: Callable[[Input], Output]) -> tuple[float, int, Output]:
    """Return the median CPU seconds of a call on freshly prepared input, the number of runs, and its answer.

    Five runs below 2 s, three below 20 s, else one. What ``prepare`` does is not timed.
    """
    seconds: list[float] = []
    runs = 1
    while len(seconds) < runs:
        given = prepare()
        start = time.process_time()
        answer = call(given)
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            runs = 5 if seconds[0] < _QUICK else 3 if seconds[0] < _BEARABLE else 1
    return statistics.median(seconds), runs, answer


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def report(path: Path, seconds: float, runs: int, loaded: float, answer: Any) -> None:
    """Write the outcome of one measurement for the process that asked for it."""
    outcome = {
        "seconds": seconds,
        "runs": runs,
        "loaded_mb": loaded,
        "peak_mb": peak_megabytes(),
        "answer": answer,
    }
    path.write_text(json.dumps(outcome), encoding="utf-8")
