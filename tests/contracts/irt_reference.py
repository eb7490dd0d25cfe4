"""Item response theory in plain words: one item at a time, with a general optimiser."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from sparingly.base.arrays import Floats

# The priors of the continuous form, as they are documented.
DISCRIMINATION, LOGIT, NOISE, NOISE_WEIGHT = (1.0, 0.75), (2.5, 1.0), 0.1, 2.0


def item_losses(items: Floats, rows: Floats, ability: Floats, noise: float) -> Floats:
    """Minus the log posterior of every item, items x (a, b, logit c), at given abilities."""
    slope, difficulty, logit = items.T
    curve = expit(logit)[:, None] * expit(slope[:, None] * (ability - difficulty[:, None]))
    prior = ((slope - DISCRIMINATION[0]) / DISCRIMINATION[1]) ** 2 + difficulty**2
    prior += ((logit - LOGIT[0]) / LOGIT[1]) ** 2
    return np.asarray(0.5 * prior + 0.5 * np.nansum((rows - curve) ** 2, axis=1) / noise**2)


def item_loss(item: Floats, row: Floats, ability: Floats, noise: float) -> float:
    """Minus the log posterior of one item."""
    return float(item_losses(item[None], row[None], ability, noise)[0])


def whole_loss(vector: Floats, rows: Floats) -> float:
    """Minus the log posterior of all items, abilities and the logarithm of the noise."""
    count, models = rows.shape
    ability, noise = vector[-models - 1 : -1], float(np.exp(vector[-1]))
    losses = item_losses(vector[: 3 * count].reshape(count, 3), rows, ability, noise)
    known = np.sum(~np.isnan(rows)) + NOISE_WEIGHT
    shared = known * np.log(noise) + 0.5 * NOISE_WEIGHT * (NOISE / noise) ** 2
    return float(losses.sum() + 0.5 * ability @ ability + shared)


def best_item(row: Floats, ability: Floats, noise: float, now: Floats) -> Floats:
    """Fit one item from where it is and from a rising and a falling curve, and keep the best."""
    starts = [now, np.array([1.0, 0.0, 2.5]), np.array([-0.5, 0.0, 2.5]), np.array([-0.5, 1.0, 2.5])]
    found = [minimize(item_loss, start, args=(row, ability, noise), method="BFGS") for start in starts]
    return np.asarray(min(found, key=lambda result: float(result.fun)).x)


def diffdisc(matrix: Sequence[Sequence[float]]) -> list[float]:
    """Return a·b of every item at the highest posterior density: items, then abilities, again and again."""
    scores = np.array(matrix)
    scored = ~np.isnan(scores).all(axis=1)
    low, high = np.nanmin(scores), np.nanmax(scores)
    rows = (scores[scored] - low) / (high - low)
    ability, noise = np.nanmean(rows, axis=0) - np.nanmean(rows), 0.2
    items = np.tile([1.0, 0.0, 2.5], (len(rows), 1))
    for _ in range(2):
        items = np.array([best_item(row, ability, noise, now) for row, now in zip(rows, items, strict=True)])
        start = np.concatenate([items.ravel(), ability, [np.log(noise)]])
        found = minimize(whole_loss, start, args=(rows,), method="L-BFGS-B")
        items = found.x[: items.size].reshape(items.shape)
        ability, noise = found.x[items.size : -1], float(np.exp(found.x[-1]))
    result = np.full(len(scores), np.nan)
    result[scored] = items[:, 0] * items[:, 1]
    return result.tolist()
