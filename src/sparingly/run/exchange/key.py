"""The key of an export: what tokens stand for, and what was asked. It never leaves with the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

from sparingly.base import rng
from sparingly.base.errors import DataError, InputError
from sparingly.base.syntax import argument
from sparingly.data import schema
from sparingly.data.files import OwnFile
from sparingly.data.scale import Scale
from sparingly.data.values import (
    as_id,
    as_list,
    as_mapping,
    as_number,
    as_scale,
    as_text,
    as_whole,
    check_version,
    shown,
)
from sparingly.run.forms.form import Form, FormKind, form_named
from sparingly.run.forms.question import Output, Passage, Question

FORMAT, VERSION = "sparingly/key", 1
# The aspect of spans that nobody scored: minus the points of all errors.
POINTS = "mqm"


@dataclass(frozen=True)
class Key(OwnFile):
    """What the tokens and the tasks of an export stand for."""

    is_private: ClassVar[bool] = True

    kind: str  # the name of the form that asked: ``score``, ``pair``, ``ranking``, ``spans`` …
    scales: Mapping[str, Annotated[Scale, as_scale]]  # the aspects with the scales that ratings are on
    models: Mapping[str, schema.Id]  # the model of every token
    questions: Mapping[str, Question]  # what every task asked, by its id
    same: tuple[Question, ...] = ()  # pairs with equal outputs, which were not asked
    seed: int = 0  # the seed of tokens and sides
    salt: str = ""  # what was mixed into the tokens
    tool: str = ""  # the tool that it was exported to
    # The scales that the tool used, where they are others.
    tool_scales: Mapping[str, Annotated[Scale, as_scale]] = field(default_factory=dict)
    digest: str = ""  # the digest of the items and texts that left
    selection: str = ""  # the signature of the selection; empty for a campaign, which keeps its own
    # What a file says beyond that; kept when it is saved.
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def form(self) -> Form:
        """The form that asked."""
        return form_named(self.kind, "files", "kind of question")

    @property
    def answers(self) -> FormKind:
        """What kind of answers come back."""
        return self.form.answers

    @property
    def aspects(self) -> tuple[str, ...]:
        """What was judged."""
        return tuple(self.scales)

    @property
    def asked_aspects(self) -> tuple[str, ...]:
        """The aspects that every output or comparison has an answer on: points where spans have no score."""
        return self.aspects or (POINTS,)

    def tool_scale(self, aspect: str) -> Scale | None:
        """Return the scale that the tool's numbers are on; None where any number will do."""
        return self.tool_scales.get(aspect, self.scales.get(aspect))

    @cached_property
    def _by_item(self) -> dict[str, list[Question]]:
        questions: dict[str, list[Question]] = {}
        for question in self.questions.values():
            questions.setdefault(question.shown_item, []).append(question)
        return questions

    def find(self, item: str, *, rater: str | None = None, tokens: Iterable[str] = ()) -> Question | None:
        """Return the question about an item, for tools that do not give the task's id back.

        Questions of the rater come first; ``tokens`` must all be among the outputs. A control item, which is
        shown under the id of its original, is not found. None where there is none.
        """
        needed_tokens = set(tokens)
        matches = [
            question
            for question in self._by_item.get(item, ())
            if needed_tokens <= question.by_token.keys() and question.control is None
        ]
        of_rater = [question for question in matches if question.rater == rater]
        return next(iter(of_rater or matches), None)

    def merged(self, other: Key) -> Key:
        """Return a key that opens both exports, for the rounds of one campaign."""
        for name in ("kind", "scales", "seed", "salt", "tool", "tool_scales"):
            if getattr(self, name) != getattr(other, name):
                raise DataError(
                    f"The key that is there has another {name.replace('_', ' ')}: write to another key file."
                )
        present = {(question.data, question.item, question.models) for question in self.same}
        fresh = (q for q in other.same if (q.data, q.item, q.models) not in present)
        return replace(
            self,
            models={**self.models, **other.models},
            questions={**self.questions, **other.questions},
            same=(*self.same, *fresh),
            digest=other.digest,
            selection=other.selection,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the key as plain values, as its file holds it."""
        pairs = ({"pair": list(question.models), **_fields(question, _OF_SAME)} for question in self.same)
        return {
            "format": FORMAT,
            "version": VERSION,
            **{name: schema.write(getattr(self, name)) for name in _OF_KEY},
            **self.unknown,
            "questions": [_question_values(question) for question in self.questions.values()],
            "same": list(map(_without_empty, pairs)),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Key:
        """Make a key from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        key = schema.read(
            cls,
            values,
            questions={},
            same=tuple(map(_equal_outputs, as_list(values.get("same"), "same"))),
            seed=as_whole(values.get("seed"), "seed"),
            unknown=schema.unknown_keys(values, cls, "format", "version"),
        )
        questions = [
            _question(as_mapping(entry, place), place, form=key.kind, aspects=key.aspects)
            for number, entry in enumerate(as_list(values.get("questions"), "questions"))
            for place in [f"questions[{number}]"]
        ]
        return replace(key, questions={question.id: question for question in questions})


# What files hold as it is: of a key, of a pair with equal outputs, and of a question.
_OF_KEY = ("tool", "kind", "scales", "tool_scales", "seed", "salt", "digest", "selection", "models")
_OF_SAME = ("item", "data", "round", "probability")
_OF_QUESTION = (*_OF_SAME, "probabilities", "rater", "document", "position", "control")


def _fields(question: Question, names: Iterable[str]) -> dict[str, Any]:
    return {name: schema.write(getattr(question, name)) for name in names}


def _question_values(question: Question) -> dict[str, Any]:
    """Return a question as its key file has it; what is not there is left out."""
    values = {
        "task": question.id,
        **_fields(question, _OF_QUESTION),
        "outputs": {output.token: list(output.models) for output in question.outputs},
        "texts": {output.token: output.letters for output in question.outputs if output.letters is not None},
        "shown_item": question.original,
        "before": [passage.item for passage in question.before],
        "after": [passage.item for passage in question.after],
        # The sides of a pair and the order on the page, whatever a program does to the order of an object.
        "shown": [output.token for output in question.outputs],
    }
    return _without_empty(values)


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _ids(values: Any, field: str) -> tuple[str, ...]:
    return tuple(as_id(name, field) for name in as_list(values, field))


def _question(values: Mapping[str, Any], place: str, **known: Any) -> Question:
    outputs = as_mapping(values.get("outputs"), f"{place}.outputs")
    order = _ids(values.get("shown"), f"{place}.shown") or tuple(outputs)
    if sorted(order) != sorted(outputs):
        raise InputError("the tokens shown are not those of the outputs", field=f"{place}.shown")
    if not all(outputs.values()):
        raise InputError("an output belongs to no model", field=f"{place}.outputs")
    texts = as_mapping(values.get("texts"), f"{place}.texts")
    letters = {token: as_whole(count, f"{place}.texts") for token, count in texts.items()}
    probabilities = as_mapping(values.get("probabilities"), f"{place}.probabilities")
    return schema.read(
        Question,
        values,
        place,
        id=as_id(values.get("task"), f"{place}.task"),
        item=as_id(values.get("item"), f"{place}.item"),
        outputs=tuple(
            Output(_ids(outputs[token], f"{place}.outputs"), token=token, letters=letters.get(token))
            for token in order
        ),
        original=as_text(values.get("shown_item"), f"{place}.shown_item"),
        probabilities={name: as_number(p, f"{place}.probabilities") for name, p in probabilities.items()},
        before=tuple(Passage(item) for item in _ids(values.get("before"), f"{place}.before")),
        after=tuple(Passage(item) for item in _ids(values.get("after"), f"{place}.after")),
        **known,
    )


def _equal_outputs(entry: Any) -> Question:
    values = as_mapping(entry, "same")
    pair = _ids(values.get("pair"), "same.pair")
    if len(pair) != 2:
        raise InputError(f"{shown(list(pair))} is not a pair of models", field="same.pair")
    item, outputs = as_id(values.get("item"), "same.item"), tuple(Output((model,)) for model in pair)
    return schema.read(Question, values, "same", item=item, outputs=outputs)


# --- opaque names of letters only: some tools refuse or split names with digits, ``+`` or parentheses --


LETTERS = "abcdefghijklmnopqrstuvwxyz"
MODEL_LETTERS, TASK_LETTERS = 8, 12


def letters(seed: int, salt: str, purpose: str, names: Iterable[str], count: int) -> list[str]:
    """Return ``count`` small letters per name: a hash of the seed, the salt, the purpose and the name."""
    keys = rng.keys_of([f"{salt}\x1f{name}" for name in names])
    texts = []
    for number in map(int, rng.stream(keys, seed, purpose)):
        text = ""
        for _ in range(count):
            number, letter = divmod(number, len(LETTERS))
            text += LETTERS[letter]
        texts.append(text)
    return texts


def model_tokens(models: Iterable[str], seed: int, salt: str = "") -> dict[str, str]:
    """Return the token of every model: the same in every round and file of one seed and salt."""
    names = sorted(set(models))
    tokens = letters(seed, salt, "model tokens", names, MODEL_LETTERS)
    if len(set(tokens)) < len(names):
        raise DataError(f"Two models have the same token by chance: choose another, {argument('seed', '1')}.")
    return dict(zip(names, tokens, strict=True))


def task_id(seed: int, salt: str, *parts: object) -> str:
    """Return the opaque id of a task by what makes it one: its item, round, models, rater and so on."""
    name = "\x1f".join("" if part is None else str(part) for part in parts)
    return letters(seed, salt, "tasks", [name], TASK_LETTERS)[0]
