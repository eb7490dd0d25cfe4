"""The answer: what one person said of one output, or of outputs that were compared, on one aspect."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError, UnknownNameError, nearest
from sparingly.data.evalset import EvalSet
from sparingly.data.io.words import plain_word, word_number
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import as_id, as_number, as_text, parse_number, shown
from sparingly.run.forms.question import Question
from sparingly.run.forms.spans import Span

COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "value", "seconds", "comment",
    "client",
)  # fmt: skip
# A form to fill in shows these; they come back unread.
UNREAD_COLUMNS = (
    "round", "source", "output", "first_output", "second_output", "reference", "context", "document",
    "probability", "assigned", "spans", "withdrawn",
)  # fmt: skip
# Names of raters and senders: the index of answers has a row of 2,704 bytes at most on PostgreSQL.
LONGEST_BYTES = 400
_LOST = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Placement:
    """Where an output, or a pair of outputs, was shown."""

    place: int  # its place on the page, from 1; equal outputs share one
    cards: int  # how many places the page had
    turned: bool = False  # whether the second output of a pair was shown first
    # Whether a suggestion was filled in, by chance; None where there was none to show.
    helped: bool | None = None
    help_probability: float | None = None  # the probability that it would be


@dataclass(frozen=True)
class Answer:
    """One judgement: a score of an output, which of two outputs is better, or a ranking of several.

    Attributes:
        rater: Who judged.
        item: The item.
        score: The score; for a pair 1 where the first is better, -1 where the second is, 0 for a tie.
        model: The model whose output was judged; None where outputs were compared.
        pair: The two models whose outputs were compared; None otherwise.
        aspect: What was judged; default: the only aspect of the campaign.
        data: The data set; default: found by the item.
        seconds: How long it took.
        comment: What the rater said.
        client: An id that the sender gives to this answer, so that sending it again changes nothing.
        marks: The errors that the rater marked in the output, in order; None where nobody looked for any.
        placement: Where on the page the output was shown; None where that is unknown.
        skip: Why the rater cannot judge it, on any aspect: the score is not a number then. Empty otherwise.
        adjudicates: Whether it decides where two raters disagreed: of this output it alone counts then.
        guidelines: The version that the rater had read (0 without any); None is not compared.
        word: The score as the word that it was given as, such as pass; empty for a number.
        question: What was asked, where an annotation tool or a page asked it.
        also: Further models (or pairs) with the same outputs, which the answer is credited to, too.
        ranks: The rank of every model of a ranking, best first, 1 the best, equal ranks tied.
        time: When it was given, in seconds since 1970; None where nobody knows.
        origin: Where it stands in the files of a tool: ``export.json, task 3``.
    """

    rater: str
    item: str
    score: float
    model: str | None = None
    pair: tuple[str, str] | None = None
    aspect: str | None = None
    data: str | None = None
    seconds: float | None = None
    comment: str | None = None
    client: str = ""
    marks: tuple[Span, ...] | None = None
    placement: Placement | None = None
    skip: str = ""
    adjudicates: bool = False
    guidelines: int | None = None
    word: str = ""
    question: Question | None = None
    also: tuple[tuple[str, ...], ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    time: float | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        """Refuse what no database keeps; what a tool gave back is checked when it is recorded."""
        if self.question is not None:
            return
        checked_name(self.rater, "rater")
        checked_name(self.client, "client")
        for name in ("item", "model", "aspect", "data", "comment", "skip"):
            checked_text(getattr(self, name) or "", name)
        for model in self.pair or ():
            checked_text(model, "pair")

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, from_text: bool = False) -> Answer | None:
        """Read an answer from the columns of a file; None where the score was left empty.

        With ``from_text``, numbers are written as text and what is empty is missing.
        """
        check_columns(values)
        filled_in = {
            name: value
            for name, value in values.items()
            if value is not None and not (from_text and value == "")
        }
        if "score" in filled_in and "value" in filled_in:
            raise InputError("the answer has a score and a value", fix="Keep one of them")
        # Words (pass and fail, yes and no …) stand for numbers in the column score alone.
        number = None if "value" in filled_in else word_number(filled_in.get("score"))
        word = "" if number is None else plain_word(filled_in["score"]) or ""
        column = "value" if "value" in filled_in else "score"
        score = _number(filled_in, column, from_text) if number is None else number
        if math.isnan(score):
            return None
        seconds = _number(filled_in, "seconds", from_text)
        if seconds < 0:
            raise InputError(f"{seconds:g} seconds are less than none", field="seconds")
        return cls(
            rater=_id(filled_in, "rater"),
            item=_id(filled_in, "item"),
            score=score,
            **_models(filled_in),
            aspect=as_text(filled_in.get("aspect"), "aspect"),
            data=as_text(filled_in.get("data"), "data"),
            seconds=None if math.isnan(seconds) else seconds,
            comment=as_text(filled_in.get("comment"), "comment"),
            word=word,
            client=_id(filled_in, "client") if filled_in.get("client", "") != "" else "",
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were judged, in the order of their names."""
        if self.ranks:
            return tuple(sorted(self.ranks))
        first = (self.model,) if self.model is not None else self.pair or ()
        return tuple(sorted({*first, *(name for names in self.also for name in names)}))

    def each(self) -> Iterator[Answer]:
        """Yield the answer once for every model, or pair of models, that it is credited to.

        The seconds are shared among them, so that their sum stays what was spent.
        """
        credited: list[tuple[Any, ...]]
        if self.ranks:
            credited = [
                (float((rank < second_rank) - (rank > second_rank)), first, second)
                for (first, rank), (second, second_rank) in combinations(self.ranks.items(), 2)
            ]
        else:
            first_names = (self.model,) if self.pair is None else self.pair
            credited = [(self.score, *names) for names in (first_names, *self.also)]
        for score, *names in credited:
            yield replace(
                self,
                score=score,
                model=names[0] if len(names) == 1 else None,
                pair=(names[0], names[1]) if len(names) == 2 else None,
                seconds=None if self.seconds is None else self.seconds / len(credited),
                also=(),
                ranks={},
            )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of a table for every model, or pair of models, that the answer is credited to."""
        question = self.question or Question(self.item)
        context = [passage.item for passage in (*question.before, *question.after)]
        spans = [span.to_dict() for span in self.marks or ()]
        return [
            {
                "data": self.data,
                "item": self.item,
                **(
                    {"model": answer.model}
                    if answer.pair is None
                    else {"first": answer.pair[0], "second": answer.pair[1]}
                ),
                "aspect": self.aspect,
                "rater": self.rater,
                "score": answer.score,
                "seconds": answer.seconds,
                "comment": self.comment,
                "client": self.client or None,
                "round": question.round,
                "probability": question.probabilities.get(answer.model or "", question.probability),
                "assigned": question.rater,
                "document": question.document,
                "context": json.dumps(context, ensure_ascii=False) if context else None,
                "spans": json.dumps(spans, ensure_ascii=False) if spans else None,
                "control": question.control,
            }
            for answer in self.each()
        ]


# --- rows of answers as the tables of an evaluation set ---

AnswerRows = Sequence[Mapping[str, Any]]


def judgement_columns(
    data: EvalSet,
    present: Ratings | Preferences,
    rows: AnswerRows,
    aspects: tuple[str, ...],
    extra: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the columns that ratings and preferences share, the new rows after those that are there."""
    raters = (*present.raters, *sorted({row["rater"] for row in rows} - set(present.raters)))
    seconds = [np.nan if row.get("seconds") is None else row["seconds"] for row in rows]
    columns = {
        name: as_objects([*present.extra.get(name, [None] * len(present)), *(row.get(name) for row in rows)])
        for name in dict.fromkeys([*present.extra, *extra])
    }
    items = data.positions(row["item"] for row in rows).astype(np.int32)
    return {
        "item": np.concatenate([present.item, items]),
        "raters": raters,
        "rater": np.concatenate([present.rater, places_of(rows, "rater", raters)]),
        "aspects": aspects,
        "aspect": np.concatenate([present.aspect, places_of(rows, "aspect", aspects)]),
        "seconds": np.concatenate([present.seconds, seconds]),
        "extra": {name: values for name, values in columns.items() if values is not None},
    }


