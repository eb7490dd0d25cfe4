"""From a fresh process to the first number: ``rank`` of two logs, ``estimate`` of a table.

``python -m benchmarks.first_number [judge_2000.csv]`` runs each command three times in processes of their own
and prints the fastest: seconds, and processor seconds, which other work on the machine changes less. The logs
are those of the tests, and two of 5,000 samples that are written here; a table is measured if one is named.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "tests" / "data" / "io" / "logs"
SAMPLES, EVENTS, RUNS = 5_000, 2_000, 3


def write_log(path: Path, model: str, seed: int) -> Path:
    """Write a log of inspect_ai with random verdicts, and with messages and events around each sample."""
    rng = random.Random(seed)  # noqa: S311
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "sums", "model": model}}))
        for number in range(SAMPLES):
            sample = {
                "id": number,
                "epoch": 1,
                "input": f"What is {number} plus {number}?",
                "target": str(2 * number),
                "output": {"completion": str(2 * number + rng.randint(0, 1))},
                "scores": {"match": {"value": rng.choice("CI")}},
                "events": [{"event": "model", "data": rng.randbytes(EVENTS // 2).hex()}],
            }
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return path


def measure(arguments: list[str]) -> tuple[float, float]:
    """Return the seconds and processor seconds of the fastest of a few runs of a command."""
    command = [sys.executable, "-m", "sparingly", *arguments]
    times = []
    for _ in range(RUNS):
        start, before = time.perf_counter(), _busy()
        subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        times.append((time.perf_counter() - start, _busy() - before))
    return min(times)


def _busy() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(tables: list[str]) -> None:
    """Print a row for each command."""
    with tempfile.TemporaryDirectory() as folder:
        large = [
            str(write_log(Path(folder) / f"{name}.eval", f"m/{name}", seed)) for seed, name in enumerate("ab")
        ]
        small = [str(LOGS / f"sums-{name}.eval") for name in ("small", "large")]
        # What is said of a table is saved beside it.
        copies = [shutil.copy(table, folder) for table in tables]
        rows = [
            ("rank, two logs of 20 samples x 2 epochs", ["rank", *small]),
            (f"rank, two logs of {SAMPLES:,} samples", ["rank", *large]),
            *((f"estimate {Path(table).name}", ["estimate", table]) for table in copies),
        ]
        sys.stdout.write(f"{'command':45}{'seconds':>9}{'processor':>11}\n")
        for title, arguments in rows:
            seconds, busy = measure(arguments)
            sys.stdout.write(f"{title:45}{seconds:9.1f}{busy:11.1f}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
