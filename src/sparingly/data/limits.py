"""How much a file may become: a small one that unpacks to gigabytes is refused before it fills the memory.

The limits are far above what evaluation data need. ``SPARINGLY_LIMITS=off`` in the environment turns all of
them off, for files that one trusts.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from sparingly.base.errors import InputError, UsageError

VARIABLE = "SPARINGLY_LIMITS"
FIX = f"If you trust the file, turn the limits off: {VARIABLE}=off"
# A packed file, or a table, may become so many times as large as it is, and any may become so large.
MOST_TIMES = 100
UNPACKED_BYTES = 32 * 2**20
# A JSON value is held as a whole, and takes up to thirty times its bytes.
JSON_BYTES = 2**30
# Scores of items × models are held as a table with a place for every one of them.
TABLE_BYTES = 2**30
MOST_COLUMNS = 10_000
_CELL_BYTES = 8
_BLOCK = 2**16


def limits_are_on() -> bool:
    """Say whether the limits hold."""
    given = os.environ.get(VARIABLE, "on").strip().lower() or "on"
    if given not in ("on", "off"):
        raise UsageError(f"{VARIABLE} is on or off, not {given}.")
    return given == "on"


def most_bytes(packed: int, least: int = UNPACKED_BYTES) -> float:
    """Return how many bytes a file of some size may become."""
    return max(least, MOST_TIMES * packed) if limits_are_on() else math.inf


class Unpacked(io.RawIOBase):
    """What a decompressor gives, counted: more than a file of its size may become is an error."""

    def __init__(self, inner: BinaryIO, path: Path) -> None:
        self._inner, self._path = inner, path
        self._packed = path.stat().st_size
        self._most, self._read = most_bytes(self._packed), 0

    def readable(self) -> bool:
        """Say that this is read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes."""
        # Never more than a block at once: the buffer may be larger than what is allowed.
        content = self._inner.read(min(len(buffer), _BLOCK))
        self._read += len(content)
        if self._read > self._most:
            raise InputError(
                f"the file of {_size(self._packed)} unpacks to more than {_size(self._most)}",
                file=self._path,
                fix=FIX,
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._inner.close()
        super().close()


def json_blocks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the content of a JSON file; a value that is too large to be held as a whole is an error."""
    read, most = 0, JSON_BYTES if limits_are_on() else math.inf
    while block := file.read(2**20):
        read += len(block)
        if read > most:
            raise InputError(
                f"the JSON value is larger than {_size(JSON_BYTES)}",
                file=path,
                fix=f"Write JSON Lines, one item a line. {FIX}",
            )
        yield block


def check_columns(path: Path | str, count: int) -> None:
    """Refuse a table with more columns than any evaluation has."""
    if limits_are_on() and count > MOST_COLUMNS:
        raise InputError(
            f"the table has {count:,} columns, and at most {MOST_COLUMNS:,} are read",
            file=path,
            fix=f"Write one row for each item and model. {FIX}",
        )


def check_rows(path: Path, rows: int, columns: int, size: int) -> None:
    """Refuse a packed table whose rows take far more room than the file."""
    if rows * max(columns, 1) * _CELL_BYTES > most_bytes(size):
        raise InputError(
            f"the file of {_size(size)} holds {rows:,} rows of {columns:,} columns", file=path, fix=FIX
        )


def check_text(path: Path, total: int, size: int, column: str) -> None:
    """Refuse a column whose texts take far more room than the file."""
    if total > most_bytes(size):
        raise InputError(
            f"the file of {_size(size)} holds {_size(total)} of text in one column",
            file=path,
            field=column,
            fix=FIX,
        )


def check_places(path: Path | str, items: int, models: int, tables: int = 1) -> None:
    """Refuse items × models that take far more room than their file; most places would be empty."""
    found = Path(path)
    if not found.is_file():
        # A frame, or a directory of files, each of which is long where the set is.
        return
    size = found.stat().st_size
    if items * models * max(tables, 1) * _CELL_BYTES > most_bytes(size, TABLE_BYTES):
        raise InputError(
            f"{items:,} items × {models:,} models are too many to hold, and few of their scores are there",
            file=path,
            fix=FIX,
        )


def _size(count: float) -> str:
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"
