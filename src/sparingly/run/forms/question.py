"""The question: what one person is asked once, with everything there is to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any

import numpy as np

from sparingly.data import fields
from sparingly.data.evalset import EvalSet


@dataclass(frozen=True, slots=True)
class Output:
    """A text to judge."""

    models: tuple[str, ...]  # the models that wrote it; an answer about it is credited to each of them
    text: str | None = None  # the text; None where it is missing, or stays in the files that left
    token: str = ""  # what files and pages call it instead of the models' names
    # How many code points it has, by which spans are checked; None where nobody knows.
    letters: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """An item that is shown around the one to judge: its source, and what the models wrote, by token."""

    item: str
    source: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """One item for one person: an output or several to score, two to compare, or several to rank.

    Attributes:
        item: The item.
        outputs: What to judge, in the order to show it (of a pair: left, right).
        aspects: What is judged.
        form: The name of the form that asks.
        data: The data set; empty where there is only one.
        round: The round that asks, from 1.
        place: The place of its row in the round.
        id: An opaque id; empty until the question leaves for a tool or a page.
        rater: Who is to judge it; None for anyone.
        source: The source text.
        references: The references by name.
        before: What comes before it in the document, in order.
        after: What comes after it.
        document: The document, if any.
        position: The place in the document.
        probability: The inclusion probability; None for the top of a list.
        probabilities: Those of models that have one of their own.
        control: The kind of a control item (``degraded``, ``reference``, ``repeat``); it must not show.
        original: The item that a control item was made from.
    """

    item: str
    outputs: tuple[Output, ...] = ()
    aspects: tuple[str, ...] = ()
    form: str = "score"
    data: str = ""
    round: int = 1
    place: int = 0
    id: str = ""
    rater: str | None = None
    source: str | None = None
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    before: tuple[Passage, ...] = field(default=(), hash=False)
    after: tuple[Passage, ...] = field(default=(), hash=False)
    document: str | None = None
    position: float | None = None
    probability: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict, hash=False)
    control: str | None = None
    original: str | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that an answer is credited to, in the order of their outputs."""
        return tuple(model for output in self.outputs for model in output.models)

    @property
    def model(self) -> str:
        """The model whose output is judged, or the first of two."""
        return self.outputs[0].models[0]

    @property
    def other(self) -> str | None:
        """The second of two models that are compared; None for a single output."""
        return self.outputs[1].models[0] if len(self.outputs) > 1 else None

    @property
    def output(self) -> str | None:
        """What the model wrote."""
        return self.outputs[0].text

    @property
    def other_output(self) -> str | None:
        """What the other model wrote."""
        return self.outputs[1].text if len(self.outputs) > 1 else None

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """What identifies a question of a campaign: data set, item, model, and the other of a pair."""
        return self.data, self.item, self.model, self.other or ""

    @property
    def reference(self) -> str | None:
        """The first reference, where there is one."""
        return next(iter(self.references.values()), None)

    @property
    def shown_item(self) -> str:
        """The item's id as it may be seen: a control item has that of its original."""
        return self.original or self.item

    @property
    def by_token(self) -> dict[str, Output]:
        """The outputs by their tokens, in the order shown."""
        return {output.token: output for output in self.outputs}

    @property
    def models_by_token(self) -> dict[str, tuple[str, ...]]:
        """The models that an answer about each token is credited to."""
        return {output.token: output.models for output in self.outputs}

    def without_texts(self) -> Question:
        """Return the question as a key keeps it: texts stay in the files that leave."""
        return replace(
            self,
            outputs=tuple(replace(output, text=None) for output in self.outputs),
            source=None,
            references={},
            before=tuple(Passage(passage.item) for passage in self.before),
            after=tuple(Passage(passage.item) for passage in self.after),
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a table to fill in, one row per aspect, with the columns that ``record`` reads."""
        if self.other is None:
            names = {"model": self.model}
            texts = {"output": self.output}
        else:
            names = {"first": self.model, "second": self.other}
            texts = {"first_output": self.output, "second_output": self.other_output}
        blank = {"rater": None, "score": None, "seconds": None, "comment": None}
        common = {"data": self.data, "round": self.round, "item": self.item, **names}
        texts = {"source": self.source, **texts}
        return [{**common, "aspect": aspect, **blank, **texts} for aspect in self.aspects]


class QuestionTexts:
    """Fills questions with what an evaluation set has to show: texts, references, the document around."""

    def __init__(self, data: EvalSet) -> None:
        self.data = data
        self._column = {name: place for place, name in enumerate(data.models)}

    def fill(self, question: Question, *, before: int = 0, after: int = 0) -> Question:
        """Return a question with texts, and with so many items of the document around it."""
        item, row = question.item, self._row(question.item)
        document, position = self.document(item)
        items, place = [item], 0
        if document is not None and before + after:
            items = self._items_by_document[document]
            place = items.index(item)
        # A row of a selection may name its context; nothing else comes before the item then.
        items_before = [passage.item for passage in question.before] or items[max(0, place - before) : place]
        references = {}
        if question.control is None and self.data.reference_texts is not None:
            texts = zip(self.data.references, self.data.reference_texts[row], strict=True)
            references = {name: str(text) for name, text in texts if text is not None}
        return replace(
            question,
            outputs=tuple(
                replace(output, text=self.output(item, output.models[0])) for output in question.outputs
            ),
            source=None if self.data.sources is None else self.data.sources[row],
            references=references,
            before=tuple(self._passage(name, question) for name in items_before),
            after=tuple(self._passage(name, question) for name in items[place + 1 : place + 1 + after]),
            document=document,
            position=position,
        )

    def output(self, item: str, model: str) -> str | None:
        """Return what a model wrote for an item."""
        if self.data.outputs is None:
            return None
        text = self.data.outputs[self._row(item), self._column[model]]
        return None if text is None else str(text)

    def document(self, item: str) -> tuple[str | None, float | None]:
        """Return the document of an item and its place in it, or None."""
        row, columns = self._row(item), self.data.columns
        if fields.DOCUMENT not in columns or columns[fields.DOCUMENT][row] is None:
            return None, None
        position = float(columns[fields.POSITION][row])
        return str(columns[fields.DOCUMENT][row]), None if position != position else position

    def _passage(self, item: str, question: Question) -> Passage:
        source = None if self.data.sources is None else self.data.sources[self._row(item)]
        texts = {
            output.token or output.models[0]: self.output(item, output.models[0])
            for output in question.outputs
        }
        return Passage(item, source, {token: text for token, text in texts.items() if text is not None})

    @cached_property
    def _items_by_document(self) -> dict[str, list[str]]:
        documents = self.data.columns[fields.DOCUMENT]
        positions = np.nan_to_num(np.asarray(self.data.columns[fields.POSITION], np.float64))
        items: dict[str, list[str]] = {}
        for row in np.argsort(positions, kind="stable"):
            if documents[row] is not None:
                items.setdefault(str(documents[row]), []).append(str(self.data.items[row]))
        return items

    def _row(self, item: str) -> int:
        return int(self.data.positions([item])[0])


def output_label(place: int) -> str:
    """Return what people call the output at a place, from 1: A, B and so on, AA after Z."""
    label = ""
    while place > 0:
        place, letter = divmod(place - 1, len(ascii_uppercase))
        label = ascii_uppercase[letter] + label
    return label
