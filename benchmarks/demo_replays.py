"""How close half of the demo's labels come to all of them: the mean of many replays, which the demo prints.

``python -m benchmarks.demo_replays`` writes ``src/sparingly/data/demo/replays.json``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices

COMMAND = "python -m benchmarks.demo_replays"
BUDGET, RUNS, SHOWN = "50%", 1000, 3
# The way of the demo, and a random half with plain means.
WAYS = {"sparingly": (None, None), "random": ("random", "weighted_mean")}
# Of one replay: is the best model that of the full set, the share of pairs in the full set's order, the mean
# absolute error of the scores, and the share of the 95 % intervals that hold the full set's score.
MEASURES = ("best", "pairs", "error", "held")
OUT = Path(__file__).resolve().parent.parent / "src" / "sparingly" / "data" / "demo" / "replays.json"


def replay(way: str, seed: int) -> tuple[float, ...]:
    """Choose, reveal the labels of what was chosen, estimate, and compare with all labels."""
    data = sparingly.load_demo()
    method, estimator = WAYS[way]
    chosen = sparingly.select(data.without_labels(), method, BUDGET, seed=seed)
    found = sparingly.estimate(data, chosen, estimator=estimator, seed=seed)
    full: Floats = data.aspects["mqm"].mean(axis=0)
    first, second = pair_indices(len(full))
    right = np.sign(full[first] - full[second]) == np.sign(found.scores[first] - found.scores[second])
    held = (found.low <= full) & (full <= found.high)
    best = float(found.scores.argmax() == full.argmax())
    return best, float(right.mean()), float(np.abs(found.scores - full).mean()), float(held.mean())


def main() -> None:
    """Play all replays and write their means, with the first of them for whoever checks."""
    played = {way: np.array([replay(way, seed) for seed in range(RUNS)]) for way in WAYS}
    said = {
        "command": COMMAND,
        "date": datetime.now(UTC).date().isoformat(),
        "data": sparingly.load_demo().digest(),
        "version": sparingly.__version__,
        "budget": BUDGET,
        "runs": RUNS,
        "means": {
            way: dict(zip(MEASURES, runs.mean(axis=0).tolist(), strict=True)) for way, runs in played.items()
        },
        "first": {way: runs[:SHOWN].tolist() for way, runs in played.items()},
    }
    OUT.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
