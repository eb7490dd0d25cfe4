"""How long strengths take from many votes, beside ``choix`` in the same run.

    python -m venv choix && choix/bin/pip install choix
    python -m benchmarks.pairs_speed --choix choix/bin/python

Ours: strengths with intervals, clustered by item, from an evaluation set. ``choix``: point estimates by
``ilsr_pairwise`` and ``opt_pairwise`` from the same wins (there are no ties).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.estimate.bradley_terry import bradley_terry

CHOIX = """
import json, sys, time, numpy, choix
wins = numpy.load(sys.argv[1])
pairs, models, found = [tuple(row) for row in wins.tolist()], int(sys.argv[2]), {}
for name in ("ilsr_pairwise", "opt_pairwise"):
    start = time.perf_counter()
    strengths = getattr(choix, name)(models, pairs, alpha=1e-6)
    found[name] = [time.perf_counter() - start, (strengths - strengths.mean()).tolist()]
print(json.dumps(found))
"""


def votes(count: int, models: int, items: int) -> tuple[EvalSet, np.ndarray]:
    """Return an evaluation set with so many votes of a Bradley–Terry model, and the wins as pairs."""
    random = np.random.default_rng(0)
    strengths = random.normal(size=models)
    first = random.integers(models, size=count)
    second = (first + random.integers(1, models, size=count)) % models
    won = random.random(count) < 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
    none = np.full(count, -1, np.int32)
    table = Preferences(
        item=random.integers(items, size=count).astype(np.int32),
        first=first.astype(np.int32),
        second=second.astype(np.int32),
        value=np.where(won, 1.0, -1.0),
        rater=none,
        aspect=none,
        seconds=np.full(count, np.nan),
    )
    names = [f"model {place:03d}" for place in range(models)]
    data = EvalSet.from_arrays([f"item {place:06d}" for place in range(items)], names, preferences=table)
    return data, np.where(won[:, None], np.column_stack([first, second]), np.column_stack([second, first]))


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--choix", help="a Python that has choix")
    options = parser.parse_args()
    data, wins = votes(options.votes, options.models, options.items)
    start = time.perf_counter()
    found = bradley_terry(data)
    print(
        f"{options.votes:,} votes of {options.models} models on {options.items:,} items: "
        f"ours, with intervals, {time.perf_counter() - start:.2f} s"
    )
    if options.choix is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wins.npy"
        np.save(path, wins)
        command = [options.choix, "-c", CHOIX, str(path), str(options.models)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for name, (seconds, strengths) in json.loads(answer.stdout).items():
        apart = float(np.abs(np.array(strengths) - found.strengths).max())
        print(
            f"choix {name}, without intervals: {seconds:.2f} s, largest difference of a strength {apart:.1e}"
        )


if __name__ == "__main__":
    main()
