"""Answers as raters give them: scores, marked errors, placements on the page; read from files and streams."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import InputError, UsageError, nearest
from sparingly.data import files
from sparingly.data.io.words import plain_word, word_number
from sparingly.data.values import as_id, as_number, as_text, parse_number
from sparingly.run.campaign.datasets import checked_name, checked_text
from sparingly.run.campaign.journal import as_json
from sparingly.run.campaign.tables import MARKS, PLACEMENTS

# --- Placements: where an output was shown, to examine order effects ---


@dataclass(frozen=True)
class Placement:
    """Where an output, or a pair of outputs, was shown.

    Attributes:
        place: Its place on the page, from 1; equal outputs share one.
        cards: How many places the page had.
        turned: Whether the second output of a pair was shown first.
    """

    place: int
    cards: int
    turned: bool = False


def save_placements(connection: Connection, campaign: str, placements: Mapping[int, Placement]) -> None:
    """Save where outputs were shown, by the numbers of their ratings."""
    rows = [
        {"campaign": campaign, "seq": seq, **vars(placement), "turned": int(placement.turned)}
        for seq, placement in sorted(placements.items())
    ]
    if rows:
        connection.execute(insert(PLACEMENTS), rows)


def placement_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return where the outputs of all ratings up to a number were shown, by the ratings' numbers.

    Answers that did not come from the web pages, or came before this was saved, have no row.
    """
    table = PLACEMENTS.c
    rows = connection.execute(
        select(table.seq, table.place, table.cards, table.turned)
        .where(table.campaign == campaign, table.seq <= seq)
        .order_by(table.seq)
    )
    return [{**dict(row), "turned": bool(row["turned"])} for row in rows.mappings()]


# --- Marked errors ---


# What an error costs in points: 1 and 5 as in Freitag et al. 2021; a critical one what they take off for an
# output that is no translation at all.
SEVERITIES = {"minor": 1.0, "major": 5.0, "critical": 25.0}
_MOST_MARKS = 200


@dataclass(frozen=True, order=True)
class Mark:
    """An error in an output: from which letter (code point) to before which, and how bad it is."""

    start: int
    end: int
    severity: str

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as plain values."""
        return dict(vars(self))


def checked_marks(rows: Sequence[Mapping[str, Any]], text: str | None) -> tuple[Mark, ...]:
    """Return marks in order, or say what is wrong with one: it must lie within the output."""
    length = len(text or "")
    if len(rows) > _MOST_MARKS:
        raise UsageError(f"At most {_MOST_MARKS} errors are marked in one output.")
    marks = sorted(
        Mark(_as_count(row.get("start")), _as_count(row.get("end")), str(row.get("severity"))) for row in rows
    )
    for mark in marks:
        if mark.severity not in SEVERITIES:
            raise UsageError(f"An error is {', '.join(SEVERITIES)}, not {mark.severity[:40]}.")
        if not 0 <= mark.start < mark.end <= length:
            raise UsageError(f"An error from {mark.start} to {mark.end} is not within {length} letters.")
    return tuple(marks)


def penalty(marks: Sequence[Mark]) -> float:
    """Return the points that marked errors cost: Σ of their severities."""
    return sum(SEVERITIES[mark.severity] for mark in marks)


def save_marks(connection: Connection, campaign: str, marks_by_rating: Mapping[int, Sequence[Mark]]) -> None:
    """Keep the marks of ratings by their numbers; those that are there already are left as they are."""
    if not marks_by_rating:
        return
    table = MARKS.c
    query = select(table.seq).where(table.campaign == campaign, table.seq.in_(list(marks_by_rating)))
    stored = set(connection.execute(query).scalars())
    rows = [
        {"campaign": campaign, "seq": seq, "marks": as_json([mark.to_dict() for mark in marks])}
        for seq, marks in sorted(marks_by_rating.items())
        if seq not in stored
    ]
    if rows:
        connection.execute(insert(MARKS), rows)


def marks_by_seq(
    connection: Connection, campaign: str, seqs: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """Return the marks of some ratings, by the ratings' numbers."""
    table = MARKS.c
    rows = connection.execute(
        select(table.seq, table.marks).where(table.campaign == campaign, table.seq.in_(seqs))
    )
    return {row.seq: json.loads(row.marks) for row in rows}


def marks_at(connection: Connection, campaign: str, seq: int) -> dict[int, list[dict[str, Any]]]:
    """Return the marks of all ratings up to a number, by the ratings' numbers."""
    table = MARKS.c
    rows = connection.execute(
        select(table.seq, table.marks).where(table.campaign == campaign, table.seq <= seq).order_by(table.seq)
    )
    return {row.seq: json.loads(row.marks) for row in rows}


