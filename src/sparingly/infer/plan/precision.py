"""What so many judged items tell: widths of intervals, differences that show, chances of the right order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.infer.plan.spread import pair_deviations

Floats = NDArray[np.float64]
DRAWS = 4000


@dataclass(frozen=True)
class Precision:
    """What a number of judged items is expected to tell.

    Attributes:
        n: Judged items.
        share: The same as a share of the set.
        half_width: Half the width of the interval of a score of this set, the mean over models.
        detectable: The smallest difference of two models that is found with the asked power, the median pair.
        right_winner: The chance that the model that is best on the whole set comes out as the best.
        right_pairs: The expected share of pairs of models in the right order.
        right_order: The chance that all models come out in the right order.
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


def precision(
    scores: Floats,
    spread: Floats,
    size: int,
    n: int,
    *,
    design_effect: float = 1.0,
    beyond: Floats | None = None,
    level: float = 0.95,
    power: float = 0.8,
    seed: int = 0,
    draws: int = DRAWS,
) -> Precision:
    """Return what n judged items out of ``size`` tell, if scores and spread are as they are thought to be.

    Σ_n = deff·(1 − n/N)·S/n with S the covariance over items of what is left to chance (scores, or residuals
    of a prediction). Half-widths are z·√Σ_jj, the smallest detectable difference (z_level + z_power)·se. The
    chances come from drawing estimates from N(μ, Σ_n): one is right when it orders models as the true scores
    do.

    Args:
        scores: The models' scores as they are thought to be; or draws × models, each row as likely as any
            other (see ``plausible_scores``), where they are in doubt.
        spread: models × models, the covariance over items.
        size: The number N of items.
        n: The number of items to judge.
        design_effect: By how much documents increase the variance, or unequal probabilities reduce it.
        beyond: models × models: what the scores of inputs like these vary beyond those of the set, for the
            smallest detectable difference; nothing (differences on this very set) unless given.
        level: The level of intervals.
        power: The chance with which a difference is to be found.
        seed: Seed of the draws.
        draws: The number of draws, where ``scores`` has none.
    """
    if not 1 <= n <= size:
        raise UsageError(f"A plan for {n} of {size} items cannot be made.")
    covariance = design_effect * (1 - n / size) * np.asarray(spread) / n
    thought = np.asarray(scores, np.float64)
    true = np.broadcast_to(thought, (draws, len(thought))) if thought.ndim == 1 else thought
    winner, pairs, order = _chances(true, covariance, seed)
    return Precision(
        n=n,
        share=n / size,
        half_width=half_width(covariance, level),
        detectable=detectable(covariance if beyond is None else covariance + beyond, level, power),
        right_winner=winner,
        right_pairs=pairs,
        right_order=order,
    )


def half_width(covariance: Floats, level: float) -> float:
    """Return half the width of a score's interval, z·√Σ_jj, the mean over models."""
    from scipy.stats import norm

    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return float(norm.ppf((1 + level) / 2) * errors.mean())


def detectable(covariance: Floats, level: float, power: float) -> float:
    """Return the smallest difference that is found with some power, (z_level + z_power)·se, of a middle pair.

    0 where there is only one model.
    """
    from scipy.stats import norm

    errors = pair_deviations(covariance)
    z = norm.ppf((1 + level) / 2) + norm.ppf(power)
    return float(z * np.median(errors)) if len(errors) else 0.0


def fewest_items(told: Callable[[int], float], wanted: float, size: int) -> int | None:
    """Return the fewest items for which something that falls with them is as small as wanted, or None."""
    if told(size) > wanted:
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if told(middle) <= wanted else (middle, high)
    return high


def _chances(true: Floats, covariance: Floats, seed: int) -> tuple[float, float, float]:
    """Return the chances of the right winner, of a right pair and of the right order (true: draws × models).

    Models that are equal in truth have no right order: such pairs count as right either way.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = true + rng.generator(seed, "plan").standard_normal(true.shape) @ root.T
    first, second = np.triu_indices(true.shape[1], 1)
    right = np.sign(drawn[:, first] - drawn[:, second]) * np.sign(true[:, first] - true[:, second]) >= 0
    best = np.take_along_axis(true, drawn.argmax(axis=1)[:, None], axis=1)[:, 0] == true.max(axis=1)
    return float(best.mean()), float(right.mean()) if right.size else 1.0, float(right.all(axis=1).mean())
