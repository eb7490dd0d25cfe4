"""Outputs with a judge's verdicts on all of them and labels on some, for the tests of audits."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparingly
from sparingly.base.arrays import Floats


def judged_outputs(
    seed: int,
    *,
    size: int = 1000,
    labels: int | None = 100,
    pass_rate: float = 0.8,
    sensitivity: float = 0.9,
    specificity: float = 0.6,
    **parts: Any,
) -> sparingly.EvalSet:
    """Return one model's outputs: a metric ``verdict`` on all, an aspect ``ok`` on a uniform sample."""
    random = np.random.default_rng(seed)
    good = random.random(size) < pass_rate
    passed = np.where(good, random.random(size) < sensitivity, random.random(size) > specificity)
    return from_arrays(good, passed, random, labels, **parts)


def from_arrays(
    good: Any, passed: Any, random: np.random.Generator, labels: int | None = None, **parts: Any
) -> sparingly.EvalSet:
    size = len(good)
    human: Floats = np.full(size, np.nan)
    rows = np.arange(size) if labels is None else random.permutation(size)[:labels]
    human[rows] = np.asarray(good, np.float64)[rows]
    return sparingly.EvalSet.from_arrays(
        [f"i{row:05d}" for row in range(size)],
        ["m"],
        aspects={"ok": human[:, None]},
        metrics={"verdict": np.asarray(passed, np.float64)[:, None]},
        **parts,
    )
