"""What of ``sparingly select`` from a file is not ours to save: CPU seconds of its parts, on one thread.

``python -m benchmarks.command_floor [ITEMS]`` takes the data of the rows ``command_…`` of ``benchmarks.run``,
runs each part in a process of its own, and prints the fastest of five with the most memory that it held:
starting Python with numpy and with polars; parsers and ``sparingly.load``, without their imports; and
the commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.data import USUAL, prepared
from benchmarks.peers.environment import FOLDER
from benchmarks.run import ONE_THREAD

_RUNS = 5
_CODE = """
import json, sys, time, numpy{0}
start = time.process_time()
{1}
print(time.process_time() - start)
"""
_PARTS = {
    "json of the standard library, every line": ("", "for line in open({lines!r}): json.loads(line)"),
    "polars.read_ndjson": (", polars", "polars.read_ndjson({lines!r})"),
    "polars.read_parquet": (", polars", "polars.read_parquet({parquet!r})"),
    "sparingly.load, JSON Lines": (", sparingly", "sparingly.load({lines!r})"),
    "sparingly.load, Parquet": (", polars, sparingly", "sparingly.load({parquet!r})"),
}


def measure(command: list[str], *, is_printed: bool) -> tuple[float, float]:
    """Return the CPU seconds of the fastest run, of the process or as it prints them, and the peak in MB."""
    environment = {**os.environ, **ONE_THREAD}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    seconds, peaks = [], []
    for _ in range(_RUNS):
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"failed: {command}")
        seconds.append(float(printed) if is_printed else used.ru_utime + used.ru_stime)
        peaks.append(used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
    return min(seconds), max(peaks)


def main(items: int = 100_000) -> None:
    """Print a line for every part."""
    lines = prepared(FOLDER / "data", "numbers", items, USUAL, for_peer=True)
    parquet = lines.with_suffix(".parquet")
    command, chosen = str(Path(sys.executable).with_name("sparingly")), FOLDER / "data" / "chosen.json"
    if not parquet.exists():
        # Not in this process: those that it starts would begin with its memory.
        subprocess.run([command, "convert", str(lines), str(parquet)], check=True, stdout=subprocess.DEVNULL)
    ending = ["-m", "metric_var:metric=metric", "-b", "10%", "-o", str(chosen)]
    parts = {
        "start Python with numpy": ([sys.executable, "-c", "import numpy"], False),
        "start Python with numpy and polars": ([sys.executable, "-c", "import numpy, polars"], False),
    }
    for name, (imported, code) in _PARTS.items():
        written = _CODE.format(imported, code.format(lines=str(lines), parquet=str(parquet)))
        parts[name] = [sys.executable, "-c", written], True
    parts["sparingly select, JSON Lines"] = [command, "select", str(lines), *ending], False
    parts["sparingly select, Parquet"] = [command, "select", str(parquet), *ending], False
    print(f"{items:,} items, {lines.stat().st_size / 1e6:.0f} MB of JSON Lines\n")
    print("| part | CPU seconds | peak memory |\n|---|---:|---:|")
    for name, (words, is_printed) in parts.items():
        seconds, peak = measure(words, is_printed=is_printed)
        print(f"| {name} | {seconds:.2f} | {peak:.0f} MB |", flush=True)
    chosen.unlink()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
