"""Print how long ``import sparingly`` takes: the median of ten fresh processes, less an empty one's time."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 10


def seconds(code: str) -> float:
    """Return the wall time of a fresh interpreter that runs the code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure, alternating the three so that a busy machine disturbs them alike."""
    codes = {"sparingly": "import sparingly", "numpy alone": "import numpy", "nothing": "pass"}
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(RUNS + 1):
        for name, code in codes.items():
            times[name].append(seconds(code))
    empty = statistics.median(times["nothing"][1:])
    for name in ("sparingly", "numpy alone"):
        median = statistics.median(times[name][1:]) - empty
        print(
            f"import {name}: {median:.3f} s (median of {RUNS} processes, less an empty one's {empty:.3f} s)"
        )


if __name__ == "__main__":
    main()
