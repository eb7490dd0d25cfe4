"""What people are asked: the tasks of a selection or a campaign, with tokens for the models' names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import counted
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Scale
from sparingly.data.selection import Row, Selection
from sparingly.run.exchange.key import Key, Question, Same, model_tokens, task_id
from sparingly.run.raters.assignment import Assignment
from sparingly.run.raters.assignment import Task as Assigned
from sparingly.run.raters.controls import ORIGINAL

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.questions import Question as CampaignQuestion


Kind = Literal["score", "pair", "ranking", "spans"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Output:
    """A text to judge, under the token of the models that wrote it."""

    token: str
    text: str


@dataclass(frozen=True)
class Passage:
    """An item that is shown around the one to judge: its source, and what the models wrote, by token."""

    item: str
    source: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One item for one rater (or for anyone), with the outputs to judge.

    Attributes:
        id: An opaque id of letters, the same for the same question.
        item: The item's id as it may be seen: a control item has that of its original.
        outputs: What to judge, in the order to show it (of a pair: left, right); equal texts are there once.
        source: The source text.
        references: The references by name.
        before: What comes before it in the document, in order.
        after: What comes after it.
        document: The document, if any.
        position: The place in the document.
        domain: The domain, if any.
        data: The data set of a campaign that has several; empty otherwise.
        round: The round that asks, from 1.
        probability: The row's inclusion probability; None for the top of a list.
        rater: Who is to judge it; None for anyone.
        control: The kind of a control item (``degraded``, ``reference``, ``repeat``); it must not show.
    """

    id: str
    item: str
    outputs: tuple[Output, ...]
    source: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Passage, ...] = ()
    after: tuple[Passage, ...] = ()
    document: str | None = None
    position: float | None = None
    domain: str | None = None
    data: str = ""
    round: int = 1
    probability: float | None = None
    rater: str | None = None
    control: str | None = None

    @property
    def reference(self) -> str | None:
        """The first reference, where there is one."""
        return next(iter(self.references.values()), None)

    @property
    def pair(self) -> tuple[Output, Output]:
        """The output on the left and the one on the right of a pair."""
        left, right = self.outputs
        return left, right


