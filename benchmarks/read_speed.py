"""Reading large tables: time and peak memory of ``sparingly.load`` beside polars' own readers, in one run.

``python -m benchmarks.read_speed [ROWS]`` writes a CSV and a JSON Lines file (a row an input and model, four
models, a judge's score, a latency; nested scores in JSON), reads each with both in processes of their own,
and prints seconds, processor seconds, peak memory and their ratios. Each process reads a small file first, so
that what is imported is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

MODELS = ("gpt-4o", "claude-3.5", "llama-3-70b", "in-house-7b")
_READ = {
    "polars": {"csv": "polars.read_csv(path)", "jsonl": "polars.read_ndjson(path)"},
    "sparingly": {"csv": "sparingly.load(path)", "jsonl": "sparingly.load(path)"},
}
_SCRIPT = """
import resource, sys, time
import polars, sparingly
path = sys.argv[2]
{0}
path = sys.argv[1]
start, busy = time.perf_counter(), time.process_time()
data = {0}
seconds, busy = time.perf_counter() - start, time.process_time() - busy
print(seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def make_table(rows: int) -> pl.DataFrame:
    """Return a long table of made-up prompts and answers."""
    items, rng = rows // len(MODELS), np.random.default_rng(0)
    words = np.array(["open", "settings", "choose", "account", "confirm", "password", "select", "cancel"])
    parts = [pl.Series(words[rng.integers(0, len(words), rows)]) for _ in range(12)]
    answers = pl.DataFrame([part.alias(str(place)) for place, part in enumerate(parts)]).select(
        pl.concat_str(pl.all(), separator=" ")
    )
    numbers = pl.Series("number", np.repeat(np.arange(items), len(MODELS))).cast(pl.String)
    return pl.DataFrame(
        {
            "prompt_id": "p" + numbers,
            "prompt": "How do I change the plan of my account? I tried it twice. (case " + numbers + ")",
            "model": list(MODELS) * items,
            "response": answers.to_series(),
            "judge_score": rng.integers(1, 6, rows),
            "latency_ms": rng.integers(100, 5000, rows),
        }
    )


def measure(kind: str, reader: str, path: Path, small: Path) -> list[float]:
    """Return seconds, processor seconds and peak megabytes of one reader in a process of its own."""
    script = _SCRIPT.format(_READ[reader][kind])
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(small)], capture_output=True, text=True, check=True
    )
    return [float(number) for number in done.stdout.split()]


def main(rows: int = 1_000_000) -> None:
    """Print time, peak memory and their ratios for both kinds of file."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("csv", "jsonl"):
            paths = []
            for name, table in (("large", make_table(rows)), ("small", make_table(40))):
                path = Path(folder) / f"{name}.{kind}"
                judge = pl.struct(pl.lit("gpt-4o").alias("name"), "judge_score").alias("judge")
                if kind == "csv":
                    table.write_csv(path)
                else:
                    table.with_columns(judge).drop("judge_score").write_ndjson(path)
                paths.append(path)
            base, ours = (measure(kind, reader, *paths) for reader in _READ)
            print(f"{kind}: {rows:,} rows, {paths[0].stat().st_size / 2**20:.0f} MB")
            for place, unit in enumerate(("s", "processor s", "MB")):
                ratio = ours[place] / base[place]
                print(f"  polars {base[place]:.2f}, sparingly {ours[place]:.2f} {unit}: {ratio:.2f} times")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
