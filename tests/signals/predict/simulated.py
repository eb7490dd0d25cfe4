"""Small sets whose human scores follow their metrics, and labels of some of their items."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet


def scored(items: int = 40, models: int = 3, seed: int = 0, noise: float = 0.5) -> tuple[EvalSet, Floats]:
    """Return a set with three metrics and texts, and the human scores of everything."""
    draw = np.random.default_rng(seed)
    hardness = draw.normal(size=(items, 1))
    quality = hardness + draw.normal(size=(items, models)) + np.linspace(0.0, 2.0, models)
    metrics = {name: quality + draw.normal(scale=1.0, size=quality.shape) for name in ("COMET", "chrF")}
    metrics["noise"] = draw.normal(size=quality.shape)
    lengths = draw.integers(3, 30, size=(items, models + 1))
    texts = np.array([["w " * length for length in row] for row in lengths.tolist()], object)
    data = EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(items)],
        [f"m{place}" for place in range(models)],
        metrics=metrics,
        sources=texts[:, 0].tolist(),
        outputs=texts[:, 1:].tolist(),
    )
    return data, quality + draw.normal(scale=noise, size=quality.shape)


def labels_of(scores: Floats, rows: Any) -> Floats:
    """Return the scores of some items, NaN elsewhere."""
    labels = np.full(scores.shape, np.nan)
    labels[rows] = scores[rows]
    return labels