@dataclass(frozen=True)
class Tasks:
    """All tasks of an export, documents together and in order, with the key that opens them.

    Attributes:
        tasks: The tasks; where there are raters, rater by rater.
        kind: What is asked: ``score``, ``pair``, ``ranking`` or ``spans``.
        scales: What is judged, each aspect with its scale. Pairs and rankings use the names only; spans
            without an aspect are counted in points as the aspect ``mqm``.
        key: What the tokens stand for. It stays at home.
        seed: The seed of tokens and sides.
        notes: What was not asked and why, in sentences.
    """

    tasks: tuple[Task, ...]
    kind: Kind
    scales: Mapping[str, Scale]
    key: Key
    seed: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    @property
    def aspects(self) -> tuple[str, ...]:
        """What is judged."""
        return tuple(self.scales)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters that have tasks of their own, in order."""
        return tuple(sorted({task.rater for task in self.tasks if task.rater is not None}))

    def by_rater(self) -> dict[str | None, list[Task]]:
        """Return the tasks of every rater, those for anyone under None."""
        found: dict[str | None, list[Task]] = {}
        for task in self.tasks:
            found.setdefault(task.rater, []).append(task)
        return found

    def by_document(self) -> list[list[Task]]:
        """Return runs of tasks of one rater and document; without a document an item is its own run."""
        runs: list[list[Task]] = []
        for task in self.tasks:
            last = runs[-1][-1] if runs else None
            together = (
                last is not None
                and task.document is not None
                and (last.rater, last.data, last.document) == (task.rater, task.data, task.document)
            )
            if together:
                runs[-1].append(task)
            else:
                runs.append([task])
        return runs


@dataclass(frozen=True)
class Ask:
    """One question set, with the models' own names.

    Attributes:
        held: The set that the item is in: the data, or the control items.
        item: The item.
        models: The models to judge; in the order to show where ``in_order``.
        data: The name of the data set, where a campaign has several.
        round: The round that asks, from 1.
        probability: The inclusion probability, where all models share it.
        probabilities: That of the models, where they differ.
        context: Items to show before it.
        rater: Who judges.
        control: The kind of a control item.
        original: The item that a control item was made from.
        in_order: Whether the order of the models is drawn already.
    """

    held: EvalSet
    item: str
    models: tuple[str, ...]
    data: str = ""
    round: int = 1
    probability: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    rater: str | None = None
    control: str | None = None
    original: str | None = None
    in_order: bool = False


def asks_of(
    held: EvalSet,
    selection: Selection,
    *,
    pairs: bool,
    assignment: Assignment | None = None,
    controls: EvalSet | None = None,
    data: str = "",
) -> list[Ask]:
    """Return what a selection asks for, rater by rater where there is an assignment.

    Rows of one item are asked together, pairs one by one.
    """
    held.positions(selection.items)
    chosen = _by_item(held, selection, pairs, data)
    if assignment is None:
        return [ask for asks in chosen.values() for ask in asks]
    return [ask for task in assignment.tasks for ask in _assigned(task, chosen, controls)]


def _by_item(held: EvalSet, selection: Selection, pairs: bool, data: str) -> dict[str, list[Ask]]:
    rows: dict[str, list[Row]] = {}
    for row in selection:
        rows.setdefault(row.item, []).append(row)
    number = selection.signature.round or 1
    if pairs:
        return {item: [_pair(held, row, data, number) for row in together] for item, together in rows.items()}
    return {item: [_whole(held, together, data, number)] for item, together in rows.items()}


def _pair(held: EvalSet, row: Row, data: str, number: int) -> Ask:
    models = row.pair or row.models or held.models
    if len(models) != 2:
        raise UsageError(
            f'The item "{row.item}" has {len(models)} models and a pair has two: ask for a ranking, or '
            "choose pairs with a method that does."
        )
    return Ask(held, row.item, tuple(models), data, number, row.probability, context=row.context)


def _whole(held: EvalSet, rows: Iterable[Row], data: str, number: int) -> Ask:
    chances: dict[str, float | None] = {}
    context: tuple[str, ...] = ()
    for row in rows:
        if row.pair is not None:
            raise UsageError("The selection names pairs of models: ask for pairs.")
        chances |= dict.fromkeys(held.models if row.models is None else row.models, row.probability)
        context, item = max(context, row.context, key=len), row.item
    common = set(chances.values())
    alike = len(common) == 1
    return Ask(
        held,
        item,
        tuple(chances),
        data,
        number,
        probability=common.pop() if alike else None,
        probabilities={} if alike else {name: p for name, p in chances.items() if p is not None},
        context=context,
    )


def _assigned(task: Assigned, chosen: Mapping[str, list[Ask]], controls: EvalSet | None) -> list[Ask]:
    if task.control is not None:
        return [_control(task, controls)]
    if task.item not in chosen:
        raise UsageError(
            f'The assignment hands out the item "{task.item}", which is not in the selection: assign again.'
        )
    asks = []
    for ask in chosen[task.item]:
        models = tuple(name for name in task.models if name in ask.models)
        changed: dict[str, Any] = {"rater": task.rater, "models": models, "in_order": True}
        asks.append(Ask(**{**vars(ask), **changed, "context": ask.context or task.context}))
    return asks


def _control(task: Assigned, controls: EvalSet | None) -> Ask:
    if controls is None:
        raise MissingDataError(
            f'The assignment hands out the control item "{task.item}": give the control items, too.'
        )
    place = int(controls.positions([task.item])[0])
    return Ask(
        controls,
        task.item,
        task.models,
        rater=task.rater,
        control=task.control,
        original=str(controls.columns[ORIGINAL][place]),
        in_order=True,
    )


def in_document_order(asks: Iterable[Ask]) -> list[Ask]:
    """Return questions with those of one rater and document together, in the order of the document."""
    groups: dict[tuple[Any, ...], list[tuple[float, int, Ask]]] = {}
    for number, ask in enumerate(asks):
        document, position = document_of(ask.held, ask.item)
        name = ("item", number) if document is None else ("document", document)
        groups.setdefault((ask.rater, ask.data, ask.round, *name), []).append((position or 0.0, number, ask))
    return [ask for group in groups.values() for _, _, ask in sorted(group, key=lambda one: one[:2])]


def document_of(held: EvalSet, item: str) -> tuple[str | None, float | None]:
    """Return the document of an item and its place in it, or None."""
    place = int(held.positions([item])[0])
    if fields.DOCUMENT not in held.columns or held.columns[fields.DOCUMENT][place] is None:
        return None, None
    position = float(held.columns[fields.POSITION][place])
    return str(held.columns[fields.DOCUMENT][place]), None if position != position else position


def shown_order(models: Sequence[str], seed: int, *place: object) -> tuple[str, ...]:
    """Return models in the order in which their outputs are shown: by a hash of seed, place and model.

    ``place`` is what is shown (item, rater …). The answer does not depend on the order of the models given.
    """
    names = sorted(models)
    where = "\x1f".join("" if part is None else str(part) for part in place)
    keys = rng.keys_of([f"{where}\x1e{name}" for name in names])
    return tuple(names[at] for at in np.argsort(rng.stream(keys, seed, "sides"), kind="stable"))


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


Aspects = str | Sequence[str] | Mapping[str, Scale | None]
OVERALL = "overall"


def make_tasks(
    data: EvalSet,
    selection: Selection,
    assignment: Assignment | None = None,
    controls: EvalSet | None = None,
    *,
    kind: Kind | None = None,
    aspects: Aspects | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    salt: str = "",
    context_before: int = 0,
    context_after: int = 0,
    merge: bool = True,
    texts: bool = True,
) -> Tasks:
    """Return the tasks of a selection, for the raters of an assignment or for anyone.

    Args:
        data: The evaluation set.
        selection: What is to be judged.
        assignment: Who judges what; anyone unless given.
        controls: The control items that the assignment hands out.
        kind: ``score``, ``pair``, ``ranking`` or ``spans``; pairs where the selection has pairs, else scores.
        aspects: What is judged, by name or with scales; ``overall`` unless given, and points for spans.
        scale: The scale of aspects that have none of their own; 0 to 100 unless given.
        seed: Settles tokens and sides.
        salt: A secret to mix into tokens.
        context_before: Items of the document to show before an item that has no context of its own.
        context_after: Items of the document to show after it.
        merge: Ask about equal outputs once.
        texts: Whether outputs are shown; not for a harness that runs the models itself.
    """
    asked = _kind(kind, selection.pairs is not None)
    asks = asks_of(data, selection, pairs=asked == "pair", assignment=assignment, controls=controls)
    manner = Manner(
        asked, _scales(aspects, scale, asked), seed, salt, context_before, context_after, merge, texts
    )
    tasks = compose(asks, manner, data.models)
    return replace(tasks, key=replace(tasks.key, selection=str(selection.signature)))


def make_campaign_tasks(
    campaign: Campaign,
    data: str | None = None,
    *,
    kind: Kind | None = None,
    scale: Scale | None = None,
    seed: int | None = None,
    salt: str = "",
    context_before: int = 0,
    context_after: int = 0,
    merge: bool = True,
) -> Tasks:
    """Return the tasks of what nobody has judged yet in a campaign, with its aspects and scales."""
    from sparingly.run.campaign.progress import last_entry

    # One state of the campaign, although it is read in several steps while people answer.
    seq = last_entry(campaign)
    questions = campaign.questions(data, at=seq)
    if not questions:
        raise UsageError("Nothing is open: draw the next round first, with sparingly campaign next.")
    asked = _kind(kind, questions[0].other is not None)
    names = sorted({question.data for question in questions})
    held = {name: campaign.data(name, at=seq, judged=False) for name in names}
    asks = [ask for name in names for ask in _open(campaign, name, held[name], questions, asked)]
    scales = {
        aspect: None if ends is None else Scale(*ends) for aspect, ends in campaign.settings.aspects.items()
    }
    drawn = campaign.settings.seed if seed is None else seed
    manner = Manner(asked, _scales(scales, scale, asked), drawn, salt, context_before, context_after, merge)
    return compose(asks, manner, {model for one in held.values() for model in one.models})


def _open(
    campaign: Campaign, name: str, held: EvalSet, questions: Sequence[CampaignQuestion], kind: Kind
) -> list[Ask]:
    """Return what is open in a data set: the rows of its rounds, cut to the models that nobody judged."""
    label = name if len(campaign.settings.budgets) > 1 else ""
    wanted: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for one in questions:
        if one.data == name:
            cell = (one.model,) if one.other is None else (one.model, one.other)
            wanted.setdefault((one.round, one.item), set()).add(cell)
    asks = []
    for number, selection in enumerate(campaign.rounds(name), 1):
        for ask in asks_of(held, selection, pairs=kind == "pair", data=label):
            left = wanted.get((number, ask.item), set())
            if kind == "pair":
                models = ask.models if tuple(sorted(ask.models)) in left else ()
            else:
                open_models = {one for group in left for one in group}
                models = tuple(model for model in _also_late(ask, held) if model in open_models)
            if models:
                asks.append(Ask(**{**vars(ask), "models": models, "round": number}))
    return asks


def _also_late(ask: Ask, held: EvalSet) -> tuple[str, ...]:
    """Return the models of a question and those that came later, which are judged on the same items."""
    return (*ask.models, *(model for model in held.models if model not in ask.models))


def _kind(kind: str | None, pairs: bool) -> Kind:
    if kind is None:
        return "pair" if pairs else "score"
    if kind not in KINDS:
        raise UnknownNameError("kind of question", kind, KINDS)
    if pairs and kind != "pair":
        raise UsageError("The selection names pairs of models: ask for pairs.")
    return next(one for one in KINDS if one == kind)


def _scales(aspects: Aspects | None, scale: Scale | None, kind: Kind) -> dict[str, Scale]:
    common = scale or Scale()
    if aspects is None:
        return {} if kind == "spans" else {OVERALL: common}
    if isinstance(aspects, Mapping):
        return {name: own or common for name, own in aspects.items()}
    names = [aspects] if isinstance(aspects, str) else list(aspects)
    if not names and kind != "spans":
        raise UsageError("Name at least one aspect to judge.")
    return dict.fromkeys(names, common)
