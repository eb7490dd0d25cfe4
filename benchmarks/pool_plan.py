"""What a pool of a hundred million or a billion sources takes on a cluster, worked out from measured rates.

    python -m benchmarks.pool_plan --measure                          measure the rates on this machine
    python -m benchmarks.pool_plan --sources 3e8 --workers 32         work out a plan
    python -m benchmarks.pool_plan --price 0.02 --gpu-rate 8000       with other assumptions
    python -m benchmarks.pool_plan --docs                             the tables into pools-cluster.md

Rates are processor seconds of one core for a source of a generated pool (benchmarks/make_pool.py), kept in
benchmarks/results/pool-plan.json. Prices, the speed of a GPU and the share of its time that a worker is busy
are assumptions, all of them options.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.make_pool import write_pool
from benchmarks.pages import replaced, write_whole
from benchmarks.pool_scale import COMMAND, train, watched
from sparingly.choose.pool.candidates import build_tree, nearest_leaves, read_frame
from sparingly.choose.pool.embeddings import parse_embedding
from sparingly.choose.pool.near_duplicates import bands_of, near_vectors, sketches_of

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = (
    ROOT / "benchmarks" / "results" / "pool-plan.json",
    ROOT / "docs" / "research" / "benchmarks.md",
)
PLANS = ((1e8, 16), (1e8, 64), (1e9, 64), (1e9, 256))
# What a source takes: its vector and sketch by the hashed embedding, and the bands of MinHash.
VECTOR_BYTES, BAND_BYTES = 2 * 128 + 32, 128
# What the one machine does that draws.
ALONE = ("select", "minhash")
# Near duplicates by embeddings are looked for in so many lists, each made by one worker.
LISTS = 16

Figures = dict[str, Any]


@dataclass(frozen=True)
class Assumed:
    """What is not measured.

    Attributes:
        price: Of a core for an hour, with its share of memory.
        memory_price: Of a gigabyte for an hour, for the machine that draws.
        gpu_price: Of a GPU for an hour.
        gpu_rate: Sources a second that a GPU embeds with a small sentence model.
        busy: The share of its time that a worker works: the rest is waiting for files, and the last pieces.
    """

    price: float = 0.04
    memory_price: float = 0.005
    gpu_price: float = 2.5
    gpu_rate: float = 3000.0
    busy: float = 0.8


@dataclass(frozen=True)
class Plan:
    """What a pool takes: hours, costs, and bytes."""

    sources: float
    workers: int
    score_hours: float
    head_hours: float
    gpu_hours: float
    cost: float
    disk: float
    network: float
    memory: float


def plan_of(rates: Figures, sources: float, workers: int, assumed: Assumed) -> Plan:
    """Return what scoring with everything (light model, duplicates, embeddings) and a spread draw take.

    Workers share what is done part by part: scoring, embedding, sketches, and which leaf a source is in; up
    to 16 of them make sorted lists of sketches. The machine that draws does the rest alone: it holds all
    numbers, sorts them, compares duplicates, and draws.
    """
    shared = sum(rates["seconds"][name] for name in ("score", "near", "embed", "sketch", "leaf"))
    lists = rates["seconds"]["cosine"] / min(workers, LISTS)
    alone = sum(rates["seconds"][name] for name in ALONE) + lists
    score_hours = sources * shared / 3600 / workers / assumed.busy
    # Sorting grows a little faster than what is sorted.
    head_hours = sources * alone / 3600 * max(1.0, np.log2(sources) / np.log2(rates["sources"]))
    kept = rates["bytes"]["scored"] + VECTOR_BYTES + BAND_BYTES
    memory = sources * rates["bytes"]["memory"]
    cores = workers * score_hours * assumed.price
    head = head_hours * (assumed.price + memory / 1e9 * assumed.memory_price)
    return Plan(
        sources,
        workers,
        score_hours,
        head_hours,
        sources / assumed.gpu_rate / 3600,
        cores + head,
        sources * (rates["bytes"]["pool"] + kept),
        # Workers read the pool, write all that is kept, and read texts and vectors again.
        sources * (rates["bytes"]["pool"] + kept + rates["bytes"]["scored"] + VECTOR_BYTES),
        memory,
    )


def measure(sources: int, folder: Path) -> Figures:
    """Return seconds of one core and bytes for a source."""
    pool, scored = folder / "pool", folder / "scored"
    paths = write_pool(pool, sources, 4)
    train(pool, folder / "model.skops")
    by = f"distilled:model={folder / 'model.skops'}"
    held = sparingly.score_pool(pool, folder / "first", by=by, rows=10_000, near=True)
    score = _processor(lambda: sparingly.score_pool(pool, scored, by=by))
    texts = held.column("source").to_series().to_list()
    embedding = parse_embedding("hashed")
    vectors = embedding.vectors(texts)
    tree = build_tree(vectors[: 2**14].astype(np.float64), 1024)
    words = sketches_of(vectors)
    frame, _ = read_frame(held)
    draw = _processor(lambda: sparingly.select_pool(scored, 1000, design="pivotal"))
    distinct = _processor(lambda: sparingly.select_pool(held, 1000, design="pivotal", near=0.8))
    seconds = {
        "score": score,
        "near": _processor(lambda: bands_of(texts)),
        "embed": _processor(lambda: embedding.vectors(texts)),
        "sketch": _processor(lambda: sketches_of(vectors)),
        "leaf": _processor(lambda: nearest_leaves(vectors, tree)),
        "select": draw,
        "minhash": distinct - draw,
        "cosine": _processor(lambda: near_vectors(words, lambda rows: vectors[rows], 0.95)),
    }
    return {
        "sources": sources,
        "date": datetime.now(UTC).date().isoformat(),
        "load": os.getloadavg()[0],
        "seconds": {name: taken / len(frame) for name, taken in seconds.items()},
        "bytes": {
            "pool": sum(path.stat().st_size for path in paths) / sources,
            "scored": sum(path.stat().st_size for path in scored.iterdir()) / sources,
            "memory": _memory(folder / "memory", sources),
        },
    }


def _memory(folder: Path, sources: int) -> float:
    """Return the bytes that a further source adds to the peak of a draw, by pools of two sizes."""
    peaks = []
    for count in (sources, 4 * sources):
        write_pool(folder / f"{count}", count, 4)
        sparingly.score_pool(folder / f"{count}", folder / f"{count}-scored")
        options = ("-m", "pivotal", "-b", "1000", "--json")
        peaks.append(watched((*COMMAND, "select", str(folder / f"{count}-scored"), *options)).megabytes)
    return (peaks[1] - peaks[0]) * 1e6 / (3 * sources)


def _processor(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def rates_block(rates: Figures) -> str:
    """Return the measured rates as Markdown."""
    names = {
        "score": "read, check, hash, score with a light model, write",
        "near": "prepare for near duplicates by MinHash (`--near-duplicates`)",
        "embed": "embed (`--embed hashed`)",
        "sketch": "sketches of the vectors",
        "leaf": "the leaf of a source (`--spread embedding`)",
        "select": "the draw, near duplicates apart",
        "minhash": "near duplicates by MinHash (`--near 0.8`)",
        "cosine": "near duplicates by embeddings (`--cosine 0.95`)",
    }
    lines = [["what", "who", "sources a second of one core"], ["---", "---", "---:"]]
    for name, words in names.items():
        who = "the one that draws" if name in ALONE else "16 workers" if name == "cosine" else "workers"
        lines.append([words, who, f"{1 / rates['seconds'][name]:,.0f}"])
    size = rates["bytes"]
    return (
        f"{_table(lines)}\n\nMeasured with {rates['sources']:,} generated sources on {rates['date']}, on two "
        f"cores on which {rates['load']:.0f} other processes were running. A source takes "
        f"{size['pool']:.0f} bytes in the pool's files, {size['scored']:.0f} in the scored ones, "
        f"{BAND_BYTES} more with `--near-duplicates`, {VECTOR_BYTES} more with `--embed hashed`, and "
        f"{size['memory']:.0f} in the memory of the one that draws."
    )


def plans_block(plans: Sequence[Plan], assumed: Assumed) -> str:
    """Return plans as Markdown."""
    heads = ("sources", "workers", "hours to score", "hours to draw", "cost", "disk", "network", "to draw")
    lines = [list(heads), ["---:"] * len(heads)]
    for plan in plans:
        lines.append(
            [
                f"{plan.sources / 1e6:,.0f} M",
                f"{plan.workers}",
                f"{plan.score_hours:.2f}",
                f"{plan.head_hours:.2f}",
                f"{plan.cost:,.2f} $",
                f"{plan.disk / 1e9:,.0f} GB",
                f"{plan.network / 1e9:,.0f} GB, {plan.network / 1e6 / plan.score_hours / 3600:,.0f} MB/s",
                f"{plan.memory / 1e9:,.0f} GB of memory",
            ]
        )
    said = "; ".join(
        f"{sources / 1e6:,.0f} M sources {plan.gpu_hours:,.0f} hours of GPU or "
        f"{plan.gpu_hours * assumed.gpu_price:,.0f} $"
        for sources, plan in {plan.sources: plan for plan in plans}.items()
    )
    return (
        f"{_table(lines)}\n\nAssumed: a worker is one core, at {assumed.price:g} $ an hour, and busy "
        f"{assumed.busy:.0%} of the time; the memory of the machine that draws costs "
        f"{assumed.memory_price:g} $ for a gigabyte and hour. A sentence model in place of the hashed "
        f"embedding takes, at an assumed {assumed.gpu_rate:,.0f} sources a second and "
        f"{assumed.gpu_price:g} $ an hour of a GPU: {said}."
    )


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure where asked, and print the plans."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--measure", type=int, nargs="?", const=200_000, metavar="SOURCES")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench" / "pool-plan")
    parser.add_argument("--sources", type=float)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--docs", action="store_true")
    for name, value in vars(Assumed()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    args = parser.parse_args(arguments)
    if args.measure:
        shutil.rmtree(args.folder, ignore_errors=True)
        args.folder.mkdir(parents=True)
        RESULTS.write_text(json.dumps(measure(args.measure, args.folder), indent=1) + "\n")
        shutil.rmtree(args.folder)
    rates: Figures = json.loads(RESULTS.read_text())
    assumed = Assumed(**{name: getattr(args, name) for name in vars(Assumed())})
    wanted = PLANS if args.sources is None else ((args.sources, args.workers),)
    plans = plans_block([plan_of(rates, sources, workers, assumed) for sources, workers in wanted], assumed)
    blocks = {"pool-rates": rates_block(rates), "pool-plans": plans}
    print("\n\n".join(blocks.values()))
    if args.docs:
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), blocks))


if __name__ == "__main__":
    main()
