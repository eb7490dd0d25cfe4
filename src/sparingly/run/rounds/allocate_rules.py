"""How much effort every model gets: shares of a wave's items, by what is still undecided."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.infer.rank.pair_errors import pair_errors
from sparingly.run.rounds.stop.critical import Question
from sparingly.run.rounds.stop.settled import Look, Settled

Rule = Literal["elimination", "rank_weighted", "movable"]


def going_on(found: Settled, judged: Mask, question: Question) -> Mask:
    """Return the models that are still judged: those in reach of the best, or with a pair to settle.

    A model that was left out stays out: ``judged`` are those of the last round.
    """
    wanted = found.candidates if question == "best" else found.open.any(axis=1)
    return np.asarray(wanted & judged)


def rank_weights(look: Look, question: Question) -> Floats:
    """Return 1/rank for every model.

    Ranks are those of the scores for the best model; to rank all, those of how near the nearest other model
    lies, in standard errors.
    """
    if question == "best":
        order = np.argsort(-look.scores, kind="stable")
    else:
        z = _z_values(look)
        np.fill_diagonal(z, np.inf)
        order = np.argsort(z.min(axis=1), kind="stable")
    weights = np.empty(len(order))
    weights[order] = 1.0 / np.arange(1, len(order) + 1)
    return weights


def movable_weights(look: Look, deviations: Floats, size: int, question: Question) -> Floats:
    """Return how far the p-values that judging everything would give can still move, the largest as 1.

    z_full = d̂·√N/s_d is known up to δ = se·√N/s_d (se over this very set), so p = Φ(−z_full) can still move
    by Φ(z_full + δ) − Φ(z_full − δ). To rank all, a model counts by the sum over its pairs; for the best
    model, by its pair with the leader, and the leader by the largest of them.

    Args:
        look: What is known, over this very set.
        deviations: models × models: the standard deviation of differences over the items.
        size: The number of items of the set.
        question: Whether all pairs are to be told apart, or the best model found.
    """
    from scipy.special import ndtr

    scale = np.divide(np.sqrt(size), deviations, out=np.zeros_like(deviations), where=deviations > 0)
    z = (look.scores[:, None] - look.scores) * scale
    room = pair_errors(look.covariance) * scale
    moves = ndtr(z + room) - ndtr(z - room)
    np.fill_diagonal(moves, 0.0)
    if question == "all":
        weights = moves.sum(axis=1)
    else:
        leader = int(np.argmax(look.scores))
        weights = moves[leader].copy()
        weights[leader] = weights.max()
    most = float(weights.max())
    return np.asarray(weights / most) if most > 0 else np.ones(len(weights))


def pair_deviations(labels: Floats) -> Floats:
    """Return the standard deviation of every pair's differences over the items on which both were judged."""
    models = labels.shape[1]
    found = np.zeros((models, models))
    for first in range(models):
        apart = labels[:, [first]] - labels
        there = ~np.isnan(apart)
        count = there.sum(axis=0)
        mean = np.where(there, apart, 0.0).sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(there, apart - mean, 0.0) ** 2).sum(axis=0)
        found[first] = np.sqrt(squares / np.maximum(count - 1, 1))
    return found


def counts_of(weights: Floats, cells: int, open_items: Floats, floor: float) -> Floats:
    """Return how many items every model is judged on, by its weight, so that ``cells`` are asked for.

    The largest weight counts as 1 and none less than ``floor``; no model gets more than its open items, and
    what it cannot take goes to the others.
    """
    share = np.maximum(weights / max(float(weights.max()), 1e-300), floor)
    low, high = 0.0, float(cells) / float(share.min()) + 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.minimum(share * middle, open_items).sum() <= cells else (low, middle)
    return np.floor(np.minimum(share * low, open_items) + 1e-9)


def _z_values(look: Look) -> Floats:
    errors = pair_errors(look.covariance)
    apart = np.abs(look.scores[:, None] - look.scores)
    return np.asarray(np.divide(apart, errors, out=np.full_like(apart, np.inf), where=errors > 0))
