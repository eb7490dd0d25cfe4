"""``snippets``: contiguous parts of documents, each segment with its own probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints, Objects
from sparingly.base.errors import UsageError, listing
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.documents import Chance, document_fields, document_shape
from sparingly.choose.design.kind import kind_parameter
from sparingly.choose.design.snippet_chances import (
    SnippetPlan,
    chances_note,
    check_enough,
    document_chances,
    importance_note,
    most_items,
    snippet_rows,
)
from sparingly.choose.design.spending import Spending
from sparingly.choose.design.units import Units, document_units, item_units
from sparingly.choose.design.whole_set import WholeSetSelector
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import MODELS

_SHORT = "(short documents)"
_USUAL_LENGTH = 10


class Texts(NamedTuple):
    """The documents of a set, segments in order: the rows, and where each stands in its document."""

    rows: Ints
    at: Ints
    place: Ints

    def before(self, row: int, most: int) -> Ints:
        """Return the rows right before one in its document."""
        here = self.at[row]
        return self.rows[here - min(most, int(self.place[row])) : here]


@register("snippets")
@dataclass(frozen=True)
class Snippets(WholeSetSelector):
    """Draws contiguous segments of documents, with the segments before them as context.

    π_k = P(document)·Σ_l P(l)·#{starts that cover k}/(L − l + 1) for segment k of a document of L segments:
    with a uniform start the middle is likelier than the ends (``wrap=true`` makes them equal). ``budgeted``:
    every document yields a snippet of n/N of its length, fractions settled at random; ``fixed``: documents
    are drawn, each yields ``length`` segments; ``document``: all of them; ``segment``: single segments.

    Choose ``budgeted`` when segments need their context and documents differ in length: every document is
    spoken for by its share, where ``fixed`` favours short documents. Few documents, or a budget of less than
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
        "equal", "with kind=fixed or document: all documents are as likely, or by their length"
    )
    wrap: bool = parameter(False, "snippets go on at the start of the document, so that all are as likely")
    max_length: int | None = parameter(
        None, "documents of more segments are left out, and scores do not speak for them", minimum=1
    )
    context: int = parameter(10, "how many segments before each chosen one are carried along", minimum=0)
    matching: bool = parameter(True, "one draw for all models; false: a draw of its own for every model")
    weights: str | None = parameter(
        None, "a column of importance: documents give more by the mean of their items"
    )

    def __post_init__(self) -> None:
        if self.chance == "size" and self.kind not in ("document", "fixed"):
            raise UsageError("In snippets, chance=size goes with kind=document or kind=fixed.")
        if self.wrap and self.kind not in ("fixed", "budgeted"):
            raise UsageError("In snippets, wrap=true goes with kind=fixed or kind=budgeted.")
        if self.length is not None and self.kind != "fixed":
            raise UsageError(
                f"In snippets, length={self.length} goes with kind=fixed, and the kind here is {self.kind}."
            )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle how long fixed snippets are."""
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
        whole = document_units(data, np.arange(len(data)))
        shut, told = self._shut(whole)
        left = np.setdiff1d(candidates, shut, assume_unique=True)
        if not len(left):
            raise UsageError(f"No document has {self.max_length} segments or fewer: raise max_length.")
        count = self.count(budget, left)
        units = item_units(data, left) if self.kind == "segment" else document_units(data, left)
        plan = self._plan(data, units, count)
        chances = plan.segment_chances(units.of_row, _places(units), wrap=self.wrap)
        texts = _texts(whole)
        draws = [
            self._draw(units, plan, texts, seed, model)
            for model in ((None,) if self.matching else data.models)
        ]
        drawn = _in_random_order([part for draw in draws for part in draw], seed)
        at = np.concatenate([part.at for part in drawn])
        rows, sizes = units.rows[at], [len(part.at) for part in drawn]
        return Chosen(
            rows=rows,
            probability=chances[at],
            stratum=self._strata(units, plan)[at] if self.kind == "budgeted" else None,
            unit=None if units.are_items else _repeated([part.name for part in drawn], sizes),
            models=None if self.matching else _repeated([(part.model,) for part in drawn], sizes),
            context=self._context(data, texts, rows),
            shut=shut if len(shut) else None,
            reason="a segment that was drawn" if self.kind == "segment" else f"in a drawn {self._thing}",
            notes=(chances_note(chances, "segment"), *told, *self._notes(data, plan, count)),
        )

    @property
    def _thing(self) -> str:
        return {"segment": "segment", "document": "document"}.get(self.kind, "snippet")

    def _shut(self, whole: Units) -> tuple[Ints, tuple[str, ...]]:
        """Return the rows of documents that are too long, and the sentence that lists them."""
        if self.max_length is None or not (whole.sizes > self.max_length).any():
            return np.empty(0, np.int64), ()
        out = whole.sizes > self.max_length
        rows = np.sort(whole.rows[out[whole.of_row]])
        names = [
            f"{name} ({size:.0f})"
            for name, size in zip(whole.names, whole.sizes, strict=True)
            if size > self.max_length
        ]
        several = f"{len(names)} documents" if len(names) > 1 else "1 document"
        said = (
            f"max_length={self.max_length} shuts out {several} with {len(rows)} of {len(whole.rows)} items: "
            f"{listing(names)}; scores do not speak for them."
        )
        return rows, (said,)

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
                f"{lengths.sum()} items together, fewer than the {count} asked for. Lower the budget, or "
                "raise length."
            )
        chances = document_chances(shape, lengths.astype(np.float64), count)
        check_enough(chances, count, self._thing)
        return SnippetPlan.of_length(counts, lengths, chances)

    def _draw(
        self, units: Units, plan: SnippetPlan, texts: Texts, seed: int, model: str | None
    ) -> list[_Snippet]:
        """Return the snippets of one draw."""
        purpose = (self.name,) if model is None else (self.name, model)
        start, length = plan.draw(rng.generator(seed, *purpose), wrap=self.wrap)
        documents = np.flatnonzero(length)
        document, place = snippet_rows(start, length, plan.counts, documents)
        first = np.cumsum(plan.counts) - plan.counts
        at = np.split(first[document] + place, np.cumsum(length[documents])[:-1])
        begins = texts.place[units.rows[first[documents] + start[documents]]]
        names = np.array(list(units.names), object)[documents]
        if self.kind in ("fixed", "budgeted"):
            names = np.array([f"{name}#{begin}" for name, begin in zip(names, begins, strict=True)], object)
        return [_Snippet(name, rows, model or "") for name, rows in zip(names, at, strict=True)]

    def _strata(self, units: Units, plan: SnippetPlan) -> Objects:
        """Return the stratum of every row: its document, where that surely yields a snippet."""
        names = np.array(list(units.names), object)
        return np.where(plan.is_sure, names, _SHORT)[units.of_row].astype(object)

    def _context(self, data: EvalSet, texts: Texts, rows: Ints) -> Objects | None:
        """Return the items right before every row in its document, None where there are none."""
        context = np.full(len(rows), None, object)
        if self.context:
            for place, row in enumerate(rows):
                context[place] = tuple(data.items[texts.before(row, self.context)]) or None
        return context if any(context) else None

    def _notes(self, data: EvalSet, plan: SnippetPlan, count: int) -> tuple[str, ...]:
        notes = [] if self.weights is None else [importance_note(self.weights)]
        if self.kind == "budgeted":
            sure, every = int(plan.is_sure.sum()), len(plan.counts)
            rest = "" if sure == every else f", the other {every - sure} may"
            notes.append(f"{sure} of {every} documents surely give a snippet{rest}.")
        else:
            most = most_items(plan.chance, plan.length.astype(np.float64))
            notes += Spending(count, False, np.arange(len(data))).note(most)
        if not self.matching:
            notes.append(
                f"every one of {len(data.models)} models has a draw of its own, of {count} items on average: "
                "differences between models carry the chance of two draws."
            )
        return tuple(notes)


class _Snippet(NamedTuple):
    """A drawn snippet: its id, its rows as places among the units' rows, and the model it is for."""

    name: str
    at: Ints
    model: str


def _places(units: Units) -> Ints:
    """Return where every row of units stands in its unit."""
    sizes = units.sizes.astype(np.int64)
    return np.asarray(np.arange(len(units.rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def _texts(whole: Units) -> Texts:
    at, place = np.empty(len(whole.rows), np.int64), np.empty(len(whole.rows), np.int64)
    at[whole.rows] = np.arange(len(whole.rows))
    place[whole.rows] = _places(whole)
    return Texts(whole.rows, at, place)


def _in_random_order(drawn: list[_Snippet], seed: int) -> list[_Snippet]:
    """Return snippets in random order, so that whoever stops early has judged a random part."""
    keys = rng.stream(
        rng.keys_of([f"{part.name}\x1f{part.model}" for part in drawn]), seed, "order of the drawn"
    )
    return [drawn[place] for place in np.argsort(keys, kind="stable")]


def _repeated(values: list[object], sizes: list[int]) -> Objects:
    """Return a column with every value as often as it is said."""
    column = np.empty(len(values), object)
    column[:] = values
    return np.repeat(column, sizes)