def marks_of(connection: Connection, campaign: str, seqs: Sequence[int]) -> list[dict[str, Any]]:
    """Return the marks of the first of some ratings that has any."""
    table = MARKS.c
    rows = connection.execute(
        select(table.marks).where(table.campaign == campaign, table.seq.in_(seqs)).order_by(table.seq)
    )
    return next((marks for text in rows.scalars() if (marks := json.loads(text))), [])


def _as_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError("An error starts and ends at a whole number of letters.")
    return value


# --- Answers ---


COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "value", "seconds", "comment",
    "client",
)  # fmt: skip
# A form to fill in shows these; they come back unread.
UNREAD_COLUMNS = (
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
        filled_in = {
            name: value
            for name, value in values.items()
            if value is not None and not (from_text and value == "")
        }
        score, word = _score(filled_in, from_text)
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
            aspect=_text(filled_in, "aspect"),
            data=_text(filled_in, "data"),
            seconds=None if math.isnan(seconds) else seconds,
            comment=_text(filled_in, "comment"),
            word=word,
            client=_id(filled_in, "client") if filled_in.get("client", "") != "" else "",
        )


def check_columns(names: Mapping[str, Any] | list[str]) -> None:
    """Refuse a column that means nothing here: a misspelt one must not be lost in silence."""
    for name in names:
        if name not in COLUMNS and name not in UNREAD_COLUMNS:
            close = nearest(name, COLUMNS)
            fix = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(COLUMNS)}"
            raise InputError(f'there is no column "{name}"', fix=fix)


def _score(values: Mapping[str, Any], from_text: bool) -> tuple[float, str]:
    """Return the score, and the word that it was given as (pass and fail, yes and no …)."""
    if "score" in values and "value" in values:
        raise InputError("the answer has a score and a value", fix="Keep one of them")
    if "value" in values or (number := word_number(values.get("score"))) is None:
        return _number(values, "value" if "value" in values else "score", from_text), ""
    return number, plain_word(values["score"]) or ""


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


def _text(values: Mapping[str, Any], name: str) -> str | None:
    return as_text(values.get(name), name)


# --- Answers from a file or a stream, as CSV or JSON Lines ---


Numbered = tuple[int, Answer | InputError]
STANDARD_INPUT = "-"


def read_answers(path: str | Path) -> Iterator[Numbered]:
    """Yield the answers of a file with their lines; one that cannot be read is yielded as its error.

    JSON Lines begin with a brace, everything else is CSV with a header. Rows without a score are passed over:
    a form may be filled in bit by bit. ``-`` reads what is sent to the command, line by line.
    """
    if str(path) == STANDARD_INPUT:
        yield from parse_answers(enumerate(sys.stdin, 1), Path("standard input"))
        return
    yield from parse_answers(files.text_lines(Path(path)), Path(path))


def parse_answers(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[Numbered]:
    """Yield the answers of some numbered lines."""
    stripped = ((number, line.rstrip("\r\n")) for number, line in lines)
    first = next(((number, line) for number, line in stripped if line.strip()), None)
    if first is None:
        return
    reader = _json_rows if first[1].lstrip().startswith("{") else _csv_rows
    for number, row in reader(chain([first], stripped), path):
        answer = _answer(row, from_text=reader is _csv_rows)
        if answer is not None:
            yield number, answer.at(file=path, line=number) if isinstance(answer, InputError) else answer


def _answer(row: dict[str, Any] | InputError, *, from_text: bool) -> Answer | InputError | None:
    if isinstance(row, InputError):
        return row
    try:
        return Answer.from_values(row, from_text=from_text)
    except InputError as error:
        return error


def _json_rows(
    lines: Iterable[tuple[int, str]], path: Path
) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            value = files.parse_json(line, path, number)
        except InputError as error:
            yield number, error
            continue
        yield number, value if isinstance(value, dict) else InputError("an object {…} is wanted")


def _csv_rows(
    lines: Iterable[tuple[int, str]], path: Path
) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    place = {"line": 0}

    def texts() -> Iterator[str]:
        for number, line in lines:
            place["line"] = number
            yield f"{line}\n"

    stream = texts()
    head = next(stream)
    # Spreadsheets in many countries write semicolons.
    separator = next((letter for letter in "\t,;" if letter in head), ",")
    reader = csv.reader(chain([head], stream), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader)]
        check_columns(header)
        for row in reader:
            if len(row) == len(header):
                yield place["line"], dict(zip(header, row, strict=True))
            elif row:
                problem = f"there are {len(row)} fields below {len(header)} columns"
                yield place["line"], InputError(problem, fix="Put quotes around fields with commas")
    except csv.Error as error:
        raise InputError(f"this is not CSV ({error})", file=path, line=place["line"]) from None
    except InputError as error:
        raise error.at(file=path, line=place["line"]) from None