def places_of(rows: AnswerRows, column: str, names: Sequence[str]) -> NDArray[np.int32]:
    """Return the place of every row's name among some names."""
    place = {name: code for code, name in enumerate(names)}
    for row in rows:
        # Raters and aspects are all there, so that only a model can be unknown.
        if row[column] not in place:
            raise UnknownNameError("model", row[column], names)
    return np.array([place[row[column]] for row in rows], np.int32)


def as_objects(values: list[Any]) -> NDArray[np.object_] | None:
    """Return values as a column; None where nothing is there."""
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects if any(value is not None for value in values) else None


# --- what a database keeps ---


def check_columns(names: Mapping[str, Any] | list[str]) -> None:
    """Refuse a column that means nothing here: a misspelt one must not be lost in silence."""
    if "item" not in names:
        fix = "Fill in the form of: sparingly campaign next CAMPAIGN --out form.csv"
        raise InputError("this is no table of answers, it has no column item", fix=fix)
    for name in names:
        if name not in COLUMNS and name not in UNREAD_COLUMNS:
            close = nearest(name, COLUMNS)
            fix = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(COLUMNS)}"
            raise InputError(f'there is no column "{name}"', fix=fix)


def _models(values: Mapping[str, Any]) -> dict[str, Any]:
    if "model" in values and ("first" in values or "second" in values):
        raise InputError("the answer names a model and a pair", fix="Keep one of them")
    if "model" in values:
        return {"model": _id(values, "model")}
    if "first" not in values and "second" not in values:
        raise InputError("the answer names no model", field="model", fix="Name it, or the two of a pair")
    first, second = _id(values, "first"), _id(values, "second")
    if first == second:
        raise InputError(f'"{first}" cannot be compared with itself', field="second")
    return {"pair": (first, second)}


def _number(values: Mapping[str, Any], name: str, from_text: bool) -> float:
    value = values.get(name)
    if from_text and isinstance(value, str):
        return parse_number(value, name)
    return as_number(value, name)


def _id(values: Mapping[str, Any], name: str) -> str:
    if name not in values:
        raise InputError(f"the answer names no {name}", field=name)
    return as_id(values[name], name)


def has_lost_letters(text: str) -> bool:
    """Say whether a text has letters that no database keeps: NUL, or half of a surrogate pair."""
    return _LOST.search(text) is not None


def checked_text(text: str, field: str) -> str:
    """Return a text that a database keeps, or say why it is none."""
    if has_lost_letters(text):
        raise InputError(f"{shown(text)} has a letter that cannot be stored", field=field, fix="Leave it out")
    return text


def checked_name(text: str, field: str) -> str:
    """Return the name of a rater or a sender, or say why it cannot be one."""
    if len(checked_text(text, field).encode()) > LONGEST_BYTES:
        raise InputError(
            f"{shown(text)} has more than {LONGEST_BYTES} bytes", field=field, fix="Give a shorter name"
        )
    return text
