"""Pools of millions: from files on disk to a written selection, with what it takes and how it grows.

    python -m benchmarks.pool_scale 1000000               score with a light model in two processes, and draw
    python -m benchmarks.pool_scale 10000000 --near       the same with near duplicates, reported apart
    python -m benchmarks.pool_scale --stages              processor time of every stage, one process
    python -m benchmarks.pool_scale --docs                the figures so far into docs/research/benchmarks.md

The pool is generated (benchmarks/make_pool.py) into ``--folder`` and removed afterwards unless ``--keep`` is
said. Memory is that of all processes together. Figures are kept in benchmarks/results/pool-scale.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.make_pool import write_pool
from benchmarks.pages import replaced, write_whole

# --- what a command takes, with all the processes that it starts -----------------------------------------


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


# --- the measurements ------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = (
    ROOT / "benchmarks" / "results" / "pool-scale.json",
    ROOT / "docs" / "research" / "benchmarks.md",
)
COMMAND = (str(Path(sys.executable).with_name("sparingly")), "pool")
CHOSEN, TRAINING, STAGE_TEXTS = 10_000, 2_000, 50_000
NEAR = "0.8"

Figures = dict[str, Any]


def first_texts(pool: Path, count: int) -> list[str]:
    """Return the first distinct texts of a pool."""
    with next(iter(sorted(pool.iterdir()))).open(encoding="utf-8") as file:
        return list(dict.fromkeys(json.loads(line)["text"] for line in islice(file, count)))


def train(pool: Path, model: Path) -> None:
    """Train a light model on some texts of the pool; two models find long texts hard."""
    generator = np.random.default_rng(1)
    data = model.with_suffix(".jsonl")
    with data.open("w", encoding="utf-8") as file:
        for place, text in enumerate(first_texts(pool, TRAINING)):
            scores = {name: {"m": float(generator.normal() - len(text) / 50)} for name in ("a", "b")}
            file.write(json.dumps({"item": f"t{place}", "source": text, "metrics": scores}) + "\n")
    sparingly.distil(sparingly.load(data), "hard=metric_avg:metric=m").save(model)


def measure(
    sources: int, folder: Path, jobs: int, near: bool, files: int, keep: Callable[[Figures], None]
) -> None:
    """Score a pool and draw from it by commands of their own; figures are kept after every one."""
    pool, scored = folder / "pool", folder / "scored"
    began = time.perf_counter()
    paths = write_pool(pool, sources, files)
    made = time.perf_counter() - began
    train(pool, folder / "model.skops")
    by = f"distilled:model={folder / 'model.skops'}"
    score = (*COMMAND, "score", str(pool), "--by", by, "--jobs", str(jobs), "--out", str(scored))
    draw = (*COMMAND, "select", str(scored), "-m", "pivotal", "-b", str(CHOSEN))
    out = ("-o", str(folder / "chosen.json"), "-o", str(folder / "chosen.jsonl"))
    steps = {"score": score, "select": (*draw, *out)}
    if near:
        steps["score with near"] = (*score, "--near-duplicates")
        steps["select with near"] = (*draw, "--near", NEAR, *out)
    figures: Figures = {
        "sources": sources,
        "megabytes": sum(path.stat().st_size for path in paths) / 1e6,
        "made_in": made,
        "jobs": jobs,
        "load_before": os.getloadavg()[0],
        "date": datetime.now(UTC).date().isoformat(),
        "taken": {},
    }
    for name, command in steps.items():
        if name.startswith("score"):
            shutil.rmtree(scored, ignore_errors=True)
        figures["taken"][name] = asdict(watched(command))
        keep(figures)


def stages(folder: Path) -> Figures:
    """Return texts a processor second of what scoring is made of, in one process."""
    from sparingly.choose.pool.near_duplicates import bands_of
    from sparingly.choose.pool.sources import Languages

    pool = folder / "pool"
    write_pool(pool, STAGE_TEXTS, 1)
    train(pool, folder / "model.skops")
    texts = first_texts(pool, STAGE_TEXTS)
    model = sparingly.load_distilled(folder / "model.skops")
    known = Languages(identify=True)
    known.identify_all(texts[:10], [])
    work: dict[str, Callable[[], object]] = {
        "read, check, hash and write (`--by source_length`)": lambda: sparingly.score_pool(
            pool, folder / "scored"
        ),
        "a light model (`--by distilled:model=FILE`)": lambda: model.score(texts),
        "identify languages (`--identify`)": lambda: known.identify_all(texts, ["{}"] * len(texts)),
        "prepare for near duplicates (`--near-duplicates`)": lambda: bands_of(texts),
    }
    return {name: len(texts) / _processor(call) for name, call in work.items()}


def _processor(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def block_of(kept: Figures) -> str:
    """Return the figures of finished runs as Markdown."""
    done = [run for run in kept["runs"].values() if {"score", "select"} <= set(run["taken"])]
    done.sort(key=lambda run: int(run["sources"]))
    heads = ("sources", "files", "step", "seconds", "processor seconds", "sources a second", "peak memory")
    lines = [list(heads), ["---:", "---:", "---", *["---:"] * 4]]
    lines += [_line(run, name, taken) for run in done for name, taken in _steps(run).items()]
    said = [
        f"{run['sources']:,} sources on {run['date']} in {run['jobs']} processes on 2 cores, for which "
        f"{run['load_before']:.0f} other processes were waiting"
        for run in done
    ]
    rates = [["what", "texts a second of one core"], ["---", "---:"]]
    rates += [[name, f"{rate:,.0f}"] for name, rate in kept.get("stages", {}).items()]
    return f"{_table(lines)}\n\n{'; '.join(said)}.\n\n{_table(rates)}"


def _table(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _line(run: Figures, name: str, taken: Figures) -> list[str]:
    return [
        f"{run['sources']:,}",
        f"{run['megabytes'] / 1e3:.2f} GB",
        name,
        f"{taken['seconds']:,.0f}",
        f"{taken['processor']:,.0f}",
        f"{run['sources'] / taken['seconds']:,.0f}",
        f"{taken['megabytes'] / 1e3:.2f} GB",
    ]


def _steps(run: Figures) -> dict[str, Figures]:
    """Return the steps of a run; what near duplicates take is told apart."""
    taken = dict(run["taken"])
    both = [taken["score"], taken["select"]]
    whole = {
        "seconds": sum(one["seconds"] for one in both),
        "processor": sum(one["processor"] for one in both),
        "megabytes": max(one["megabytes"] for one in both),
    }
    return {"score": taken["score"], "select": taken["select"], "**both**": whole} | {
        f"{name} duplicates": one for name, one in taken.items() if name.endswith("near")
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, keep the figures and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", type=int, nargs="*")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench" / "pool")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--files", type=int, default=16)
    for flag in ("--near", "--stages", "--keep", "--docs"):
        parser.add_argument(flag, action="store_true")
    args = parser.parse_args(arguments)
    kept: Figures = json.loads(args.results.read_text()) if args.results.exists() else {"runs": {}}
    for sources in args.sources:
        folder = args.folder / str(sources)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

        def keep(figures: Figures, name: str = str(sources)) -> None:
            kept["runs"][name] = figures
            args.results.write_text(json.dumps(kept, indent=1) + "\n")

        measure(sources, folder, args.jobs, args.near, args.files, keep)
        if not args.keep:
            shutil.rmtree(folder)
    if args.stages:
        folder = args.folder / "stages"
        folder.mkdir(parents=True, exist_ok=True)
        kept["stages"] = stages(folder)
        args.results.write_text(json.dumps(kept, indent=1) + "\n")
        shutil.rmtree(folder)
    block = block_of(kept)
    print(block)
    if args.docs:
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"pool-scale": block}))


if __name__ == "__main__":
    main()
