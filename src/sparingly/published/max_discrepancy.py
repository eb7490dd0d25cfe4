"""``max_discrepancy``: the items on which two models differ most, one pair of models after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.base.progress import tracked
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector, file_stamp, remembered
from sparingly.data.evalset import EvalSet
from sparingly.published.anchor_points import settled_metrics, space_fields, space_points
from sparingly.signals.embed.differences import pair_distances
from sparingly.signals.embed.evalset import EMBEDDING_HELP, embed_outputs

# Values that differ by less than this are equal; both parts of a value lie between 0 and 1.
_EQUAL = 1e-9


@register("max_discrepancy")
@dataclass(frozen=True)
class MaxDiscrepancy(WholeSetSelector):
    """Takes for one pair of models after another the item on which these two differ most.

    x = argmax_i d_i(j, k) + λ·min_{s∈S} ‖e_i − e_s‖ over the items that are not yet in S, λ = ``diversity``;
    pairs (j, k) take turns in an order by the seed. d is the distance between the two outputs' embeddings and
    e the mean embedding of an item's outputs; or (``space=metrics``) the mean distance between the two
    models' scores by all metrics, and e all scores. d and the distances of e are scaled to 1 at most.

    Choose it to find where models fail differently (the maximum differentiation competition). Chosen items
    are extreme, so differences look larger than they are, and the result is for rankings only.
    """

    reference: ClassVar[str] = "Wang et al. 2020 (MAD competition); Feng et al. 2025 for language models"
    needs: ClassVar[tuple[str, ...]] = ("what its space needs",)

    space: Literal["outputs", "metrics"] = parameter("outputs", "what models differ in")
    diversity: float = parameter(1.0, "how much the distance to the chosen items counts", minimum=0.0)
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; default: all")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metrics."""
        if len(data.models) < 2:
            raise DataError(
                "The method max_discrepancy compares models, and there are fewer than two: use uniform."
            )
        if self.space == "outputs":
            return self
        return replace(self, metrics=settled_metrics(data, self.metrics, self.name))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs or the metrics."""
        space: Literal["metrics", "output_mean"] = "metrics" if self.space == "metrics" else "output_mean"
        return space_fields(space, self.metrics, self.embedding)

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Let the pairs of models take turns."""
        count = self.count(budget, candidates)
        stamp = file_stamp(self.embedding)
        key = ("discrepancy", self.space, self.metrics, self.embedding, stamp)
        distances, points = remembered(data, key, lambda: self._distances(data))
        turns = rng.generator(seed, self.name).permutation(distances.shape[1])
        ties = rng.stream(data.keys[candidates], seed, "ties")
        order = in_turn(distances[candidates][:, turns], points[candidates], count, self.diversity, ties)
        first, second = pair_indices(len(data.models))
        pairs = turns[np.arange(count) % len(turns)]
        return Chosen(
            rows=candidates[order],
            reasons=np.array(
                [f"{data.models[first[pair]]} and {data.models[second[pair]]} differ most" for pair in pairs],
                object,
            ),
        )

    def _distances(self, data: EvalSet) -> tuple[Floats, Floats]:
        """Return how far the models of every pair are apart (items × pairs), and where items lie."""
        if self.space == "outputs":
            distances = pair_distances(*embed_outputs(data, self.embedding))
            points = space_points(data, "output_mean", (), self.embedding)
        else:
            points = space_points(data, "metrics", self.metrics, "")
            # The mean over metrics of |m_j − m_k| in standard deviations, NaN for a pair without scores.
            first, second = pair_indices(len(data.models))
            total, count = np.zeros((2, len(data), len(first)))
            for name in self.metrics:
                scores = data.metrics[name]
                present = ~np.isnan(scores)
                spread = float(scores[present].std()) if present.any() else 0.0
                gaps = np.abs(scores[:, first] - scores[:, second]) / (spread or 1.0)
                total += np.nan_to_num(gaps)
                count += ~np.isnan(gaps)
            distances = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        largest = float(np.nanmax(distances, initial=0.0))
        # A pair that cannot be compared on an item differs less than any that can.
        scaled = np.where(np.isnan(distances), -1.0, distances / (largest or 1.0))
        widest = 2.0 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max(initial=0.0))
        return scaled, np.asarray(points / (widest or 1.0))


def in_turn(distances: Floats, points: Floats, count: int, diversity: float, ties: rng.Keys) -> Ints:
    """Return the items that the columns of ``distances`` choose when they take turns."""
    order = np.empty(count, np.int64)
    nearest, open_rows = np.zeros(len(distances)), np.ones(len(distances), bool)
    for place in tracked(range(count)):
        values = np.where(open_rows, distances[:, place % distances.shape[1]] + diversity * nearest, -np.inf)
        best = np.flatnonzero(values >= values.max() - _EQUAL)
        chosen = best[np.argmin(ties[best])]
        order[place], open_rows[chosen] = chosen, False
        gaps = np.linalg.norm(points - points[chosen], axis=1)
        nearest = gaps if place == 0 else np.minimum(nearest, gaps)
    return order
