"""What leaves for an annotation tool: the questions of a selection or a campaign, without models' names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.format import counted
from sparingly.base.syntax import argument, either
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Scale
from sparingly.data.selection import Row, Selection
from sparingly.data.texts import same_text
from sparingly.run.exchange.key import Key, model_tokens, task_id
from sparingly.run.forms.form import Form, FormKind, form_named
from sparingly.run.forms.question import Output, Passage, Question, QuestionTexts
from sparingly.run.raters.assignment import Assignment
from sparingly.run.raters.controls import ORIGINAL

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

AskedAspects = str | Sequence[str] | Mapping[str, Scale | None]
OVERALL = "overall"
# One output or pair, and several.
_MISSING = ("output is missing and left out.", "outputs are missing and left out.")
_MERGED = (
    "output equals another one of its item: judged once, counted for all.",
    "outputs equal another one of their item: judged once, counted for all.",
)
_TIED = (
    "pair has equal outputs: counted as a tie, without asking.",
    "pairs have equal outputs: counted as ties, without asking.",
)


@dataclass(frozen=True)
class Tasks:
    """All questions of an export, documents together and in order, with the key that opens them."""

    questions: tuple[Question, ...]  # the questions; where there are raters, rater by rater
    key: Key  # how it is asked, and what the tokens stand for. It stays at home
    notes: tuple[str, ...] = ()  # what was not asked and why, in sentences

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def kind(self) -> FormKind:
        """What kind of answers come back."""
        return self.key.answers

    @property
    def scales(self) -> Mapping[str, Scale]:
        """What is judged, each aspect with its scale; pairs and rankings use the names only."""
        return self.key.scales

    @property
    def aspects(self) -> tuple[str, ...]:
        """What is judged; spans without an aspect are counted in points as the aspect ``mqm``."""
        return self.key.aspects

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters that have questions of their own, in order."""
        return tuple(sorted({question.rater for question in self if question.rater is not None}))

    def by_rater(self) -> dict[str | None, list[Question]]:
        """Return the questions of every rater, those for anyone under None."""
        lists: dict[str | None, list[Question]] = {}
        for question in self:
            lists.setdefault(question.rater, []).append(question)
        return lists

    def by_document(self) -> list[list[Question]]:
        """Return runs of questions of one rater and document; without a document an item is its own run."""
        runs: list[list[Question]] = []
        for question in self:
            document = (question.rater, question.data, question.document)
            last = runs[-1][-1] if runs and question.document is not None else None
            if last is not None and (last.rater, last.data, last.document) == document:
                runs[-1].append(question)
            else:
                runs.append([question])
        return runs


# --- from a selection or a campaign ---------------------------------------------------------------------


