"""What a file format is: how it is recognised, read and written, and what it can carry."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, ClassVar, NoReturn

import numpy as np

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.csv_text import CsvText
from sparingly.data.values import shown

Options = Mapping[str, Any]
LINES = (".jsonl", ".ndjson")
# Files that are no text and that some format reads: ZIP archives (Excel) and Arrow.
CONTAINERS = (b"PK\x03\x04", b"ARROW1")


@dataclass(frozen=True)
class Head:
    """The beginning of a file, looked at once to find out what it is."""

    path: Path

    @cached_property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return self.path.is_dir()

    @cached_property
    def extension(self) -> str:
        """The extension in small letters, without that of a compression."""
        return files.extension(self.path)

    @cached_property
    def start(self) -> bytes:
        """The first bytes, decompressed; empty for a directory."""
        if self.is_directory:
            return b""
        with files.naming(self.path):
            with self.path.open("rb") as raw:
                if (start := raw.read(65_536)).startswith(CONTAINERS):
                    return start
            with files.open_binary(self.path) as file:
                return file.read(65_536)

    @property
    def content(self) -> bytes:
        """The first bytes without a byte-order mark and blank space."""
        return self.start.removeprefix(b"\xef\xbb\xbf").lstrip()

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The JSON object of the first line, if the first line is one."""
        if not self.content.startswith(b"{"):
            return None
        try:
            return next((record for _, record in files.json_lines(self.path)), None)
        except InputError:
            return None

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value, or None when it is not one (JSON Lines is not).

        A file that calls itself JSON Lines is not read as a whole to find out: it may be large.
        """
        if self.extension in LINES or not self.content.startswith((b"{", b"[")):
            return None
        try:
            return files.read_json(self.path)
        except InputError:
            return None

    @cached_property
    def header(self) -> list[str]:
        """The fields of the first line as a CSV or TSV header."""
        line = (
            self.start.removeprefix(b"\xef\xbb\xbf")
            .split(b"\n", 1)[0]
            .decode("utf-8", "replace")
            .rstrip("\r")
        )
        try:
            separator = max("\t", ";", "|", ",", key=lambda sign: (line.count(sign), sign == "\t"))
            return next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            return []


class Format:
    """A file format. A subclass is one file, registered by ``@register(name)``.

    ``carries`` lists the fields (see ``sparingly.data.fields``) that writing keeps; ``metric:*`` stands for
    every metric, ``scales`` for the lowest and highest possible scores, ``empty`` for
    fields without any value.
    """

    kind: ClassVar[str] = "format"
    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, str]] = {}
    writes: ClassVar[bool] = False
    # Whether the user can say what its columns are.
    has_roles: ClassVar[bool] = False
    carries: ClassVar[frozenset[str]] = frozenset()

    def recognises(self, head: Head) -> bool:
        """Return whether a file looks like this format."""
        raise InputError(f"the format {self.name} cannot be recognised by its content")

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read an evaluation set."""
        raise InputError(f"the format {self.name} cannot be read", file=path)

    def read_with_roles(
        self, path: Path, options: Options, roles: Mapping[str, str | Iterable[str]]
    ) -> EvalSet:
        """Read an evaluation set from a table, some columns of which have roles that the user gave them."""
        raise InputError(f"the format {self.name} has no columns to give roles to", file=path)

    def write(self, data: EvalSet, path: Path) -> None:
        """Write an evaluation set."""
        raise InputError(f"the format {self.name} cannot be written", file=path)

    def losses(self, data: EvalSet) -> list[str]:
        """Return the fields that writing this set in this format would lose, and the scales of others."""
        lost = [name for name in data.fields if not self.carries & {name, f"{name.partition(':')[0]}:*"}]
        if "empty" not in self.carries:
            lost += [name for name in empty_fields(data) if name not in lost]
        if "scales" in self.carries:
            return lost
        return [*lost, *(f"scale of {name}" for name in data.scales if name not in lost)]

    def check_options(self, options: Options) -> None:
        """Raise UnknownNameError for an option that the format does not have."""
        for name in options:
            if name not in self.options:
                raise UnknownNameError(f"option of the format {self.name}", name, self.options)


def names_in(option: Any) -> list[str]:
    """Return the names in an option: ``a,b,c`` from the command line, or a list; none for None."""
    if isinstance(option, str):
        return [name.strip() for name in option.split(",") if name.strip()]
    return [str(name) for name in option or ()]


def empty_fields(data: EvalSet) -> list[str]:
    """Return the fields that are there and hold no value at all, such as a column without an entry."""
    numbers = {fields.metric(name): array for name, array in data.metrics.items()}
    numbers |= {fields.aspect(name): array for name, array in data.aspects.items()}
    values: dict[str, Any] = {fields.column(name): array for name, array in data.columns.items()}
    values |= {fields.cell(name): array for name, array in data.cells.items()}
    values |= {"sources": data.sources, "outputs": data.outputs}
    empty = [name for name, array in numbers.items() if np.isnan(array).all()]
    return empty + [
        name
        for name, array in values.items()
        if array is not None and all(value is None or value != value for value in array.flat)
    ]


def located(records: Iterator[tuple[int, dict[str, Any]]], path: Path, read: Any) -> None:
    """Pass every record to a reader, and name file and line in its errors."""
    for line, record in records:
        try:
            read(line, record)
        except InputError as error:
            raise error.at(file=path, line=line) from None


# --- Records of a file, however it lists them ---

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
