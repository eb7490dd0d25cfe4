"""Made sets with a pilot, for plans."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection


def made_set(
    items: int = 400, models: int = 4, *, seed: int = 0, noise: float = 1.0, apart: float = 0.3, **parts: Any
) -> EvalSet:
    """A set whose metric ``good`` misses the aspect ``people`` by ``noise``; ``weak`` has nothing of it."""
    drawn = np.random.default_rng(seed)
    hard = drawn.normal(size=(items, 1))
    good = hard + drawn.normal(size=(items, models))
    people = good + noise * drawn.normal(size=(items, models)) + apart * np.arange(models)
    return EvalSet.from_arrays(
        [f"item {place:04d}" for place in range(items)],
        [f"model {place}" for place in range(models)],
        metrics={"good": good, "weak": drawn.normal(size=(items, models))},
        aspects={"people": people},
        **parts,
    )


def uneven_set(items: int = 600, models: int = 5, *, seed: int = 0) -> EvalSet:
    """A set on which residuals are large where the metric ``good`` is low, as with error scores."""
    drawn = np.random.default_rng(seed)
    hard = drawn.gamma(1.0, size=(items, 1))
    good = -hard * (1 + 0.3 * drawn.normal(size=(items, models))) - 0.2 * drawn.random((items, models))
    people = good * (1 + 0.8 * drawn.normal(size=(items, models))) + 0.2 * np.arange(models)
    return EvalSet.from_arrays(
        [f"item {place:04d}" for place in range(items)],
        [f"model {place}" for place in range(models)],
        metrics={"good": good},
        aspects={"people": people},
    )


def drawn_pilot(data: EvalSet, n: int, seed: int = 0) -> Selection:
    return sparingly.select(data, "uniform", n, seed=seed)
