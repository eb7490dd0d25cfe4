"""Scores as model effect + item effect: a fit that uses items on which only some models were judged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Mask

# No variance of items is taken for smaller than this share of the variance within them.
_LEAST = 1e-6


class Effects(NamedTuple):
    """What is left of the scores, told apart.

    Attributes:
        centre: The mean of all labels.
        models: What each model adds to it.
        items: What each item adds, shrunk by how few models were judged on it.
    """

    centre: float
    models: Floats
    items: Floats


def item_share(residual: Floats, judged: Mask) -> float:
    """Return κ = σ_a²/σ_e²: how much items vary beside the noise within them (analysis of variance).

    Only items on which two models or more were judged tell; without any, items are taken not to vary.
    """
    counts = judged.sum(axis=1)
    several = counts >= 2
    if not several.any():
        return _LEAST
    some, there = residual[several], judged[several]
    means = np.where(there, some, 0.0).sum(axis=1) / counts[several]
    inside = float((np.where(there, some - means[:, None], 0.0) ** 2).sum())
    noise = inside / float((counts[several] - 1).sum())
    between = float((means**2).mean()) - noise / float(counts[several].mean())
    return max(between / noise, _LEAST) if noise > 0 else _LEAST


def fit_effects(scores: Floats, judged: Mask, share: float) -> Effects:
    """Fit y_ij = c + u_j + a_i + e_ij with a_i ~ N(0, κ σ_e²) by the mixed-model equations.

    With q_i = κ/(1 + m_i κ) for an item with m_i labels, models solve
    (diag(n_j) − Σ_i q_i o_i o_iᵀ) u = b; then â_i = q_i Σ_j (y_ij − c − u_j). Where all models were judged on
    the same items, u_j are plain means.
    """
    there = judged.astype(np.float64)
    counts = there.sum(axis=1)
    known = np.where(judged, scores, 0.0)
    centre = float(known.sum() / max(counts.sum(), 1.0))
    away = np.where(judged, scores - centre, 0.0)
    pull = share / (1.0 + counts * share)
    left = np.diag(there.sum(axis=0) + _LEAST) - there.T @ (there * pull[:, None])
    right = away.sum(axis=0) - there.T @ (pull * away.sum(axis=1))
    models = np.linalg.solve(left, right)
    return Effects(centre, models, np.asarray(pull * (away - there * models).sum(axis=1)))
