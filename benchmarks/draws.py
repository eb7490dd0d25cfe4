"""Draw from 1 000 000 items by the pivotal method and from 100 000 by the local pivotal and the cube method.

Each draw runs in a process of its own, on one thread, with unequal probabilities and a tenth of the items.
Memory is the most that the process has held, data and inclusion probabilities included. Run
``.venv/bin/python -m benchmarks.draws``
(``--scale 0.01`` for a hundredth of the items).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.data import SEED
from benchmarks.peers.timing import peak_megabytes
from sparingly.base.arrays import Floats
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal, draw_pivotal, draw_systematic
from sparingly.choose.design.probability import inclusion_probabilities

Draw = Callable[[Floats, Floats, Floats, np.random.Generator], NDArray[np.bool_]]


class Case(NamedTuple):
    """A draw with its size, the columns that it needs, and the seconds that it may take."""

    items: int
    columns: int
    wanted: float | None
    draw: Draw


CASES: dict[str, Case] = {
    "systematic": Case(1_000_000, 0, None, lambda chances, _, __, g: draw_systematic(chances, g)),
    "pivotal": Case(1_000_000, 0, 5.0, lambda chances, _, __, g: draw_pivotal(chances, g)),
    "local pivotal, 2 dimensions": Case(
        100_000, 2, 30.0, lambda chances, points, _, g: draw_local_pivotal(chances, points, g)
    ),
    "local pivotal, 5 dimensions": Case(
        100_000, 5, 30.0, lambda chances, points, _, g: draw_local_pivotal(chances, points, g)
    ),
    "local pivotal, 5 dimensions, costs": Case(
        100_000, 5, 30.0, lambda chances, points, costs, g: draw_local_pivotal(chances, points, g, costs)
    ),
    "cube, 20 variables": Case(
        100_000, 20, 60.0, lambda chances, variables, _, g: draw_cube(chances, variables, g)
    ),
    "cube, 20 variables and costs": Case(
        100_000, 20, 60.0, lambda chances, variables, costs, g: draw_cube(chances, variables, g, costs)
    ),
    "cube, 20 variables, a million": Case(
        1_000_000, 20, None, lambda chances, variables, _, g: draw_cube(chances, variables, g)
    ),
}


def measure(name: str, scale: float) -> None:
    """Make the data, draw once, and print what it took; runs in its own process."""
    case = CASES[name]
    items = max(1000, int(case.items * scale))
    generator = np.random.default_rng([SEED, items])
    chances = inclusion_probabilities(generator.gamma(2.0, size=items), items // 10, tau=0.5)
    columns, costs = generator.normal(size=(items, case.columns)) + 3.0, generator.gamma(2.0, size=items)
    # A small draw first, so that what it imports is not measured.
    small = inclusion_probabilities(np.ones(50), 5, tau=0.0)
    case.draw(small, columns[:50], costs[:50], generator)
    wall, cpu = time.perf_counter(), time.process_time()
    taken = case.draw(chances, columns, costs, generator)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    assert taken.sum() == items // 10
    off = np.abs((columns[taken] / chances[taken, None]).sum(axis=0) / columns.sum(axis=0) - 1)
    error = float(off.max()) if "cube" in name else None
    print(json.dumps({**took, "peak_mb": peak_megabytes(), "items": items, "error": error}))


def in_process(name: str, scale: float) -> Any:
    """Measure one draw in a fresh process on one thread."""
    command = [sys.executable, "-m", "benchmarks.draws", "--part", name, "--scale", str(scale)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout)


def compare(scale: float) -> bool:
    """Print the table; return whether every draw kept its time."""
    print("| draw | items | seconds | CPU seconds | wanted | peak memory | totals off by at most |")
    print("|---|---|---|---|---|---|---|")
    kept = True
    for name, case in CASES.items():
        found = in_process(name, scale)
        wanted = "–" if case.wanted is None else f"{case.wanted:g} s"
        error = "–" if found["error"] is None else f"{found['error']:.2%}"
        kept &= case.wanted is None or found["cpu"] <= case.wanted
        print(
            f"| {name} | {found['items']:_} | {found['wall']:.2f} | {found['cpu']:.2f} | {wanted} "
            f"| {found['peak_mb']:.0f} MB | {error} |".replace("_", " "),
            flush=True,
        )
    return kept


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.part:
        measure(chosen.part, chosen.scale)
    elif not compare(chosen.scale):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
