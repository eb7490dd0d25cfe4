"""The data of the benchmarks: made once from a seed, written for both sides.

A metric that follows the human score of 14 models, costs that follow the length of a source, no texts. The
peer gets its own JSON Lines, we get the same numbers as arrays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

MODELS = 14
SEED = 20261115
# Spread of the metric's own noise. Within an item, metric and human score then correlate by about 0.5 (as
# good metrics do on public sets) and 0.75.
USUAL, STRONG = 1.5, 0.8


def arrays(items: int, noise: float = USUAL) -> Arrays:
    """Return human scores, a metric (items × models) and the cost of every item."""
    draw = np.random.default_rng([SEED, items])
    ability = np.linspace(0.0, 0.6, MODELS)
    difficulty = draw.normal(size=(items, 1))
    quality = ability - difficulty + draw.normal(scale=0.9, size=(items, MODELS))
    human = np.round(np.clip(70.0 + 10.0 * quality, 0.0, 100.0), 1)
    metric = quality + draw.normal(scale=noise, size=(items, MODELS))
    words = np.clip(draw.lognormal(3.1, 0.6, items).astype(np.int64), 1, 250)
    return {"human": human, "metric": metric, "cost": 0.15 * words + 33.7}


def item_ids(items: int) -> list[str]:
    """Return ids whose order as text is their order in the file."""
    return [f"item-{number:07d}" for number in range(items)]


def model_ids() -> list[str]:
    """Return the ids of the models."""
    return [f"model-{number:02d}" for number in range(MODELS)]


def prepared(folder: Path, items: int, noise: float, *, for_peer: bool) -> tuple[Path, Path]:
    """Return the paths of our arrays and of the peer's file, written where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    ours, theirs = (folder / f"data-{SEED}-{items}-{noise}.{ending}" for ending in ("npz", "jsonl"))
    made = None
    if not ours.exists():
        made = arrays(items, noise)
        partial = ours.with_name(f"{ours.stem}-part.npz")
        np.savez(partial, human=made["human"], metric=made["metric"], cost=made["cost"])
        partial.rename(ours)
    if for_peer and not theirs.exists():
        partial = theirs.with_suffix(".part")
        _write_peer(partial, made or arrays(items, noise))
        partial.rename(theirs)
    return ours, theirs


def _write_peer(path: Path, made: Arrays) -> None:
    names, models = item_ids(len(made["cost"])), model_ids()
    with path.open("w", encoding="utf-8") as file:
        for row, name in enumerate(names):
            pairs = zip(models, made["human"][row].tolist(), made["metric"][row].tolist(), strict=True)
            line = {
                "i": name,
                "cost": float(made["cost"][row]),
                "scores": {model: {"human": human, "metric": metric} for model, human, metric in pairs},
            }
            file.write(json.dumps(line) + "\n")
