"""``systematic``: equal steps along a list from a random start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.rng import round_to_range
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draw.systematic import draw_systematic
from sparingly.choose.design.probability_design import Frame, ProbabilityDesign
from sparingly.choose.design.variables import (
    column_labels,
    column_numbers,
    field_of,
    is_column,
    scores_of,
    settled_names,
    with_means,
)
from sparingly.data.evalset import EvalSet

RANDOM, BY_UTILITY = "random", "utility"


@register("systematic")
@dataclass(frozen=True)
class Systematic(ProbabilityDesign):
    """Draws every k-th unit along a list that is sorted (or shuffled), from a random start.

    With V_k the running sum of π along the list and one uniform u, unit k is taken when the interval
    (V_{k−1}, V_k] holds u + m = a whole step; π_i as for all designs. Sorted by something that goes with the
    scores, every stretch of the list gets its share. Under a cost the list is sorted by cost, unless another
    order is asked for; then the budget can be overspent by chance.

    Choose it for a sample that is spread along one thing: length, a metric, the order of the collection.
    Beware of lists with a period, and of its variance, which cannot be estimated without assumptions.
    """

    reference: ClassVar[str] = "Madow 1949"
    how: ClassVar[str] = "drawn in equal steps along a list"
    needs: ClassVar[tuple[str, ...]] = ("what its utility and order need",)

    order: str = parameter(
        RANDOM, "random, or what the list is sorted by: utility, a metric, a column, a length"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle what the list is sorted by."""
        if self.order == BY_UTILITY and self.utility is None:
            raise UsageError("order=utility needs a utility: name one with utility=(…).")
        settled = super().resolve(data, budget)
        return replace(settled, order=settled_names(data, [self.order])[0]) if self._is_by_name else settled

    @property
    def _is_by_name(self) -> bool:
        return self.order not in (RANDOM, BY_UTILITY)

    def greatest(self, frame: Frame, charges: Floats) -> float:
        """Return the most that a draw can cost: a list in another order may give the dearest units."""
        if self.order == RANDOM:
            return super().greatest(frame, charges)
        return float(np.sort(charges)[::-1][: frame.count].sum())

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and what the list is sorted by."""
        own = {field_of(data, self.order)} & set(data.fields) if self._is_by_name else set()
        return super().reads(data) | own

    def coordinates(self, data: EvalSet) -> Floats | None:
        """Return what the list is sorted by, as one dimension; None for a shuffled list."""
        if self.order == RANDOM:
            return None
        if self.order == BY_UTILITY:
            values = None if self.utility is None else self.utility.values(data)
        else:
            values = _numbers(data, self.order)
        return None if values is None else with_means(np.asarray(values, np.float64)[:, None])

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw along the list."""
        places = self.coordinates(frame.data)
        if places is None:
            return draw_systematic(frame.chances, generator, frame.dearest_first(generator))
        keys = round_to_range(frame.units.mean(places[frame.units.rows, 0]))
        order = np.lexsort((generator.permutation(len(keys)), keys))
        return draw_systematic(frame.chances, generator, order)


def _numbers(data: EvalSet, name: str) -> Floats:
    """Return what items are sorted by: numbers, or the places of texts in their order."""
    if not is_column(data, name):
        return np.asarray(scores_of(data, name).mean(axis=1))
    numbers = column_numbers(data, name)
    if numbers is not None:
        return numbers
    return np.unique(column_labels(data, name).astype(str), return_inverse=True)[1].astype(np.float64)
