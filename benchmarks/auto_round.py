"""How long a round of ``auto`` takes on a large set, and how much memory: items × 14 models, 4 metrics.

    python -m benchmarks.auto_round                       25,000, 50,000 and 100,000 items
    python -m benchmarks.auto_round --items 100000

Seconds are those of one core. A round is the choice of the next items after 1,000 were judged; *first* has to
make the order of all items, *next* finds it made. *Estimate* and *expect* are what is looked at after it.
Every size runs in a process of its own; memory is its peak above what the set itself takes.
"""

from __future__ import annotations

import argparse
import resource
import sys
from multiprocessing import get_context
from time import process_time

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round, state_of

MODELS, METRICS, JUDGED = 14, 4, 1000


def made(items: int) -> EvalSet:
    """Return a set with metrics that follow the scores, and documents of ten items."""
    draw = np.random.default_rng(0)
    shape = (items, MODELS)
    scores = np.linspace(0.0, 0.5, MODELS) + draw.normal(size=(items, 1)) + draw.normal(size=shape)
    return EvalSet.from_arrays(
        [f"item-{row:07d}" for row in range(items)],
        [f"model-{place:02d}" for place in range(MODELS)],
        metrics={f"metric-{number}": scores + 2.0 * draw.normal(size=shape) for number in range(METRICS)},
        aspects={"quality": scores},
        columns={"document": [f"document-{row // 10:06d}" for row in range(items)]},
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measured(items: int) -> dict[str, float]:
    """Return seconds and megabytes for a set of this size."""
    data = made(items)
    before, start = _peak(), process_time()
    first = next_round(data, "auto", 5 * JUDGED, size=JUDGED)
    seconds = {"first": process_time() - start}
    assert isinstance(first, Selection)
    start = process_time()
    next_round(data, "auto", 5 * JUDGED, size=JUDGED, rounds=[first])
    seconds["next"] = process_time() - start
    state, strategy = state_of(data, "auto", 5 * JUDGED, size=JUDGED, rounds=[first])
    start = process_time()
    strategy.estimate(state)
    seconds["estimate"] = process_time() - start
    start = process_time()
    strategy.expected(state)
    seconds["expect"] = process_time() - start
    return {**seconds, "memory": _peak() - before}


def main(arguments: list[str] | None = None) -> int:
    """Print a row for every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    args = parser.parse_args(arguments)
    print(f"| items × {MODELS} | first, s | next, s | estimate, s | expect, s | memory, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for items in args.items:
        with get_context("spawn").Pool(1) as pool:
            row = pool.apply(measured, (items,))
        times = " | ".join(f"{row[name]:.1f}" for name in ("first", "next", "estimate", "expect"))
        print(f"| {items:,} | {times} | {row['memory']:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
