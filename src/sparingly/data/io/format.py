"""What a file format is: how it is recognised, read and written, and what it can carry."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet

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
