"""A lean ridge for simulations: what ``sparingly.run.rounds.learning`` learns, from prepared arrays.

Scores and the sizes of residuals are learned from the same features, so one decomposition per fold serves
both. The penalty is the one with the least held-out loss, infinite (means only) among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Mask
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.learning import FEWEST, supported_tau
from sparingly.signals.predict.features import Features, prepare_features

FOLDS = 5
PENALTIES = np.array([0.003, 0.03, 0.3, 1.0, 3.0, 30.0, np.inf])


def features_of(data: EvalSet) -> Floats | None:
    """Return items × models × features, scaled; None where there are no metrics."""
    if not len(data.metrics):
        return None
    table = prepare_features(data, Features())
    return np.asarray(table.at(np.arange(len(data))) * table.scales)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What some labels teach: predictions, expected sizes of residuals, and the share of chances by them."""

    predicted: Floats
    sizes: Floats
    tau: float


def teach(x: Floats | None, labels: Floats, stands: Floats, going: Mask, seed: int) -> Lesson:
    """Learn from labels (items × models, NaN without one)."""
    there = ~np.isnan(labels)
    means = np.where(there, labels, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    flat = Lesson(np.broadcast_to(means, labels.shape), np.ones(len(labels)), 0.0)
    rows = np.flatnonzero(there.any(axis=1))
    if x is None or len(rows) < FEWEST:
        return flat
    fold = np.random.default_rng([seed, len(rows)]).permutation(len(rows)) % FOLDS
    problem = RidgeProblem(x, rows, there[rows], fold)
    predicted, held_out = problem.solve(labels[rows])
    residual = np.where(there[rows], labels[rows] - held_out, np.nan)
    whole = predicted.copy()
    whole[rows] = held_out
    inside = residual[:, going]
    sizes = np.full(residual.shape, np.nan)
    sizes[:, going] = np.abs(inside - np.nanmean(inside, axis=1, keepdims=True))
    expected, held = problem.solve(sizes)
    least = 0.1 * float(np.nanmean(sizes))
    told, own_told = (np.maximum(part[:, going], least) for part in (expected, held))
    of_item = np.sqrt((told**2).sum(axis=1))
    known = ~np.isnan(inside).any(axis=1)
    own = (sizes[:, going] ** 2).sum(axis=1)[known] * stands[rows][known]
    even = np.sqrt((own_told**2).sum(axis=1))[known]
    return Lesson(whole, of_item, supported_tau(own, even / max(float(even.mean()), 1e-300)))


class RidgeProblem:
    """Ridge regressions on the same cells, decomposed once for every fold."""

    def __init__(self, x: Floats, rows: NDArray[np.int64], there: Mask, fold: NDArray[np.int64]) -> None:
        self.x, self.rows, self.there, self.fold = x, rows, there, fold
        inside = x[rows] * there[:, :, None]
        self.count = np.maximum(there.sum(axis=0), 1)
        self.centre = inside.sum(axis=0) / self.count[:, None]
        self.seen = (x[rows] - self.centre) * there[:, :, None]
        blocks = [self.seen[fold == number].reshape(-1, x.shape[2]) for number in range(FOLDS)]
        squares = [block.T @ block for block in blocks]
        total = np.sum(squares, axis=0)
        self.parts = [np.linalg.eigh(total - own) for own in squares] + [np.linalg.eigh(total)]
        self.scale = float(np.trace(total)) / x.shape[2]

    def solve(self, labels: Floats) -> tuple[Floats, Floats]:
        """Return predictions of all items, and held-out ones of the labelled items."""
        there = self.there & ~np.isnan(labels)
        known = np.where(there, labels, 0.0)
        mean = known.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        y = np.where(there, labels - mean, 0.0)
        pulls = [
            np.einsum("ijk,ij->k", self.seen[self.fold == number], y[self.fold == number])
            for number in range(FOLDS)
        ]
        total = np.sum(pulls, axis=0)
        tried = np.zeros((len(PENALTIES), *y.shape))
        for number in range(FOLDS):
            mine = self.fold == number
            slopes = self._slopes(number, total - pulls[number])
            tried[:, mine] = np.einsum("ijk,pk->pij", self.seen[mine], slopes)
        loss = np.where(there, (y - tried) ** 2, 0.0).sum(axis=(1, 2))
        best = int(np.argmin(loss))
        slope = self._slopes(FOLDS, total)[best]
        return (self.x - self.centre) @ slope + mean, tried[best] + mean

    def _slopes(self, part: int, pull: Floats) -> Floats:
        values, vectors = self.parts[part]
        turned = vectors.T @ pull
        weights = np.where(
            np.isinf(PENALTIES)[:, None],
            0.0,
            turned
            / (np.maximum(values, 0.0) + np.where(np.isinf(PENALTIES), 1.0, PENALTIES)[:, None] * self.scale),
        )
        return np.asarray(weights @ vectors.T)
