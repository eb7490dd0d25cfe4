"""Small populations and all the samples that can be drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import JudgedSample, sample_from_arrays


def population(items: int = 7, models: int = 3, seed: int = 1) -> Floats:
    """Scores that differ in level, spread and skewness between models."""
    drawn = np.random.default_rng(seed)
    return np.asarray(drawn.exponential(2.0, (items, models)) * [1.0, 2.0, 0.5][:models] + np.arange(models))


def all_samples(scores: Floats, n: int) -> Iterator[Floats]:
    """Yield the scores with NaN on all items but n, for every choice of n."""
    for chosen in combinations(range(len(scores)), n):
        seen = np.full_like(scores, np.nan)
        seen[list(chosen)] = scores[list(chosen)]
        yield seen


def uniform_sample(scores: Floats, rows: list[int]) -> JudgedSample:
    """A uniform sample of some rows."""
    seen = np.full_like(scores, np.nan)
    seen[rows] = scores[rows]
    return sample_from_arrays(seen)
