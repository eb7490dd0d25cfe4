"""Whole documents and snippets: how likely each is, ``documents`` and ``snippets``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import UsageError, listing
from sparingly.base.registry import parameter, register
from sparingly.base.syntax import argument
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.probability import greatest_cost, inclusion_probabilities
from sparingly.choose.design.selector import (
    COST_HELP,
    Chosen,
    WholeSetSelector,
    amount_text,
    chances_note,
    cost_columns,
    cost_to_count,
    kind_parameter,
)
from sparingly.choose.design.units import Units, document_units, item_units, places_within, random_order
from sparingly.choose.design.variables import importance
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import MODELS
from sparingly.signals.cost import cost_fields, item_costs


@dataclass(frozen=True, eq=False)
class Spending:
    """A budget, and what it counts of every candidate item."""

    limit: float  # how much a draw takes on average
    by_cost: bool  # whether that is a cost, not a number of items
    rows: Ints  # the candidate items
    costs: Floats | None = None  # of every item of the set, where a cost is named
    unit: str = ""  # what costs are in: seconds, or the user's own unit

    @classmethod
    def from_budget(cls, data: EvalSet, budget: Budget, cost: str | None, rows: Ints) -> Spending:
        """Return what a budget allows among some items; a cost of more than all of them is refused."""
        costs, unit = (None, "") if cost is None else item_costs(data, cost)
        if budget.kind != "cost":
            return cls(float(budget.count_of(len(rows))), False, rows, costs, unit)
        if costs is None:
            raise UsageError(
                f"A cost budget needs costs: add {argument('cost', 'length')}, or name a column."
            )
        total = float(costs[rows].sum())
        return cls(min(budget.limit_of(total), total), True, rows, costs, unit)

    @property
    def charges(self) -> Floats:
        """What the budget counts of every candidate item."""
        if not self.by_cost or self.costs is None:
            return np.ones(len(self.rows))
        return np.asarray(self.costs[self.rows])

    def note(self, maximum: float, mean: float | None = None) -> tuple[str, ...]:
        """Say what a draw takes on average (the budget unless given) and at most, where that is more."""
        if maximum <= self.limit * (1 + 1e-9):
            return ()
        usual, top, noun = f"{self.limit:.0f}", f"{maximum:.0f}", " items"
        if self.by_cost:
            usual = amount_text(self.limit if mean is None else mean, self.unit)
            top, noun = amount_text(maximum, self.unit), ""
        return (
            f"a draw like this takes {usual}{noun} on average and at most {top}, so the budget can be "
            "overspent by chance.",
        )


_NEXT_TO_NOTHING = 1e-9


def document_chances(shape: Floats, lengths: Floats, count: float) -> Floats:
    """Return π_d = min(1, κ·shape_d) with Σ_d π_d·length_d = n: so many items are drawn on average.

    Lengths may also be costs, and n a budget of them: then the expected cost is the budget.
    """
    positive = np.maximum(shape, _NEXT_TO_NOTHING * float(shape.max(initial=0.0)))
    # What costs nothing is drawn with the same chance as what costs next to nothing.
    heft = np.maximum(lengths, _NEXT_TO_NOTHING * float(lengths.max(initial=0.0)))
    return inclusion_probabilities(positive * np.sqrt(heft), tau=1.0, costs=heft, budget=count)


def check_enough(chances: Floats, count: float, noun: str, *, by_cost: bool = False) -> None:
    """Raise UsageError for a budget under which a draw is often empty."""
    expected = float(chances.sum())
    if expected >= 1.0 - 1e-9:
        return
    if by_cost:
        budget, fix = f"a cost of {count:g}", f"a cost of {count / expected:.6g}."
    else:
        budget = f"{count:.0f} items"
        fix = f"{int(np.ceil(count / expected))} items, or draw snippets:kind=budgeted."
    raise UsageError(
        f"A budget of {budget} is less than one {noun}: only {expected:.2g} of them would be drawn on "
        f"average, and sometimes none. Raise it to {fix}"
    )


def draw_along(chances: Floats, lengths: Floats, generator: np.random.Generator) -> Mask:
    """Take documents, the longest meeting first, so that the number of items stays near its expectation.

    Of the k longest documents as many are taken as their probabilities add up to, up to one.
    """
    order = np.lexsort((generator.permutation(len(lengths)), -lengths))
    return draw_pivotal(chances, generator, order)


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
    """How documents yield snippets."""

    counts: Ints  # the segments of every document
    chance: Floats  # that the document yields a snippet at all
    length: Ints  # the segments of the snippet
    longer: Floats  # the chance that it has one more

    @classmethod
    def of_share(cls, counts: Ints, share: Floats) -> SnippetPlan:
        """Return snippets of a share of every document, the fraction of a segment settled at random."""
        lengths = share * counts
        length = np.floor(lengths + 1e-9).astype(np.int64)
        longer = np.clip(lengths - length, 0.0, 1.0)
        return cls(counts, np.ones(len(counts)), length, longer)

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
        chosen = draw_along(self.chance, self.length.astype(np.float64), generator)
        longer = draw_along(self.longer, self.counts.astype(np.float64), generator)
        length = np.where(chosen, self.length + longer, 0)
        starts = self.counts if wrap else self.counts - length + 1
        start = np.floor(generator.random(len(length)) * starts).astype(np.int64)
        return np.where((length > 0) & (length < self.counts), start, 0), length


def snippet_rows(start: Ints, length: Ints, counts: Ints, documents: Ints) -> tuple[Ints, Ints]:
    """Return the document and the place of every segment of some documents' snippets, in reading order."""
    size = length[documents]
    document = np.repeat(documents, size)
    place = (start[document] + places_within(size)) % counts[document]
    order = np.lexsort((place, np.repeat(np.arange(len(documents)), size)))
    return document, place[order]


