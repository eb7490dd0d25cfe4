"""``documents``: whole documents, so many items on average, each with a known probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.snippet_chances import (
    chances_note,
    check_enough,
    document_chances,
    draw_along,
    importance_note,
    items_note,
    most_items,
)
from sparingly.choose.design.units import Units, document_units
from sparingly.choose.design.variables import importance
from sparingly.choose.design.whole_set import WholeSetSelector
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Floats, Rows

Chance = Literal["equal", "size"]


@register("documents")
@dataclass(frozen=True)
class Documents(WholeSetSelector):
    """Draws whole documents; the budget is the number of items on average.

    π_d = n/N (``chance=equal``) or π_d = min(1, κ·N_d) (``chance=size``), N_d the number of the document's
    items and κ such that Σ_d π_d N_d = n; every item of a document has its π. The longest documents meet
    first, so that no draw has more than one document's items above or below n.

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

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the documents, the positions, and the importance."""
        return document_fields(data, self.weights)

    def choose(self, data: EvalSet, budget: Budget, candidates: Rows, seed: int) -> Chosen:
        """Draw documents."""
        units = document_units(data, candidates)
        count = self.count(budget, candidates)
        chances = document_chances(document_shape(data, units, self.chance, self.weights), units.sizes, count)
        check_enough(chances, count, "document")
        taken = np.flatnonzero(draw_along(chances, units.sizes, rng.generator(seed, self.name)))
        # In random order, so that whoever stops early has judged a random part.
        taken = taken[np.argsort(rng.stream(units.keys_at(taken), seed, "order of the drawn"), kind="stable")]
        sizes = units.sizes[taken].astype(np.int64)
        names = np.array(list(units.names), object)[taken]
        return Chosen(
            rows=units.rows_of(taken),
            probability=np.repeat(chances[taken], sizes),
            unit=np.repeat(names, sizes),
            reason="in a document that was drawn",
            notes=(
                chances_note(chances, "document"),
                *(() if self.weights is None else (importance_note(self.weights),)),
                *items_note(count, most_items(chances, units.sizes)),
            ),
        )


def document_fields(data: EvalSet, weights: str | None) -> frozenset[str]:
    """Return the fields of a draw of documents."""
    names = (fields.DOCUMENT, fields.POSITION, *(() if weights is None else (weights,)))
    return frozenset(map(fields.column, names)) & set(data.fields)


def document_shape(data: EvalSet, units: Units, chance: Chance, weights: str | None) -> Floats:
    """Return what the chances of units are proportional to: 1 or their size, times their mean importance."""
    shape = np.ones(len(units)) if chance == "equal" else units.sizes
    return shape if weights is None else shape * units.mean(importance(data, weights)[units.rows])
