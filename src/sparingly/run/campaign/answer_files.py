"""Answers from a file or a stream, one after the other, as CSV or JSON Lines."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.run.campaign.answers import Answer, check_columns

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
    filled = ((number, line.rstrip("\r\n")) for number, line in lines)
    first = next(((number, line) for number, line in filled if line.strip()), None)
    if first is None:
        return
    reader = _json_rows if first[1].lstrip().startswith("{") else _csv_rows
    for number, found in reader(chain([first], filled), path):
        answer = _answer(found, from_text=reader is _csv_rows)
        if answer is not None:
            yield number, answer.at(file=path, line=number) if isinstance(answer, InputError) else answer


def _answer(found: dict[str, Any] | InputError, *, from_text: bool) -> Answer | InputError | None:
    if isinstance(found, InputError):
        return found
    try:
        return Answer.from_values(found, from_text=from_text)
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
    separator = next((one for one in "\t,;" if one in head), ",")
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
