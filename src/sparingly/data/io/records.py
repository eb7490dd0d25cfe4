"""Records of a file in whatever form: JSON Lines, a JSON array, CSV or TSV with a header, aligned lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NoReturn

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.io.csv_text import CsvText
from sparingly.data.io.format import Head
from sparingly.data.values import shown

# --- Texts that belong together because they stand on the same line of their files ----------------
# Formats with one segment a line have no ids: ids are made from the line numbers. Files of unequal length are
# refused, so that a lost line never shifts the texts against each other.


_EXTENSION = re.compile(r"\.[A-Za-z]+")


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file; an empty line is an empty text."""
    return [line for _, line in files.text_lines(path)]


def line_id(place: int) -> str:
    """Return the id of the item on a line, counted from 0: ``line-000001`` for the first."""
    return f"line-{place + 1:06d}"


def check_lengths(texts: Mapping[Path, Sequence[Any]]) -> int:
    """Return the number of lines that all files have; an error names two that differ."""
    first = next(iter(texts))
    count = len(texts[first])
    for path, lines in texts.items():
        if len(lines) != count:
            raise InputError(
                f"there are {len(lines)} lines, but {first.name} has {count}",
                file=path,
                fix="Line-aligned files need one line for every item",
            )
    return count


def names_of_files(paths: Sequence[str]) -> list[str]:
    """Return names for files: without folder and extension, unless two would be the same.

    An extension is a dot and letters, so that ``GPT-4.1`` and ``M2M100_1.2B`` stay whole.
    """
    names = [_stem(path) for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _stem(path: str) -> str:
    name = PurePath(path).name
    for suffix in files.COMPRESSIONS:
        name = name.removesuffix(suffix)
    suffix = PurePath(name).suffix
    return name.removesuffix(suffix) if _EXTENSION.fullmatch(suffix) else name


# --- Records of a file, however it lists them -----------------------------------------------------


Record = dict[str, Any]
# The column that counts, for each item, the comparisons in which nobody decided.
MISSING_PREFERENCES = "missing_preferences"


def first_record(head: Head) -> Record | None:
    """Return the first object of JSON Lines or of a JSON array, or None when the file is neither."""
    if head.first_object is not None:
        return head.first_object
    text = head.start.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").lstrip()
    if not text.startswith("["):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, len(text) - len(text[1:].lstrip()))
    except (json.JSONDecodeError, RecursionError):
        # The first object is longer than what was looked at.
        value = next(iter(head.document), None) if isinstance(head.document, list) else None
    return value if isinstance(value, dict) else None


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the objects of JSON Lines or of a JSON array with the lines on which they begin."""
    for _, line in files.text_lines(path):
        if line.strip():
            yield from array_records(path) if line.lstrip().startswith("[") else files.json_lines(path)
            return
    raise InputError("the file is empty", file=path)


def array_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the objects of a JSON array with the lines on which they begin."""
    text = "\n".join(line for _, line in files.text_lines(path))
    # As everywhere, a repeated key is an error.
    decoder = json.JSONDecoder(object_pairs_hook=files._unique_keys)
    place, line = _past(text, 0, "[", path), 1
    counted_to = 0
    while text[place : place + 1] != "]":
        line, counted_to = line + text.count("\n", counted_to, place), place
        try:
            value, place = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError):
            _refuse(text, path)
        except InputError as error:
            raise error.at(file=path, line=line) from None
        if not isinstance(value, dict):
            raise InputError(f"expected a JSON object, not {shown(value)}", file=path, line=line)
        yield line, value
        place = _skip(text, place)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != "]":
            _refuse(text, path)
    if text[place + 1 :].strip():
        _refuse(text, path)


def take_rows(path: Path, take: Callable[[int, Record], None]) -> None:
    """Hand every row of a CSV or TSV file to a reader, and put file and line into the errors that it raises.

    An empty field is None; a quoted empty one is an empty text.
    """
    table = CsvText(path).source()
    columns = [table.column(name).to_list() for name in table.names]
    for row, values in enumerate(zip(*columns, strict=True)):
        try:
            take(row, dict(zip(table.names, values, strict=True)))
        except InputError as error:
            raise error.at(file=path, line=table.line(row) if table.line else None) from None


def digest_id(prefix: str, text: str) -> str:
    """Return an id that depends on a text and on nothing else: the prefix and 16 hexadecimal digits.

    With 64 bits two of a million texts share an id once in 30 million sets; with 40 it would be likely.
    """
    return f"{prefix}-{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def _past(text: str, place: int, sign: str, path: Path) -> int:
    place = _skip(text, place)
    if text[place : place + 1] != sign:
        raise InputError("expected a JSON array […]", file=path)
    return _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\n", "\r"):
        place += 1
    return place


def _refuse(text: str, path: Path) -> NoReturn:
    files.parse_json(text, path)
    raise InputError("this is not a JSON array of objects", file=path)
