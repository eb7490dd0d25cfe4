"""Texts that belong together because they stand on the same line of their files.

Formats of one segment a line hold no ids. Their readers make ids from the places and refuse files of
unequal length, so that a lost line is noticed and never shifts the texts against each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files

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
