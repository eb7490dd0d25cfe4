"""``documents``: whole documents, so many items on average, each with a known probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen, cost_to_count
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.snippet_chances import (
    chances_note,
    check_enough,
    document_chances,
    draw_along,
    importance_note,
    most_items,
)
from sparingly.choose.design.spending import Spending
from sparingly.choose.design.units import Units, document_units
from sparingly.choose.design.variables import importance
from sparingly.choose.design.whole_set import WholeSetSelector
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.cost import cost_fields

Chance = Literal["equal", "size"]


@register("documents")
@dataclass(frozen=True)
class Documents(WholeSetSelector):
    """Draws whole documents; the budget is the number of items, or their cost, on average.

    π_d = n/N (``chance=equal``) or π_d = min(1, κ·N_d) (``chance=size``), N_d the number of the document's
    items and κ such that Σ_d π_d N_d = n; every item of a document has its π. The longest documents meet
    first, so that no draw has more than one document's items above or below n. Under a cost a document costs
    c_d, what its items cost together, Σ_d π_d c_d is the budget, and the dearest documents meet first.

    Choose it when people must read documents as a whole. Items of a document are alike, so n of them say less
    than n single items; ``snippets`` lies between. ``chance=size`` makes for fewer and longer documents:
    easier on people, harder on the scores.
    """

    kind: ClassVar[str] = "design"
    reference: ClassVar[str] = "Lo and Knowles 2023, section 2.2.2; Cochran 1977, chapter 9A"
    needs: ClassVar[tuple[str, ...]] = ("documents",)

    chance: Chance = parameter(  # noqa: RUF009 - a field
        "equal", "all documents are as likely, or by their number of items"
    )
    weights: str | None = parameter(
        None, "a column of importance: documents are likelier by the mean of their items"
    )
    cost: str | None = parameter(
        None, "the cost: a column, length, or fit (seconds of the set's own ratings)"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle what a cost budget counts."""
        return replace(self, cost=cost_to_count(data, budget, self.cost))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the documents, the positions, the importance and the costs."""
        costs = frozenset() if self.cost is None else cost_fields(self.cost) & set(data.fields)
        return document_fields(data, self.weights) | costs

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw documents."""
        units = document_units(data, candidates)
        spending = Spending.of(data, budget, self.cost, units.rows)
        charges = units.total(spending.charges)
        shape = document_shape(data, units, self.chance, self.weights)
        chances = document_chances(shape, charges, spending.limit)
        check_enough(chances, spending.limit, "document", by_cost=spending.by_cost)
        taken = np.flatnonzero(draw_along(chances, charges, rng.generator(seed, self.name)))
        # In random order, so that whoever stops early has judged a random part.
        taken = taken[np.argsort(rng.stream(units.keys_at(taken), seed, "order of the drawn"), kind="stable")]
        sizes = units.sizes[taken].astype(np.int64)
        rows, names = units.rows_of(taken), np.array(list(units.names), object)[taken]
        return Chosen(
            rows=rows,
            probability=np.repeat(chances[taken], sizes),
            unit=np.repeat(names, sizes),
            reason="in a document that was drawn",
            notes=(
                chances_note(chances, "document"),
                *(() if self.weights is None else (importance_note(self.weights),)),
                *spending.note(most_items(chances, charges)),
            ),
            **spending.told(rows),
        )


def document_fields(data: EvalSet, weights: str | None) -> frozenset[str]:
    """Return the fields of a draw of documents."""
    names = (fields.DOCUMENT, fields.POSITION, *(() if weights is None else (weights,)))
    return frozenset(map(fields.column, names)) & set(data.fields)


def document_shape(data: EvalSet, units: Units, chance: Chance, weights: str | None) -> Floats:
    """Return what the chances of units are proportional to: 1 or their size, times their mean importance."""
    shape = np.ones(len(units)) if chance == "equal" else units.sizes
    return shape if weights is None else shape * units.mean(importance(data, weights)[units.rows])