def make_tasks(
    data: EvalSet,
    selection: Selection,
    assignment: Assignment | None = None,
    controls: EvalSet | None = None,
    *,
    kind: str | None = None,
    aspects: AskedAspects | None = None,
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
        assignment: Who judges what; default: anyone.
        controls: The control items that the assignment hands out.
        kind: ``score``, ``pair``, ``ranking`` or ``spans``; pairs where the selection has pairs, else scores.
        aspects: What is judged, by name or with scales; ``overall`` unless given, and points for spans.
        scale: The scale of aspects that have none of their own; that of its labels, or 0 to 100.
        seed: Settles tokens and sides.
        salt: A secret to mix into tokens.
        context_before: Items of the document to show before an item that has no context of its own.
        context_after: Items of the document to show after it.
        merge: Ask about equal outputs once.
        texts: Whether outputs are shown; not for a harness that runs the models itself.
    """
    form = _form(kind, selection.pairs is not None)
    maker = _TaskMaker(
        form, _scales(aspects, scale, form, data), seed, salt, context_before, context_after, merge, texts
    )
    data.positions(selection.items)
    chosen = _selected(data, selection, pairs=form.answers == "pair")
    if assignment is None:
        tasks = maker.make(((data, question) for question in chosen), data.models)
    else:
        tasks = maker.make(_assigned(data, chosen, assignment, controls), data.models)
    return replace(tasks, key=replace(tasks.key, selection=str(selection.signature)))


def make_campaign_tasks(
    campaign: Campaign,
    data: str | None = None,
    *,
    kind: str | None = None,
    scale: Scale | None = None,
    seed: int | None = None,
    salt: str = "",
    context_before: int = 0,
    context_after: int = 0,
    merge: bool = True,
) -> Tasks:
    """Return the tasks of what nobody has judged yet in a campaign, with its aspects and scales."""
    # One state of the campaign, although it is read in several steps while people answer.
    seq = campaign.last_seq()
    unanswered = campaign.questions(data, at=seq)
    if not unanswered:
        raise UsageError(
            "Nothing is open: draw the next round first, with "
            f"{either('sparingly campaign next', 'campaign.next()')}."
        )
    form = _form(kind, unanswered[0].other is not None)
    scales = {
        aspect: None if ends is None else Scale(*ends) for aspect, ends in campaign.settings.aspects.items()
    }
    task_seed = campaign.settings.seed if seed is None else seed
    maker = _TaskMaker(
        form, _scales(scales, scale, form), task_seed, salt, context_before, context_after, merge
    )
    names = sorted({question.data for question in unanswered})
    sets = {name: campaign.data(name, at=seq, judged=False) for name in names}
    questions = [
        (sets[name], question)
        for name in names
        for question in _unanswered(campaign, name, sets[name], unanswered, pairs=form.answers == "pair")
    ]
    return maker.make(questions, {model for evalset in sets.values() for model in evalset.models})


def _form(kind: str | None, pairs: bool) -> Form:
    form = form_named(kind or ("pair" if pairs else "score"), "files", "kind of question")
    if pairs and form.answers != "pair":
        raise UsageError("The selection names pairs of models: ask for pairs.")
    return form


def _scales(
    aspects: AskedAspects | None, scale: Scale | None, form: Form, data: EvalSet | None = None
) -> dict[str, Scale]:
    common = scale or Scale()
    if aspects is None:
        return {} if form.answers == "spans" else {OVERALL: common}
    if isinstance(aspects, Mapping):
        return {name: aspect_scale or common for name, aspect_scale in aspects.items()}
    names = [aspects] if isinstance(aspects, str) else list(aspects)
    if not names and form.answers != "spans":
        raise UsageError(f"Name what people judge: {argument('aspect', 'quality')}.")
    if scale is not None or data is None:
        return dict.fromkeys(names, common)
    return {name: data.label_scale(name) or common for name in names}


def _selected(data: EvalSet, selection: Selection, *, pairs: bool, name: str = "") -> list[Question]:
    """Return what a selection asks for, item by item: rows of one item together, pairs one by one."""
    rows: dict[str, list[Row]] = {}
    for row in selection:
        rows.setdefault(row.item, []).append(row)
    number = selection.signature.round or 1
    if not pairs:
        return [_all_models(data, together, name, number) for together in rows.values()]
    questions = []
    for row in (row for together in rows.values() for row in together):
        models = row.pair or row.models or data.models
        if len(models) != 2:
            raise UsageError(
                f'The item "{row.item}" has {len(models)} models and a pair has two: ask for a ranking, or '
                "choose pairs with a method that does."
            )
        questions.append(
            _question(row.item, models, row.context, data=name, round=number, probability=row.probability)
        )
    return questions


def _question(item: str, models: Iterable[str], context: Iterable[str], **values: Any) -> Question:
    outputs = tuple(Output((model,)) for model in models)
    return Question(item, outputs, before=tuple(Passage(item_shown) for item_shown in context), **values)


def _all_models(data: EvalSet, rows: Iterable[Row], name: str, number: int) -> Question:
    probabilities: dict[str, float | None] = {}
    context: tuple[str, ...] = ()
    for row in rows:
        if row.pair is not None:
            raise UsageError("The selection names pairs of models: ask for pairs.")
        probabilities |= dict.fromkeys(data.models if row.models is None else row.models, row.probability)
        context, item = max(context, row.context, key=len), row.item
    common = set(probabilities.values())
    alike = len(common) == 1
    return _question(
        item,
        probabilities,
        context,
        data=name,
        round=number,
        probability=common.pop() if alike else None,
        probabilities={} if alike else {model: p for model, p in probabilities.items() if p is not None},
    )


def _assigned(
    data: EvalSet, chosen: Iterable[Question], assignment: Assignment, controls: EvalSet | None
) -> Iterator[tuple[EvalSet, Question]]:
    """Yield questions as they are handed out to raters, the models in their order, each with its set."""
    by_item: dict[str, list[Question]] = {}
    for question in chosen:
        by_item.setdefault(question.item, []).append(question)
    for task in assignment.tasks:
        if task.control is not None:
            if controls is None:
                raise MissingDataError(
                    f'The assignment has the control item "{task.item}": give the control items, too: '
                    f"{argument('controls', 'FILE')}."
                )
            row = int(controls.positions([task.item])[0])
            original = str(controls.columns[ORIGINAL][row])
            control = {"rater": task.rater, "control": task.control, "original": original}
            yield controls, _question(task.item, task.models, (), **control)
            continue
        if task.item not in by_item:
            raise UsageError(
                f'The assignment has the item "{task.item}", which is not in the selection: assign again.'
            )
        for question in by_item[task.item]:
            outputs = tuple(Output((model,)) for model in task.models if model in question.models)
            context = question.before or tuple(Passage(item) for item in task.context)
            yield data, replace(question, rater=task.rater, outputs=outputs, before=context)


def _unanswered(
    campaign: Campaign, name: str, data: EvalSet, unanswered: Sequence[Question], *, pairs: bool
) -> list[Question]:
    """Return the questions of the rounds of a data set, cut to the models that nobody judged."""
    label = name if len(campaign.settings.budgets) > 1 else ""
    open_cells: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for cell_question in unanswered:
        if cell_question.data == name:
            place = (cell_question.round, cell_question.item)
            open_cells.setdefault(place, set()).add(cell_question.models)
    questions = []
    for number, selection in enumerate(campaign.rounds(name), 1):
        for question in _selected(data, selection, pairs=pairs, name=label):
            cells = open_cells.get((number, question.item), set())
            if pairs:
                models = question.models if tuple(sorted(question.models)) in cells else ()
            else:
                # Models that came later are judged on the same items.
                late = (model for model in data.models if model not in question.models)
                single = {model for cell in cells for model in cell}
                models = tuple(model for model in (*question.models, *late) if model in single)
            if models:
                outputs = tuple(Output((model,)) for model in models)
                questions.append(replace(question, outputs=outputs, round=number))
    return questions


# --- without names --------------------------------------------------------------------------------------


@dataclass
class _TaskMaker:
    """Makes tasks of questions: tokens instead of names, drawn sides, equal outputs once.

    Its fields are what ``make_tasks`` was asked for.
    """

    form: Form
    scales: Mapping[str, Scale]
    seed: int
    # Who knows the seed and the models' names cannot guess the tokens without it.
    salt: str
    context_before: int
    context_after: int
    merge: bool
    texts: bool = True
    _equal: list[Question] = field(default_factory=list)
    _missing: int = 0
    _merged: int = 0

    def __post_init__(self) -> None:
        if self.context_before < 0 or self.context_after < 0:
            raise UsageError("The number of items to show around one is 0 or more.")

    def make(self, questions: Iterable[tuple[EvalSet, Question]], models: Iterable[str]) -> Tasks:
        """Return the tasks of some questions with their key; each question comes with its evaluation set."""
        texts: dict[int, QuestionTexts] = {}
        # Questions of one rater and document are together, in the order of the document.
        documents: dict[tuple[Any, ...], list[Question]] = {}
        for number, (data, question) in enumerate(questions):
            if self.texts and data.outputs is None:
                raise MissingDataError("The set has no outputs, so there is nothing to show to raters.")
            if id(data) not in texts:
                texts[id(data)] = QuestionTexts(data)
            with_texts = texts[id(data)].fill(question, before=self.context_before, after=self.context_after)
            single = number if with_texts.document is None else None
            place = (with_texts.rater, with_texts.data, with_texts.round, with_texts.document, single)
            documents.setdefault(place, []).append(with_texts)
        tokens = model_tokens(models, self.seed, self.salt)
        tasks = [
            task
            for document in documents.values()
            for question in sorted(document, key=lambda question: question.position or 0.0)
            if (task := self._task(question, tokens)) is not None
        ]
        if not tasks and not self._equal:
            raise UsageError("There is nothing to ask: no chosen item has an output.")
        key = Key(
            kind=self.form.name,
            scales=self.scales,
            models={token: name for name, token in tokens.items()},
            questions={question.id: question.without_texts() for question in tasks},
            same=tuple(self._equal),
            seed=self.seed,
            salt=self.salt,
            digest=_digest(tasks),
        )
        counts = {_MISSING: self._missing, _MERGED: self._merged, _TIED: len(self._equal)}
        notes = tuple(counted(count, *nouns) for nouns, count in counts.items() if count)
        return Tasks(tuple(tasks), key, notes)

    def _task(self, question: Question, tokens: Mapping[str, str]) -> Question | None:
        """Return a question as it may leave; None where there is nothing to ask."""
        outputs = self._outputs(question, tokens)
        if self.texts and not outputs:
            return None
        names = sorted(model for output in outputs for model in output.models)
        if self.form.compares and len(outputs) < 2:
            place = {"data": question.data, "round": question.round, "probability": question.probability}
            self._equal += [_question(question.item, pair, (), **place) for pair in combinations(names, 2)]
            return None
        parts = (question.data, question.round, question.item, question.rater)
        return replace(
            question,
            id=task_id(self.seed, self.salt, self.form.name, *parts, *(names or question.models)),
            outputs=outputs,
            aspects=tuple(self.scales),
            form=self.form.name,
            before=tuple(_with_tokens(passage, outputs) for passage in question.before),
            after=tuple(_with_tokens(passage, outputs) for passage in question.after),
        )

    def _outputs(self, question: Question, tokens: Mapping[str, str]) -> tuple[Output, ...]:
        """Return the outputs in the order to show, each with the models that wrote it."""
        if not self.texts:
            return ()
        order = question.models
        if question.rater is None:
            # By a hash of seed, place and model, whatever the order of the models given.
            names = sorted(order)
            keys = rng.keys_of([f"{question.data}\x1f{question.item}\x1f\x1e{name}" for name in names])
            drawn = np.argsort(rng.stream(keys, self.seed, "sides"), kind="stable")
            order = tuple(names[place] for place in drawn)
        texts = {output.models[0]: output.text for output in question.outputs}
        groups: dict[str, list[str]] = {}
        for name in order:
            if (text := texts[name]) is None:
                self._missing += 1
            else:
                key = same_text(text, exact=self.form.answers == "spans") or ""
                groups.setdefault(key if self.merge else f"{name}\x1f{text}", []).append(name)
        if self.form.answers == "pair" and sum(map(len, groups.values())) < 2:
            return ()
        if not self.form.compares or len(groups) > 1:
            self._merged += sum(len(names) - 1 for names in groups.values())
        return tuple(
            Output(tuple(sorted(names)), text, min(tokens[name] for name in names), len(text))
            for names in groups.values()
            for text in [texts[names[0]] or ""]
        )


def _with_tokens(passage: Passage, outputs: Sequence[Output]) -> Passage:
    texts = {output.token: passage.outputs.get(output.models[0]) for output in outputs}
    return replace(passage, outputs={token: text for token, text in texts.items() if text is not None})


def _digest(questions: Iterable[Question]) -> str:
    """Return a digest of the items and texts that leave."""
    content = []
    for question in questions:
        outputs = [{"token": output.token, "text": output.text} for output in question.outputs]
        content.append([question.id, question.shown_item, question.source, outputs])
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()[:16]
