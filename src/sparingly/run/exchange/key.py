"""The key of an export: what tokens stand for, and what was asked. It never leaves with the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sparingly.base import rng
from sparingly.base.errors import DataError, InputError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.data.values import (
    as_id,
    as_list,
    as_mapping,
    as_number,
    as_text,
    as_whole,
    check_version,
    shown,
)
from sparingly.run.exchange.files import write_private_json

FORMAT, VERSION = "sparingly/key", 1
# The aspect of spans that nobody scored: minus the points of all errors.
POINTS = "mqm"


@dataclass(frozen=True)
class Question:
    """What a task asked: the item, and whom the answer about each token is credited to.

    Attributes:
        task: The task's id.
        item: The item's own id.
        outputs: The models credited for every token, in the order shown (of a pair: left, right).
        texts: The number of code points of every output, by which spans are checked.
        shown_item: The item's id as the tool saw it, where that is another: the original of a control item.
        data: The data set of a campaign that has several.
        round: The round, from 1.
        probability: The inclusion probability.
        probabilities: Those of models that have one of their own.
        rater: Who was to judge it.
        document: The document.
        position: The place in the document.
        before: The items shown before it.
        after: The items shown after it.
        control: The kind of a control item.
    """

    task: str
    item: str
    outputs: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, int] = field(default_factory=dict)
    shown_item: str = ""
    data: str = ""
    round: int = 1
    probability: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    rater: str | None = None
    document: str | None = None
    position: float | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    control: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values; what is not there is left out."""
        values = {**vars(self), "outputs": {token: list(names) for token, names in self.outputs.items()}}
        values |= {"texts": dict(self.texts), "probabilities": dict(self.probabilities)}
        # The sides of a pair and the order on the page, whatever a program does to the order of an object.
        values |= {"shown": list(self.outputs), "before": list(self.before), "after": list(self.after)}
        return {name: value for name, value in values.items() if value not in (None, "", [], {})}


@dataclass(frozen=True)
class Same:
    """Two models whose outputs of an item are equal: a tie that nobody need be asked about."""

    item: str
    pair: tuple[str, str]
    data: str = ""
    round: int = 1
    probability: float | None = None


