"""``facility_location``: items such that every other item has a chosen one near it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from sparingly.base import rng
from sparingly.base.arrays import Ints
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.cover import greedy_cover
from sparingly.choose.design.item_points import settled_metrics, space_fields, space_points
from sparingly.choose.design.space import Space
from sparingly.choose.design.whole_set import WholeSetSelector
from sparingly.data.evalset import EvalSet


@register("facility_location")
@dataclass(frozen=True)
class FacilityLocation(WholeSetSelector):
    """Takes one item after another so that every item has a chosen one near it.

    f(S) = Σ_i max_{s∈S} sim(i, s) with sim = 1 − ‖x_i − x_s‖²/C, C no less than any squared distance. The
    item with the largest gain f(S ∪ {s}) − f(S) is taken next, which reaches at least 63 % of the largest f
    there is. Points are the models' metric scores (standardised), embeddings of the sources, mean embeddings
    of the outputs, or the distances between outputs. Gains are the utilities, and the first items of a large
    selection are the small one.

    Choose it to cover a set without odd items in clusters of their own. It knows nothing of what sets models
    apart, and the result has no inclusion probabilities: it is for rankings only.
    """

    reference: ClassVar[str] = "Krause and Golovin 2014; Nemhauser, Wolsey and Fisher 1978"
    needs: ClassVar[tuple[str, ...]] = ("what its space needs",)

    space: Space = parameter("metrics", "what items are near in")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; all unless given")
    embedding: str = parameter(
        "tfidf", "tfidf, a sentence-transformers model, or column:NAME, FILE.npy, FILE.parquet"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle the metrics."""
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
