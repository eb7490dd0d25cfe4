"""Documents and snippets on plain arrays: how likely each is, and how likely each segment of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities

_NEXT_TO_NOTHING = 1e-9


def document_chances(shape: Floats, lengths: Floats, count: float) -> Floats:
    """Return π_d = min(1, κ·shape_d) with Σ_d π_d·length_d = n: so many items are drawn on average.

    Lengths may also be costs, and n a budget of them: then the expected cost is the budget.
    """
    some = np.maximum(shape, _NEXT_TO_NOTHING * float(shape.max(initial=0.0)))
    # What costs nothing is drawn with the same chance as what costs next to nothing.
    heft = np.maximum(lengths, _NEXT_TO_NOTHING * float(lengths.max(initial=0.0)))
    return inclusion_probabilities(some * np.sqrt(heft), tau=1.0, costs=heft, budget=count)


def check_enough(chances: Floats, count: float, what: str, *, by_cost: bool = False) -> None:
    """Refuse a budget under which a draw is often empty."""
    drawn = float(chances.sum())
    if drawn >= 1.0 - 1e-9:
        return
    if by_cost:
        given, fix = f"a cost of {count:g}", f"a cost of {count / drawn:.6g}."
    else:
        given = f"{count:.0f} items"
        fix = f"{int(np.ceil(count / drawn))} items, or draw snippets:kind=budgeted."
    raise UsageError(
        f"A budget of {given} is less than one {what}: only {drawn:.2g} of them would be drawn on average, "
        f"and sometimes none. Raise it to {fix}"
    )


def draw_along(chances: Floats, lengths: Floats, generator: np.random.Generator) -> Mask:
    """Take documents, the longest meeting first, so that the number of items stays near its expectation.

    Of the k longest documents as many are taken as their probabilities add up to, up to one.
    """
    order = np.lexsort((generator.permutation(len(lengths)), -lengths))
    return draw_pivotal(chances, generator, order)


def most_items(chances: Floats, lengths: Floats) -> float:
    """Return the most items (or the greatest cost, where lengths are costs) that ``draw_along`` can take.

    The k longest documents give at most ⌈V_k⌉, V the running sum of their probabilities: so the m-th document
    is no longer than the first one at which V exceeds m − 1.
    """
    order = np.argsort(-lengths, kind="stable")
    reached = np.cumsum(chances[order])
    documents = np.arange(np.ceil(reached[-1] - 1e-6))
    places = np.searchsorted(reached, documents + 1e-6, "right")
    return float(lengths[order][np.minimum(places, len(order) - 1)].sum())


def covering_share(place: Ints, count: Ints, length: Ints, *, wrap: bool = False) -> Floats:
    """Return the share of a snippet's starts with which it covers a segment.

    #{starts that cover k}/(L − l + 1) for segment k = 0 … L − 1 and a snippet of l segments, 0 for one of
    none. Segments in the middle are covered more often than those at the ends; where snippets wrap around
    the end of the document every one has l/L.
    """
    if wrap:
        return np.asarray(length / count)
    first, last = np.maximum(place - length + 1, 0), np.minimum(place, count - length)
    return np.asarray(np.where(length > 0, (last - first + 1) / (count - length + 1), 0.0))


@dataclass(frozen=True, eq=False)
class SnippetPlan:
    """How documents yield snippets.

    Attributes:
        counts: The number of segments of every document.
        chance: The chance that the document yields a snippet at all.
        length: How many segments the snippet has.
        longer: The chance that it has one more.
    """

    counts: Ints
    chance: Floats
    length: Ints
    longer: Floats

    @classmethod
    def of_share(cls, counts: Ints, share: Floats) -> SnippetPlan:
        """Return snippets of a share of every document, the fraction of a segment settled at random."""
        wanted = share * counts
        length = np.floor(wanted + 1e-9).astype(np.int64)
        longer = np.clip(wanted - length, 0.0, 1.0)
        return cls(counts, np.ones(len(counts)), length, longer)

    @classmethod
    def of_length(cls, counts: Ints, length: Ints, chance: Floats) -> SnippetPlan:
        """Return snippets of given lengths from documents that are drawn."""
        return cls(counts, chance, length, np.zeros(len(counts)))

    @property
    def is_sure(self) -> NDArray[np.bool_]:
        """Which documents surely yield a snippet."""
        return np.asarray((self.chance >= 1.0 - 1e-12) & (self.length + (self.longer > 1.0 - 1e-12) > 0))

    def segment_chances(self, of_row: Ints, place: Ints, *, wrap: bool) -> Floats:
        """Return π_k = P(document)·Σ_l P(l)·#{starts that cover k}/(L − l + 1) of segments."""
        count, length, longer = self.counts[of_row], self.length[of_row], self.longer[of_row]
        usual = covering_share(place, count, length, wrap=wrap)
        more = covering_share(place, count, np.minimum(length + 1, count), wrap=wrap)
        return np.asarray(self.chance[of_row] * ((1.0 - longer) * usual + longer * more))

    def draw(self, generator: np.random.Generator, *, wrap: bool) -> tuple[Ints, Ints]:
        """Draw a start and a length for every document, length 0 for those that yield nothing."""
        drawn = draw_along(self.chance, self.length.astype(np.float64), generator)
        longer = draw_along(self.longer, self.counts.astype(np.float64), generator)
        length = np.where(drawn, self.length + longer, 0)
        starts = self.counts if wrap else self.counts - length + 1
        start = np.floor(generator.random(len(length)) * starts).astype(np.int64)
        return np.where((length > 0) & (length < self.counts), start, 0), length


def snippet_rows(start: Ints, length: Ints, counts: Ints, documents: Ints) -> tuple[Ints, Ints]:
    """Return the document and the place of every segment of some documents' snippets, in reading order."""
    size = length[documents]
    document = np.repeat(documents, size)
    step = np.arange(len(document)) - np.repeat(np.cumsum(size) - size, size)
    place = (start[document] + step) % counts[document]
    order = np.lexsort((place, np.repeat(np.arange(len(documents)), size)))
    return document, place[order]


def chances_note(chances: Floats, unit: str) -> str:
    """Say how large the inclusion probabilities are."""
    low, high = float(chances.min()), float(chances.max())
    if high - low <= 1e-12:
        return f"every {unit} had the inclusion probability {high:.4g}."
    return f"inclusion probabilities lie between {low:.4g} and {high:.4g}."


def importance_note(column: str) -> str:
    """Say what drawing by importance means."""
    return (
        f'drawn by the importance of the items ("{column}"): scores weighted by it are of another mean '
        "than the plain one."
    )