@dataclass(frozen=True)
class Key:
    """What the tokens and the tasks of an export stand for.

    Attributes:
        kind: What was asked: ``score``, ``pair``, ``ranking`` or ``spans``.
        scales: The aspects with the scales that ratings are on.
        models: The model of every token.
        questions: What every task asked, by its id.
        same: Pairs with equal outputs, which were not asked.
        seed: The seed of tokens and sides.
        salt: What was mixed into the tokens.
        tool: The tool that it was exported to.
        tool_scales: The scales that the tool used, where they are others.
        digest: The digest of the items and texts that left.
        selection: The signature of the selection; empty for a campaign, which keeps its own.
        unknown: What a file says beyond that; kept when it is saved.
    """

    kind: str
    scales: Mapping[str, Scale]
    models: Mapping[str, str]
    questions: Mapping[str, Question]
    same: tuple[Same, ...] = ()
    seed: int = 0
    salt: str = ""
    tool: str = ""
    tool_scales: Mapping[str, Scale] = field(default_factory=dict)
    digest: str = ""
    selection: str = ""
    unknown: Mapping[str, Any] = field(default_factory=dict)

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
        found: dict[str, list[Question]] = {}
        for question in self.questions.values():
            found.setdefault(question.shown_item or question.item, []).append(question)
        return found

    def find(
        self,
        item: str,
        *,
        rater: str | None = None,
        tokens: Iterable[str] = (),
        round: int | None = None,
        control: bool = False,
    ) -> Question | None:
        """Return the question about an item, for tools that do not give the task's id back.

        Questions of the rater come first; ``tokens`` must all be among the outputs. A control item is shown
        under the id of its original, and found where ``control`` asks for it. None where there is none.
        """
        wanted = set(tokens)
        fits = [
            one
            for one in self._by_item.get(item, ())
            if wanted <= set(one.outputs)
            and round in (None, one.round)
            and (one.control is not None) == control
        ]
        own = [one for one in fits if one.rater == rater]
        return next(iter(own or fits), None)

    def merged(self, other: Key) -> Key:
        """Return a key that opens both exports, for the rounds of one campaign."""
        for name in ("kind", "scales", "seed", "salt", "tool", "tool_scales"):
            if getattr(self, name) != getattr(other, name):
                raise DataError(
                    f"The key that is there has another {name.replace('_', ' ')}: write to another key file."
                )
        known = {(one.data, one.item, one.pair) for one in self.same}
        fresh = tuple(one for one in other.same if (one.data, one.item, one.pair) not in known)
        return Key(
            kind=self.kind,
            scales=self.scales,
            models={**self.models, **other.models},
            questions={**self.questions, **other.questions},
            same=(*self.same, *fresh),
            seed=self.seed,
            salt=self.salt,
            tool=self.tool,
            tool_scales=self.tool_scales,
            digest=other.digest,
            selection=other.selection,
            unknown=self.unknown,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the key as plain values, as its file holds it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "tool": self.tool,
            "kind": self.kind,
            "scales": {name: [scale.low, scale.high] for name, scale in self.scales.items()},
            "tool_scales": {name: [scale.low, scale.high] for name, scale in self.tool_scales.items()},
            "seed": self.seed,
            "salt": self.salt,
            "digest": self.digest,
            "selection": self.selection,
            "models": dict(self.models),
            **self.unknown,
            "questions": [question.to_dict() for question in self.questions.values()],
            "same": [_plain(one) for one in self.same],
        }

    def save(self, path: str | Path) -> None:
        """Write the key as JSON, whole or not at all, readable by its owner only."""
        write_private_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Key:
        """Read a key from its file."""
        try:
            return cls.from_dict(as_mapping(files.read_json(Path(path)), "key"))
        except InputError as error:
            raise error.at(file=Path(path)) from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Key:
        """Make a key from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        listed = [
            _question(as_mapping(one, f"questions[{place}]"), f"questions[{place}]")
            for place, one in enumerate(as_list(values.get("questions"), "questions"))
        ]
        return cls(
            kind=as_text(values.get("kind"), "kind") or "",
            scales=_scales(values, "scales"),
            tool_scales=_scales(values, "tool_scales"),
            models=_names(as_mapping(values.get("models"), "models"), "models"),
            questions={one.task: one for one in listed},
            same=tuple(_same(as_mapping(one, "same")) for one in as_list(values.get("same"), "same")),
            seed=as_whole(values.get("seed"), "seed"),
            salt=as_text(values.get("salt"), "salt") or "",
            tool=as_text(values.get("tool"), "tool") or "",
            digest=as_text(values.get("digest"), "digest") or "",
            selection=as_text(values.get("selection"), "selection") or "",
            unknown={name: value for name, value in values.items() if name not in _KNOWN},
        )


_KNOWN = frozenset(
    (
        "format",
        "version",
        "tool",
        "kind",
        "scales",
        "tool_scales",
        "seed",
        "salt",
        "digest",
        "selection",
        "models",
        "questions",
        "same",
    )
)


def _plain(one: Same) -> dict[str, Any]:
    values = {**vars(one), "pair": list(one.pair)}
    return {name: value for name, value in values.items() if value not in (None, "")}


def _scales(values: Mapping[str, Any], name: str) -> dict[str, Scale]:
    found = {}
    for aspect, ends in as_mapping(values.get(name), name).items():
        numbers = [as_number(end, f"{name}.{aspect}") for end in as_list(ends, f"{name}.{aspect}")]
        if len(numbers) != 2:
            raise InputError(f"{shown(ends)} is no scale", field=f"{name}.{aspect}", fix="Write [0, 100]")
        found[aspect] = Scale(*numbers)
    return found


def _names(values: Mapping[str, Any], field: str) -> dict[str, str]:
    return {token: as_id(name, f"{field}.{token}") for token, name in values.items()}


def _ids(values: Any, field: str) -> tuple[str, ...]:
    return tuple(as_id(name, field) for name in as_list(values, field))


def _optional(values: Mapping[str, Any], name: str, field: str) -> float | None:
    return None if values.get(name) is None else as_number(values[name], f"{field}.{name}")


def _question(values: Mapping[str, Any], field: str) -> Question:
    outputs = as_mapping(values.get("outputs"), f"{field}.outputs")
    order = _ids(values.get("shown"), f"{field}.shown") or tuple(outputs)
    if sorted(order) != sorted(outputs):
        raise InputError("the tokens shown are not those of the outputs", field=f"{field}.shown")
    texts = as_mapping(values.get("texts"), f"{field}.texts")
    chances = as_mapping(values.get("probabilities"), f"{field}.probabilities")
    return Question(
        task=as_id(values.get("task"), f"{field}.task"),
        item=as_id(values.get("item"), f"{field}.item"),
        outputs={token: _ids(outputs[token], f"{field}.outputs") for token in order},
        texts={token: as_whole(count, f"{field}.texts") for token, count in texts.items()},
        shown_item=as_text(values.get("shown_item"), f"{field}.shown_item") or "",
        data=as_text(values.get("data"), f"{field}.data") or "",
        round=as_whole(values.get("round", 1), f"{field}.round"),
        probability=_optional(values, "probability", field),
        probabilities={name: as_number(p, f"{field}.probabilities") for name, p in chances.items()},
        rater=as_text(values.get("rater"), f"{field}.rater"),
        document=as_text(values.get("document"), f"{field}.document"),
        position=_optional(values, "position", field),
        before=_ids(values.get("before"), f"{field}.before"),
        after=_ids(values.get("after"), f"{field}.after"),
        control=as_text(values.get("control"), f"{field}.control"),
    )


def _same(values: Mapping[str, Any]) -> Same:
    pair = _ids(values.get("pair"), "same.pair")
    if len(pair) != 2:
        raise InputError(f"{shown(list(pair))} is no pair of models", field="same.pair")
    return Same(
        item=as_id(values.get("item"), "same.item"),
        pair=(pair[0], pair[1]),
        data=as_text(values.get("data"), "same.data") or "",
        round=as_whole(values.get("round", 1), "same.round"),
        probability=_optional(values, "probability", "same"),
    )


LETTERS = "abcdefghijklmnopqrstuvwxyz"
MODEL_LETTERS, TASK_LETTERS = 8, 12


def letters(seed: int, salt: str, purpose: str, names: Iterable[str], count: int) -> list[str]:
    """Return ``count`` small letters per name: a hash of the seed, the salt, the purpose and the name."""
    keys = rng.keys_of([f"{salt}\x1f{name}" for name in names])
    found = []
    for number in map(int, rng.stream(keys, seed, purpose)):
        text = ""
        for _ in range(count):
            number, letter = divmod(number, len(LETTERS))
            text += LETTERS[letter]
        found.append(text)
    return found


def model_tokens(models: Iterable[str], seed: int, salt: str = "") -> dict[str, str]:
    """Return the token of every model: the same in every round and file of one seed and salt."""
    names = sorted(set(models))
    tokens = letters(seed, salt, "model tokens", names, MODEL_LETTERS)
    if len(set(tokens)) < len(names):
        raise DataError("Two models have the same token by chance. Take another seed.")
    return dict(zip(names, tokens, strict=True))


def task_id(seed: int, salt: str, *parts: object) -> str:
    """Return the opaque id of a task by what makes it one: its item, round, models, rater and so on."""
    name = "\x1f".join("" if part is None else str(part) for part in parts)
    return letters(seed, salt, "tasks", [name], TASK_LETTERS)[0]
