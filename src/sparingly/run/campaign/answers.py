"""Answers as raters give them, before anything is known about what was asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import InputError, nearest
from sparingly.data.io.words import plain_word, word_number
from sparingly.data.values import as_id, as_number, as_text, parse_number
from sparingly.run.campaign.names import checked_name, checked_text

if TYPE_CHECKING:
    from sparingly.run.campaign.marks import Mark
from sparingly.run.campaign.placements import Placement

COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "value", "seconds", "comment",
    "client",
)  # fmt: skip
# A form to fill in shows these; they come back unread.
SHOWN = (
    "round", "source", "output", "first_output", "second_output", "reference", "context", "document",
    "probability", "assigned", "spans",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """One judgement: a score of an output, or which of two outputs is better.

    Attributes:
        rater: Who judged.
        item: The item.
        score: The score; for a pair 1 where the first is better, -1 where the second is, 0 for a tie.
        model: The model whose output was judged; None for a pair.
        pair: The two models whose outputs were compared; None for a single output.
        aspect: What was judged; the only aspect of the campaign unless given.
        data: The data set; found by the item unless given.
        seconds: How long it took.
        comment: What the rater said.
        client: An id that the sender gives to this answer, so that sending it again changes nothing.
        marks: The errors that the rater marked in the output, in order; None where nobody looked for any.
        placement: Where on the page the output was shown; None where that is unknown.
        word: The score as the word that it was given as, such as pass; empty for a number.
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
    marks: tuple[Mark, ...] | None = None
    placement: Placement | None = None
    word: str = ""

    def __post_init__(self) -> None:
        """Refuse what no database keeps, however the answer came."""
        checked_name(self.rater, "rater")
        checked_name(self.client, "client")
        for name in ("item", "model", "aspect", "data", "comment"):
            checked_text(getattr(self, name) or "", name)
        for model in self.pair or ():
            checked_text(model, "pair")

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, from_text: bool = False) -> Answer | None:
        """Read an answer from the columns of a file; None where the score was left empty.

        With ``from_text``, numbers are written as text and what is empty is missing.
        """
        check_columns(values)
        given = {
            name: value
            for name, value in values.items()
            if value is not None and not (from_text and value == "")
        }
        score, word = _score(given, from_text)
        if math.isnan(score):
            return None
        seconds = _number(given, "seconds", from_text)
        if seconds < 0:
            raise InputError(f"{seconds:g} seconds are less than none", field="seconds")
        return cls(
            rater=_id(given, "rater"),
            item=_id(given, "item"),
            score=score,
            **_models(given),
            aspect=_text(given, "aspect"),
            data=_text(given, "data"),
            seconds=None if math.isnan(seconds) else seconds,
            comment=_text(given, "comment"),
            word=word,
            client=_id(given, "client") if given.get("client", "") != "" else "",
        )


def check_columns(names: Mapping[str, Any] | list[str]) -> None:
    """Refuse a column that means nothing here: a misspelt one must not be lost in silence."""
    for name in names:
        if name not in COLUMNS and name not in SHOWN:
            close = nearest(name, COLUMNS)
            fix = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(COLUMNS)}"
            raise InputError(f'there is no column "{name}"', fix=fix)


def _score(given: Mapping[str, Any], from_text: bool) -> tuple[float, str]:
    """Return the score, and the word that it was given as (pass and fail, yes and no …)."""
    if "score" in given and "value" in given:
        raise InputError("the answer has a score and a value", fix="Keep one of them")
    if "value" in given or (number := word_number(given.get("score"))) is None:
        return _number(given, "value" if "value" in given else "score", from_text), ""
    return number, plain_word(given["score"]) or ""


def _models(given: Mapping[str, Any]) -> dict[str, Any]:
    if "model" in given and ("first" in given or "second" in given):
        raise InputError("the answer names a model and a pair", fix="Keep one of them")
    if "model" in given:
        return {"model": _id(given, "model")}
    if "first" not in given and "second" not in given:
        raise InputError("the answer names no model", field="model", fix="Name it, or the two of a pair")
    first, second = _id(given, "first"), _id(given, "second")
    if first == second:
        raise InputError(f'"{first}" cannot be compared with itself', field="second")
    return {"pair": (first, second)}


def _number(given: Mapping[str, Any], name: str, from_text: bool) -> float:
    value = given.get(name)
    if from_text and isinstance(value, str):
        return parse_number(value, name)
    return as_number(value, name)


def _id(given: Mapping[str, Any], name: str) -> str:
    if name not in given:
        raise InputError(f"the answer names no {name}", field=name)
    return as_id(given[name], name)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    return as_text(given.get(name), name)
