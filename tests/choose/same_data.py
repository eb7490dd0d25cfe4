"""A set on a part of whose items all models wrote the same, and are scored the same."""

from __future__ import annotations

import numpy as np

from sparingly.data.evalset import EvalSet

ITEMS, MODELS = 240, 4
SAME = [f"i{place:03d}" for place in range(10, ITEMS, 4)]


def skipping(seed: int = 5, *, documents: bool = False) -> EvalSet:
    """Return the set, judged on every item; where all wrote the same, all have one score."""
    drawn = np.random.default_rng(seed)
    names = [f"i{place:03d}" for place in range(ITEMS)]
    same = np.isin(names, SAME)
    level = 3.0 * drawn.normal(size=(ITEMS, 1))
    human = level + np.where(same[:, None], 0.0, drawn.normal(size=(ITEMS, MODELS)) + np.arange(MODELS) * 0.2)
    metric = human + 0.5 * drawn.normal(size=human.shape)
    metric[same] = metric[same].mean(axis=1, keepdims=True)
    outputs = np.array([[f"{name} by {place}" for place in range(MODELS)] for name in names], object)
    outputs[same] = outputs[same, :1]
    outputs[1] = [None, "x", "x", "x"]
    return EvalSet.from_arrays(
        names,
        [f"m{place}" for place in range(MODELS)],
        metrics={"metric": metric},
        aspects={"human": human},
        outputs=outputs,
        sources=[f"source {name}" for name in names],
        columns={"document": [f"d{place // 4}" for place in range(ITEMS)]} if documents else {},
    )
