"""Evaluation sets with judgements of some items, for the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.sample import JudgedSample, sample_from


def judged_set(
    items: int = 120, models: int = 3, *, seed: int = 0, follows: float = 0.8, **columns: Any
) -> EvalSet:
    """A set whose metric ``good`` follows the aspect ``truth``, and ``weak`` hardly does."""
    drawn = np.random.default_rng(seed)
    hard = drawn.normal(size=(items, 1))
    truth = 5.0 + hard + drawn.normal(size=(items, models)) + np.arange(models) / 4
    good = follows * (truth - 5) + (1 - follows) * drawn.normal(size=(items, models))
    weak = drawn.normal(size=(items, models)) + 0.05 * truth
    return EvalSet.from_arrays(
        [f"item {place:03d}" for place in range(items)],
        [f"model {place}" for place in range(models)],
        metrics={"good": good, "weak": weak},
        aspects={"truth": truth},
        columns=columns,
    )


def with_judged(data: EvalSet, rows: Any) -> tuple[EvalSet, JudgedSample]:
    """The set with the aspect ``seen`` on some rows, and the sample that these are."""
    kept = np.zeros(len(data), bool)
    kept[rows] = True
    seen = np.where(kept[:, None], data.aspects["truth"], np.nan)
    judged = data.with_aspect("seen", seen)
    return judged, sample_from(judged, judged.aspects["seen"], None)


def some_rows(data: EvalSet, n: int, seed: int = 0) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(seed).permutation(len(data))[:n])
