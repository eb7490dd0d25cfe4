"""What so many judged items tell: widths of intervals, differences that show, chances of the right order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats


@dataclass(frozen=True)
class Precision:
    """What a number of judged items is expected to tell.

    Attributes:
        n: Judged items.
        share: The same as a share of the set.
        half_width: Half the width of the interval of a score of this set, of a middle model; NaN where no
            interval would be printed.
        detectable: The smallest difference of two models that is significant with the power, corrected for
            all pairs, of a middle pair; NaN where none can be, and with one model.
        right_winner: The probability that the model that is best on the whole set comes out as the best.
        right_pairs: The expected share of pairs of models in the right order.
        right_order: The probability that all models come out in the right order.
        hours: Hours of judging; None where no time is known.
    """

    n: int
    share: float
    half_width: float
    detectable: float
    right_winner: float
    right_pairs: float
    right_order: float
    hours: float | None = None


def fewest_items(told: Callable[[int], float], wanted: float, size: int) -> int | None:
    """Return the fewest items for which something that falls with them is as small as wanted, or None."""
    if told(size) > wanted:
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if told(middle) <= wanted else (middle, high)
    return high


def order_chances(true: Floats, covariance: Floats, seed: int) -> tuple[float, float, float]:
    """Return the chances of the right winner, of a right pair and of the right order.

    Estimates are drawn from N(μ, Σ) around the true scores (draws × models); one is right when it orders
    models as they do. Models that are equal in truth have no right order: such pairs count as right.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = true + rng.generator(seed, "plan").standard_normal(true.shape) @ root.T
    first, second = np.triu_indices(true.shape[1], 1)
    right = np.sign(drawn[:, first] - drawn[:, second]) * np.sign(true[:, first] - true[:, second]) >= 0
    best = np.take_along_axis(true, drawn.argmax(axis=1)[:, None], axis=1)[:, 0] == true.max(axis=1)
    return float(best.mean()), float(right.mean()) if right.size else 1.0, float(right.all(axis=1).mean())
