"""Answers: read from files and streams; marked errors and placements on the page as they are stored."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.run.campaign.journal import as_json
from sparingly.run.campaign.tables import MARKS, PLACEMENTS
from sparingly.run.forms.answer import Answer, Placement, check_columns
from sparingly.run.forms.spans import Span

# --- Placements: where an output was shown, to examine order effects ---


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


def stored_marks(marks: Sequence[Span]) -> list[dict[str, Any]]:
    """Return marked errors as the database has them."""
    return [{"start": mark.start, "end": mark.end, "severity": mark.severity} for mark in marks]


def save_marks(connection: Connection, campaign: str, marks_by_rating: Mapping[int, Sequence[Span]]) -> None:
    """Keep the marks of ratings by their numbers; those that are there already are left as they are."""
    if not marks_by_rating:
        return
    table = MARKS.c
    query = select(table.seq).where(table.campaign == campaign, table.seq.in_(list(marks_by_rating)))
    stored = set(connection.execute(query).scalars())
    rows = [
        {"campaign": campaign, "seq": seq, "marks": as_json(stored_marks(marks))}
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
