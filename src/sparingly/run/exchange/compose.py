"""Make tasks of what is to be asked: tokens instead of names, drawn sides, equal outputs once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.format import counted
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.run.exchange.asks import Ask, document_of, in_document_order
from sparingly.run.exchange.key import Key, Question, Same
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.sides import shown_order
from sparingly.run.exchange.tasks import Kind, Output, Passage, Task, Tasks
from sparingly.run.exchange.tokens import model_tokens, task_id


@dataclass(frozen=True)
class Manner:
    """How tasks are made.

    Attributes:
        kind: What is asked.
        scales: What is judged, with the scales.
        seed: Settles tokens and sides.
        salt: Mixed into tokens, so that who knows the seed and the models' names cannot guess them.
        context_before: How many items of the document to show before one that has no context of its own.
        context_after: How many items of the document to show after it.
        merge: Whether equal outputs are asked once.
        texts: Whether outputs are shown at all; a harness that runs the models needs none.
    """

    kind: Kind
    scales: Mapping[str, Scale]
    seed: int = 0
    salt: str = ""
    context_before: int = 0
    context_after: int = 0
    merge: bool = True
    texts: bool = True


def compose(asks: Sequence[Ask], manner: Manner, models: Iterable[str]) -> Tasks:
    """Return the tasks of some questions with their key, documents together and in order."""
    if manner.context_before < 0 or manner.context_after < 0:
        raise UsageError("The number of items to show around one is 0 or more.")
    composer = _Composer(manner, model_tokens(models, manner.seed, manner.salt))
    for ask in in_document_order(asks):
        composer.take(ask)
    return composer.done()


@dataclass
class _Composer:
    manner: Manner
    tokens: Mapping[str, str]
    tasks: list[Task] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    same: list[Same] = field(default_factory=list)
    missing: int = 0
    merged: int = 0
    shelves: dict[int, _Shelf] = field(default_factory=dict)

    def take(self, ask: Ask) -> None:
        """Make the task of one question, unless there is nothing to ask."""
        shelf = self.shelves.setdefault(id(ask.held), _Shelf(ask.held))
        groups = self._groups(ask, shelf)
        if self.manner.texts and not groups:
            return
        if self.manner.kind in ("pair", "ranking") and len(groups) < 2:
            self._take_ties(ask, [name for names in groups.values() for name in names])
            return
        asked = sorted(name for names in groups.values() for name in names)
        task = task_id(
            self.manner.seed, self.manner.salt, self.manner.kind,
            ask.data, ask.round, ask.item, ask.rater, *(asked or ask.models),
        )  # fmt: skip
        self._add(task, ask, groups, shelf)

    def _groups(self, ask: Ask, shelf: _Shelf) -> dict[Output, tuple[str, ...]]:
        """Return the outputs in the order to show, each with the models that wrote it."""
        if not self.manner.texts:
            return {}
        order = ask.models
        if not ask.in_order:
            order = shown_order(order, self.manner.seed, ask.data, ask.item, ask.rater)
        written: dict[str, list[str]] = {}
        for name in order:
            text = shelf.output(ask.item, name)
            if text is None:
                self.missing += 1
            else:
                written.setdefault(text if self.manner.merge else f"{name}\x1f{text}", []).append(name)
        if self.manner.kind == "pair" and sum(map(len, written.values())) < 2:
            return {}
        if self.manner.kind not in ("pair", "ranking") or len(written) > 1:
            self.merged += sum(len(names) - 1 for names in written.values())
        return {
            Output(min(self.tokens[name] for name in names), shelf.output(ask.item, names[0]) or ""): tuple(
                sorted(names)
            )
            for names in written.values()
        }

    def _take_ties(self, ask: Ask, names: Sequence[str]) -> None:
        self.same += [
            Same(ask.item, (one, other), ask.data, ask.round, ask.probability)
            for one, other in combinations(sorted(names), 2)
        ]

    def _add(self, task: str, ask: Ask, groups: Mapping[Output, tuple[str, ...]], shelf: _Shelf) -> None:
        document, position = document_of(ask.held, ask.item)
        before, after = shelf.around(ask.item, self.manner.context_before, self.manner.context_after)
        before = ask.context or before
        tokens = {output.token: names[0] for output, names in groups.items()}
        shown = Task(
            id=task,
            item=ask.original or ask.item,
            outputs=tuple(groups),
            source=shelf.source(ask.item),
            references=shelf.references(ask.item) if ask.control is None else {},
            before=tuple(shelf.passage(item, tokens) for item in before),
            after=tuple(shelf.passage(item, tokens) for item in after),
            document=document,
            position=position,
            domain=shelf.domain(ask.item),
            data=ask.data,
            round=ask.round,
            probability=ask.probability,
            rater=ask.rater,
            control=ask.control,
        )
        self.tasks.append(shown)
        self.questions[task] = Question(
            task=task,
            item=ask.item,
            outputs={output.token: names for output, names in groups.items()},
            texts={output.token: len(output.text) for output in groups},
            shown_item=ask.original or "",
            data=ask.data,
            round=ask.round,
            probability=ask.probability,
            probabilities=ask.probabilities,
            rater=ask.rater,
            document=document,
            position=position,
            before=tuple(before),
            after=tuple(after),
            control=ask.control,
        )

    def done(self) -> Tasks:
        """Return all tasks and the key."""
        if not self.tasks and not self.same:
            raise UsageError("There is nothing to ask: no chosen item has an output.")
        key = Key(
            kind=self.manner.kind,
            scales=self.manner.scales,
            models={token: name for name, token in self.tokens.items()},
            questions=self.questions,
            same=tuple(self.same),
            seed=self.manner.seed,
            salt=self.manner.salt,
            digest=_digest(self.tasks),
        )
        return Tasks(
            tuple(self.tasks), self.manner.kind, self.manner.scales, key, self.manner.seed, self._notes()
        )

    def _notes(self) -> tuple[str, ...]:
        told = [
            (
                self.missing,
                "output is missing and is not asked about.",
                "outputs are missing and are not asked about.",
            ),
            (
                self.merged,
                "output equals another one of its item: asked once, credited to all.",
                "outputs equal another one of their item: asked once, credited to all.",
            ),
            (
                len(self.same),
                "pair has equal outputs: a tie, which nobody is asked about.",
                "pairs have equal outputs: ties, which nobody is asked about.",
            ),
        ]
        return tuple(counted(*sentence) for sentence in told if sentence[0] > 0)


class _Shelf:
    """The texts of one evaluation set, by item and model."""

    def __init__(self, held: EvalSet) -> None:
        self.held = held
        self.column = {name: place for place, name in enumerate(held.models)}

    def output(self, item: str, model: str) -> str | None:
        """Return what a model wrote."""
        if self.held.outputs is None:
            raise MissingDataError("The set has no outputs, so there is nothing to show to raters.")
        text = self.held.outputs[self._row(item), self.column[model]]
        return None if text is None else str(text)

    def source(self, item: str) -> str | None:
        """Return the source of an item."""
        return None if self.held.sources is None else self.held.sources[self._row(item)]

    def references(self, item: str) -> dict[str, str]:
        """Return the references of an item by name."""
        texts = self.held.reference_texts
        if texts is None:
            return {}
        named = zip(self.held.references, texts[self._row(item)], strict=True)
        return {name: str(text) for name, text in named if text is not None}

    def domain(self, item: str) -> str | None:
        """Return the domain of an item."""
        if fields.DOMAIN not in self.held.columns:
            return None
        found = self.held.columns[fields.DOMAIN][self._row(item)]
        return None if found is None else str(found)

    def passage(self, item: str, tokens: Mapping[str, str]) -> Passage:
        """Return an item of the context, with what the models of some tokens wrote."""
        outputs = {}
        for token, model in tokens.items():
            text = self.output(item, model)
            if text is not None:
                outputs[token] = text
        return Passage(item, self.source(item), outputs)

    def around(self, item: str, before: int, after: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the items of the document around one."""
        document, _ = document_of(self.held, item)
        if document is None or before + after == 0:
            return (), ()
        inside = self._documents[document]
        at = inside.index(item)
        return tuple(inside[max(0, at - before) : at]), tuple(inside[at + 1 : at + 1 + after])

    @cached_property
    def _documents(self) -> dict[str, list[str]]:
        names = self.held.columns[fields.DOCUMENT]
        places = np.nan_to_num(np.asarray(self.held.columns[fields.POSITION], np.float64))
        inside: dict[str, list[str]] = {}
        for at in np.argsort(places, kind="stable"):
            if names[at] is not None:
                inside.setdefault(str(names[at]), []).append(str(self.held.items[at]))
        return inside

    def _row(self, item: str) -> int:
        return int(self.held.positions([item])[0])


def _digest(tasks: Iterable[Task]) -> str:
    """Return a digest of the items and texts that leave."""
    held = [[task.id, task.item, task.source, [vars(output) for output in task.outputs]] for task in tasks]
    text = json.dumps(held, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