def importance_note(column: str) -> str:
    """Return a note on drawing by importance."""
    return (
        f'drawn by the importance of the items ("{column}"): scores weighted by it have another mean '
        "than the plain one."
    )


Chance = Literal["equal", "size"]


@register("documents")
@dataclass(frozen=True)
class Documents(WholeSetSelector):
    """Draws whole documents; the budget is the number of items, or their cost, on average.

    π_d = n/N (``chance=equal``) or π_d = min(1, κ·N_d) (``chance=size``), N_d the number of the document's
    items and κ such that Σ_d π_d N_d = n; every item of a document has its π. The longest documents meet
    first, so that no draw has more than one document's items above or below n. Under a cost a document costs
    c_d, what its items cost together, Σ_d π_d c_d is the budget, and the most expensive documents meet first.

    Choose it when people must read documents as a whole. Items of a document are alike, so n of them say less
    than n single items; ``snippets`` lies between. ``chance=size`` draws fewer and longer documents,
    which is easier for people but makes scores less precise.
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
    cost: str | None = parameter(None, COST_HELP)

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the cost."""
        return replace(self, cost=cost_to_count(data, budget, self.cost))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the documents, the positions, the importance and the costs."""
        costs = frozenset() if self.cost is None else cost_fields(self.cost) & set(data.fields)
        return document_fields(data, self.weights) | costs

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw documents."""
        units = document_units(data, candidates)
        spending = Spending.from_budget(data, budget, self.cost, units.rows)
        charges = units.total(spending.charges)
        shape = document_shape(data, units, self.chance, self.weights)
        chances = document_chances(shape, charges, spending.limit)
        check_enough(chances, spending.limit, "document", by_cost=spending.by_cost)
        chosen = np.flatnonzero(draw_along(chances, charges, rng.generator(seed, self.name)))
        chosen = chosen[random_order(units.keys_at(chosen), seed)]
        sizes = units.sizes[chosen].astype(np.int64)
        rows, names = units.rows_of(chosen), np.array(list(units.names), object)[chosen]
        return Chosen(
            rows=rows,
            probability=np.repeat(chances[chosen], sizes),
            unit=np.repeat(names, sizes),
            reason="in a document that was drawn",
            notes=(
                chances_note(chances, "document"),
                *(() if self.weights is None else (importance_note(self.weights),)),
                *spending.note(greatest_cost(chances, charges, in_order=True)),
            ),
            **cost_columns(spending.costs, spending.unit, rows, spending.rows),
        )


