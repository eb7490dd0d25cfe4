"""``facility_location``: items such that every other item has a chosen one near it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.progress import tracked
from sparingly.base.registry import parameter, register
from sparingly.base.rng import Keys
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector
from sparingly.choose.design.variables import Space
from sparingly.data.evalset import EvalSet
from sparingly.published.anchor_points import settled_metrics, space_fields, space_points
from sparingly.signals.embed.evalset import EMBEDDING_HELP

_BLOCK_CELLS = 1 << 22
# How many points are looked at again at first; twice as many at every further try.
_FEW_POINTS = 8
# Gains that differ by less than this share of the largest possible value are equal.
_EQUAL = 1e-9


def greedy_cover(points: Floats, count: int, ties: Keys) -> tuple[Ints, Floats]:
    """Return points in the order in which they add most to f, and what each of them adds.

    f(S) = Σ_i max_{s∈S} (1 − ‖x_i − x_s‖²/C), where no squared distance exceeds C. For vectors of length 1
    that is the cosine, scaled. f is submodular: a gain can only shrink as S grows, so an old gain bounds a
    new one, and few are computed again at every step (Minoux 1978). Of equal gains the one with the lowest
    tie comes first.
    """
    order, gains = np.empty(count, np.int64), np.zeros(count)
    if not count:
        return order, gains
    centred = points - points.mean(axis=0)
    squares = np.einsum("ij,ij->i", centred, centred)
    farthest = 4.0 * float(squares.max())
    scale = farthest if farthest > 0 else 1.0
    centred, squares = centred / np.sqrt(scale), squares / scale
    equal, step = _EQUAL * len(points), max(1, _BLOCK_CELLS // len(points))
    # Nothing is chosen: every point has the similarity 0 to what there is.
    lacking = np.ones(len(points))
    # As the points are centred, Σ_i ‖x_i − x_s‖² is N‖x_s‖² + Σ_i ‖x_i‖².
    bounds = len(points) * (1.0 - squares) - float(squares.sum())

    def distances(rows: Ints) -> Floats:
        products = centred @ centred[rows].T
        return np.asarray(np.maximum(squares[:, None] + squares[rows] - 2.0 * products, 0.0))

    def gains_of(rows: Ints) -> Floats:
        parts = [
            np.maximum(lacking[:, None] - distances(rows[start : start + step]), 0.0).sum(axis=0)
            for start in range(0, len(rows), step)
        ]
        return np.concatenate(parts)

    for place in tracked(range(count)):
        fresh, size = np.full(len(points), place == 0), _FEW_POINTS
        best = float(bounds[fresh].max(initial=-1.0))
        while len(old := np.flatnonzero(~fresh & (bounds >= best - equal))):
            if len(old) > size:
                old = old[np.argpartition(-bounds[old], size)[:size]]
            bounds[old] = gains_of(old)
            fresh[old] = True
            size, best = 2 * size, float(bounds[fresh].max(initial=-1.0))
        near = np.flatnonzero(fresh & (bounds >= best - equal))
        chosen = int(near[np.argmin(ties[near])])
        order[place], gains[place] = chosen, max(float(bounds[chosen]), 0.0)
        lacking = np.minimum(lacking, distances(np.array([chosen]))[:, 0])
        bounds[chosen] = -np.inf
        if gains[place] <= equal and place + 1 < count:
            # Every point is where a chosen one is: nothing is left to gain.
            uncovered = np.setdiff1d(np.arange(len(points)), order[: place + 1])
            order[place + 1 :] = uncovered[np.argsort(ties[uncovered], kind="stable")][: count - place - 1]
            break
    return order, gains


# --- facility_location ---


@register("facility_location")
@dataclass(frozen=True)
class FacilityLocation(WholeSetSelector):
    """Takes one item after another so that every item has a chosen one near it.

    f(S) = Σ_i max_{s∈S} sim(i, s) with sim = 1 − ‖x_i − x_s‖²/C, C no less than any squared distance. The
    item with the largest gain f(S ∪ {s}) − f(S) is taken next, which reaches at least 63 % of the largest f
    there is. Points are the models' metric scores (standardised), embeddings of the sources, mean embeddings
    of the outputs, or the distances between outputs. Gains are the utilities, and the first items of a large
    selection are the small one.

    Choose it to cover a set without odd items in clusters of their own. It ignores how models
    differ, and the result has no inclusion probabilities: it is for rankings only.
    """

    reference: ClassVar[str] = "Krause and Golovin 2014; Nemhauser, Wolsey and Fisher 1978"
    needs: ClassVar[tuple[str, ...]] = ("what its space needs",)

    space: Space = parameter("metrics", "what items are near in")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; default: all")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metrics."""
        if self.space != "metrics":
            return self
        return replace(self, metrics=settled_metrics(data, self.metrics, self.name))

    @property
    def is_nested(self) -> bool:
        """Items are taken one after another, whatever the budget."""
        return True

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics or the texts of the space."""
        return space_fields(self.space, self.metrics, self.embedding)

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Take the items that add most, one after another."""
        count = self.count(budget, candidates)
        points = space_points(data, self.space, self.metrics, self.embedding)[candidates]
        order, gains = greedy_cover(points, count, rng.stream(data.keys[candidates], seed, "ties"))
        return Chosen(rows=candidates[order], utility=gains, reason="adds most to how near the chosen lie")
