"""Load 1 000 000 items × 14 models × 3 metrics from Parquet: seconds, and memory as a multiple of the data.

Two files with the same numbers and no text: our own Parquet as ``sparingly.save`` writes it, and a long
table with a row for each item and model. Each is loaded by a fresh process. Run
``.venv/bin/python -m benchmarks.load`` (``--items 100000`` for less).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.data import MODELS, SEED, item_ids, model_ids
from benchmarks.peers.environment import FOLDER
from benchmarks.peers.timing import peak_megabytes

METRICS = ("chrF", "COMET", "MetricX")
KINDS = {"our Parquet": "parquet", "long table in Parquet": "long.parquet"}


def path_of(kind: str, items: int) -> Path:
    """Return where a file is kept between runs."""
    return FOLDER / "data" / f"load-{SEED}-{items}.{KINDS[kind]}"


def make(items: int) -> None:
    """Write both files."""
    import sparingly

    draw = np.random.default_rng([SEED, items])
    data = sparingly.EvalSet.from_arrays(
        items=item_ids(items),
        models=model_ids(),
        metrics={name: draw.normal(size=(items, MODELS)) for name in METRICS},
    )
    path_of("our Parquet", items).parent.mkdir(parents=True, exist_ok=True)
    sparingly.save(data, path_of("our Parquet", items))
    sparingly.to_frame(data).write_parquet(path_of("long table in Parquet", items))


def load(kind: str, items: int) -> None:
    """Load one file and print what it took; runs in its own process."""
    import polars

    import sparingly

    path = path_of(kind, items)
    # Reading the file once puts it into the system's cache and loads what reading needs.
    polars.scan_parquet(path).head(1).collect()
    empty = peak_megabytes()
    wall, cpu = time.perf_counter(), time.process_time()
    data = sparingly.load(path)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    assert data.metrics[METRICS[0]].shape == (items, MODELS)
    print(json.dumps({**took, "peak_mb": peak_megabytes() - empty, "file_mb": path.stat().st_size / 1e6}))


def in_process(*arguments: str) -> Any:
    """Run a part of this file in a fresh process and return what it prints."""
    command = [sys.executable, "-m", "benchmarks.load", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout) if done.stdout else None


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.part == "make":
        make(chosen.items)
    elif chosen.part:
        load(chosen.part, chosen.items)
    else:
        compare(chosen.items)


def compare(items: int) -> None:
    """Make the files, load each, and print the table."""
    size = ("--items", str(items))
    in_process("--part", "make", *size)
    megabytes = items * MODELS * len(METRICS) * 8 / 1e6
    print(f"{items} items × {MODELS} models × {len(METRICS)} metrics: {megabytes:.0f} MB of numbers.\n")
    print("| file | MB on disk | seconds | CPU seconds | peak MB | multiple of the numbers |")
    print("|---|---|---|---|---|---|")
    for kind in KINDS:
        found = in_process("--part", kind, *size)
        print(
            f"| {kind} | {found['file_mb']:.0f} | {found['wall']:.2f} | {found['cpu']:.2f} "
            f"| {found['peak_mb']:.0f} | {found['peak_mb'] / megabytes:.1f} × |",
            flush=True,
        )


if __name__ == "__main__":
    main()
