"""A set in which a column of metrics tells how far predictions miss, judged on a pilot only."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet

ITEMS, MODELS = 300, 6


def true_spread() -> Floats:
    """How far the human scores of each item lie from what the metric says."""
    return np.asarray(0.15 + 1.5 * np.random.default_rng(3).random(ITEMS) ** 2)


def piloted(count: int = 80, *, telling: bool = True, known: bool = True) -> EvalSet:
    """Return the set with ``count`` judged items.

    ``known``: there is a metric of the spread. ``telling``: the other metric follows the human scores.
    """
    drawn = np.random.default_rng(4)
    quality = drawn.normal(size=(ITEMS, MODELS))
    human = quality + true_spread()[:, None] * drawn.normal(size=quality.shape)
    judged = np.zeros(ITEMS, bool)
    judged[drawn.permutation(ITEMS)[:count]] = True
    quality = quality if telling else drawn.normal(size=quality.shape)
    doubt = np.repeat(true_spread()[:, None], MODELS, axis=1)
    return EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(ITEMS)],
        [f"m{place}" for place in range(MODELS)],
        metrics={"quality": quality, **({"doubt": doubt} if known else {})},
        aspects={"human": np.where(judged[:, None], human, np.nan)},
        columns={"chance": [count / ITEMS] * ITEMS, "weight": [1.0 + place % 2 for place in range(ITEMS)]},
    )