def document_fields(data: EvalSet, weights: str | None) -> frozenset[str]:
    """Return the fields of a draw of documents."""
    names = (fields.DOCUMENT, fields.POSITION, *(() if weights is None else (weights,)))
    return frozenset(map(fields.column, names)) & set(data.fields)


def document_shape(data: EvalSet, units: Units, chance: Chance, weights: str | None) -> Floats:
    """Return what probabilities of units are proportional to: 1 or the size, times the mean importance."""
    shape = np.ones(len(units)) if chance == "equal" else units.sizes
    return shape if weights is None else shape * units.mean(importance(data, weights)[units.rows])


_SHORT = "(short documents)"
_USUAL_LENGTH = 10


@register("snippets")
@dataclass(frozen=True)
class Snippets(WholeSetSelector):
    """Draws contiguous segments of documents, with the segments before them as context.

    π_k = P(document)·Σ_l P(l)·#{starts that cover k}/(L − l + 1) for segment k of a document of L segments:
    with a uniform start the middle is likelier than the ends (``wrap=true`` makes them equal). ``budgeted``:
    every document yields a snippet of n/N of its length, fractions settled at random; ``fixed``: documents
    are drawn, each yields ``length`` segments; ``document``: all of them; ``segment``: single segments.

    Choose ``budgeted`` when segments need their context and documents differ in length: every document is
    represented by its share, where ``fixed`` favours short documents. Few documents, or a budget of less than
    a segment each, make it no better than single segments.
    """

    reference: ClassVar[str] = "Lo and Knowles 2023, section 2.2"
    needs: ClassVar[tuple[str, ...]] = ("documents",)

    kind: Literal["segment", "document", "fixed", "budgeted"] = kind_parameter(  # type: ignore[misc]
        "budgeted", "what is drawn of a document", "design"
    )
    length: int | None = parameter(
        None, "with kind=fixed: how many segments a snippet has, 10 unless given", minimum=1
    )
    chance: Chance = parameter(  # noqa: RUF009 - a field
        "equal", "with kind=fixed or document: equal probabilities for documents, or by length"
    )
    wrap: bool = parameter(
        False, "snippets go on at the start of the document, so that all are equally likely"
    )
    max_length: int | None = parameter(
        None, "documents of more segments are left out, and scores do not include them", minimum=1
    )
    context: int = parameter(10, "how many segments before each chosen one are carried along", minimum=0)
    reading: float = parameter(
        0.0,
        "what reading a segment of context costs, as a share of judging one: the budget pays for both",
        minimum=0.0,
    )
    matching: bool = parameter(True, "one draw for all models; false: a draw of its own for every model")
    weights: str | None = parameter(
        None, "a column of importance: documents give more by the mean of their items"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chance == "size" and self.kind not in ("document", "fixed"):
            raise UsageError("In snippets, chance=size goes with kind=document or kind=fixed.")
        if self.wrap and self.kind not in ("fixed", "budgeted"):
            raise UsageError("In snippets, wrap=true goes with kind=fixed or kind=budgeted.")
        if self.length is not None and self.kind != "fixed":
            raise UsageError(
                f"In snippets, length={self.length} goes with kind=fixed, and the kind here is {self.kind}."
            )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the length of fixed snippets."""
        return replace(self, length=self.length or _USUAL_LENGTH) if self.kind == "fixed" else self

    def count(self, budget: Budget, candidates: Ints) -> int:
        """Return how many segments to choose; a cost is refused."""
        if budget.kind == "cost":
            raise UsageError(
                f"Snippets are cut by their number of segments, so their budget is a count or a share, not "
                f"{budget}: divide the cost by what a segment costs on average, or draw whole documents with "
                "the method documents, which takes a cost."
            )
        return super().count(budget, candidates)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read documents, positions and importance, and who the models are where each has its own draw."""
        return document_fields(data, self.weights) | (frozenset() if self.matching else {MODELS})

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw snippets, once or for every model."""
        documents = document_units(data, np.arange(len(data)))
        shut, shut_notes = self._shut(documents)
        open_rows = np.setdiff1d(candidates, shut, assume_unique=True)
        if not len(open_rows):
            raise UsageError(f"No document has {self.max_length} segments or fewer: raise max_length=.")
        count = self.count(budget, open_rows)
        units = item_units(data, open_rows) if self.kind == "segment" else document_units(data, open_rows)
        # Where every row stands in its own document.
        place_of = np.empty(len(data), np.int64)
        place_of[documents.rows] = places_within(documents.sizes.astype(np.int64))
        plan, read = self._paid_plan(data, units, count, place_of)
        chances = plan.segment_chances(units.of_row, places_within(plan.counts), wrap=self.wrap)
        models = (None,) if self.matching else data.models
        snippets = [part for model in models for part in self._draw(units, plan, place_of, seed, model)]
        keys = rng.keys_of([f"{part.name}\x1f{part.model}" for part in snippets])
        snippets = [snippets[place] for place in random_order(keys, seed)]
        at = np.concatenate([part.at for part in snippets])
        rows, sizes = units.rows[at], [len(part.at) for part in snippets]
        names = np.array(list(units.names), object)
        strata = np.where(plan.is_sure, names, _SHORT)[units.of_row].astype(object)
        return Chosen(
            rows=rows,
            probability=chances[at],
            stratum=strata[at] if self.kind == "budgeted" else None,
            unit=None if units.are_items else _repeated([part.name for part in snippets], sizes),
            models=None if self.matching else _repeated([(part.model,) for part in snippets], sizes),
            context=self._context(data, documents.rows, place_of, rows),
            shut=shut if len(shut) else None,
            reason="a segment that was drawn" if self.kind == "segment" else f"in a drawn {self._noun}",
            notes=(chances_note(chances, "segment"), *shut_notes, *self._notes(data, plan, count, read)),
        )

    @property
    def _noun(self) -> str:
        return {"segment": "segment", "document": "document"}.get(self.kind, "snippet")

    def _shut(self, documents: Units) -> tuple[Ints, tuple[str, ...]]:
        """Return the rows of documents that are too long, and the sentence that lists them."""
        is_out = documents.sizes > (self.max_length or np.inf)
        if not is_out.any():
            return np.empty(0, np.int64), ()
        rows = np.sort(documents.rows[is_out[documents.of_row]])
        sizes = zip(documents.names, documents.sizes, strict=True)
        names = [f"{name} ({size:.0f})" for name, size in compress(sizes, is_out)]
        several = f"{len(names)} documents" if len(names) > 1 else "1 document"
        note = (
            f"max_length={self.max_length} shuts out {several} with {len(rows)} of {len(documents.rows)} "
            f"items: {listing(names)}; scores do not include them."
        )
        return rows, (note,)

    def _plan(self, data: EvalSet, units: Units, count: int) -> SnippetPlan:
        counts = units.sizes.astype(np.int64)
        shape = document_shape(data, units, self.chance, self.weights)
        if self.kind == "budgeted":
            return SnippetPlan.of_share(counts, document_chances(shape, units.sizes, count))
        longest = self.length or _USUAL_LENGTH
        lengths = np.minimum(counts, longest) if self.kind == "fixed" else counts
        if count > lengths.sum():
            raise UsageError(
                f"Snippets of at most {longest} segments, one for every document, have "
                f"{lengths.sum()} items together, fewer than the budget of {count}. Lower the budget, or "
                "raise length."
            )
        chances = document_chances(shape, lengths.astype(np.float64), count)
        check_enough(chances, count, self._noun)
        return SnippetPlan(counts, chances, lengths, longer=np.zeros(len(counts)))

    def _paid_plan(
        self, data: EvalSet, units: Units, budget: int, place_of: Ints
    ) -> tuple[SnippetPlan, float]:
        """Return a plan that the budget pays for with the context that is read, and how much of it is."""
        count = budget
        while True:
            plan = self._plan(data, units, count)
            read = self._context_read(units, plan, place_of)
            spent = count + self.reading * read
            if spent <= budget or count == 1:
                return plan, read
            count = max(1, min(count - 1, int(count * budget / spent)))

    def _context_read(self, units: Units, plan: SnippetPlan, place_of: Ints) -> float:
        """Return how many segments of context stand before the snippets of a draw on average."""
        reach = np.minimum(self.context, place_of[units.rows])
        total, first = np.concatenate([[0], np.cumsum(reach)]), np.cumsum(plan.counts) - plan.counts

        def mean(length: Ints) -> Floats:
            starts = plan.counts if self.wrap else np.minimum(plan.counts, plan.counts - length + 1)
            return np.where(length > 0, (total[first + starts] - total[first]) / starts, 0.0)

        more = mean(np.minimum(plan.length + 1, plan.counts))
        return float(plan.chance @ ((1.0 - plan.longer) * mean(plan.length) + plan.longer * more))

    def _draw(
        self, units: Units, plan: SnippetPlan, place_of: Ints, seed: int, model: str | None
    ) -> list[_Snippet]:
        """Return the snippets of one draw."""
        purpose = (self.name,) if model is None else (self.name, model)
        start, length = plan.draw(rng.generator(seed, *purpose), wrap=self.wrap)
        documents = np.flatnonzero(length)
        document, place = snippet_rows(start, length, plan.counts, documents)
        first = np.cumsum(plan.counts) - plan.counts
        at = np.split(first[document] + place, np.cumsum(length[documents])[:-1])
        begins = place_of[units.rows[first[documents] + start[documents]]]
        names = np.array(list(units.names), object)[documents]
        if self.kind in ("fixed", "budgeted"):
            names = np.array([f"{name}#{begin}" for name, begin in zip(names, begins, strict=True)], object)
        return [_Snippet(name, rows, model or "") for name, rows in zip(names, at, strict=True)]

    def _context(self, data: EvalSet, in_order: Ints, place_of: Ints, rows: Ints) -> Objects | None:
        """Return the items right before every row in its document, None where there are none."""
        context = np.full(len(rows), None, object)
        rank = np.argsort(in_order)
        for place, row in enumerate(rows):
            length = min(self.context, int(place_of[row]))
            context[place] = tuple(data.items[in_order[rank[row] - length : rank[row]]]) or None
        return context if any(context) else None

    def _notes(self, data: EvalSet, plan: SnippetPlan, budget: int, read: float) -> tuple[str, ...]:
        notes = [] if self.weights is None else [importance_note(self.weights)]
        count = round(float(plan.chance @ (plan.length + plan.longer)))
        if self.reading:
            notes.append(
                f"{count} segments are judged and {read:.0f} read as context on average, for the price of "
                f"{budget}."
            )
        if self.kind == "budgeted":
            sure, total = int(plan.is_sure.sum()), len(plan.counts)
            unsure = "" if sure == total else f", the other {total - sure} may"
            notes.append(f"{sure} of {total} documents surely give a snippet{unsure}.")
        else:
            maximum = greatest_cost(plan.chance, plan.length.astype(np.float64), in_order=True)
            notes += Spending(count, False, np.arange(len(data))).note(maximum)
        if not self.matching:
            notes.append(
                f"every one of {len(data.models)} models has a draw of its own, of {count} items on average: "
                "differences between models have the error of two draws."
            )
        return tuple(notes)


class _Snippet(NamedTuple):
    """A drawn snippet: its id, its rows as places among the units' rows, and the model it is for."""

    name: str
    at: Ints
    model: str


def _repeated(values: list[object], sizes: list[int]) -> Objects:
    """Return a column with every value as often as it is said."""
    column = np.empty(len(values), object)
    column[:] = values
    return np.repeat(column, sizes)
