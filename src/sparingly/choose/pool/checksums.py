"""Checksums of a scored pool's files: written with them, and compared before anything is drawn from them.

A part that was damaged, exchanged or cut off is then an error, and never another selection.
"""

from __future__ import annotations

import hashlib
import json
import tokenize
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.data import files

CHECKSUM = "checksum"
SCORE_AGAIN = "Score the pool again with the same options: only what is damaged is scored anew"
NO_CHECKSUMS = (
    "This pool was scored by an older sparingly and has no checksums, so damage to its files may go "
    "unnoticed. Score it again to add them."
)
_GONE = "the file is gone"
# What numpy raises on damaged files, beside the errors of the operating system.
_DAMAGE = (
    ValueError,
    EOFError,
    OSError,
    SyntaxError,
    TypeError,
    OverflowError,
    MemoryError,
    tokenize.TokenError,
)


def damaged(path: Path, problem: str = "the file is damaged") -> InputError:
    """Return the complaint about a file of a scored pool."""
    return InputError(problem, file=path, fix=SCORE_AGAIN)


def write_with_checksum(path: Path, content: bytes | memoryview) -> str:
    """Write a file whole or not at all; return the checksum of what was to be written."""

    def put(file: IO[bytes]) -> None:
        file.write(content)

    files.write_atomically(path, put)
    return hashlib.sha256(content).hexdigest()


def file_problem(path: Path, checksum: str) -> str | None:
    """Say what is wrong with a file that should have a checksum; None where nothing is."""
    try:
        with path.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == checksum
    except FileNotFoundError:
        return _GONE
    except OSError as error:
        return f"the file cannot be read ({error.strerror or error})"
    return None if same else "the file is not the one that was written: it is damaged or was exchanged"


def with_checksum(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a JSON file together with their checksum."""
    return {**values, CHECKSUM: _checksum_of(values)}


def values_problem(values: Mapping[str, Any]) -> str | None:
    """Say what is wrong with values that carry their checksum; None where nothing is."""
    same = values.get(CHECKSUM) == _checksum_of(values)
    return None if same else "the values do not agree with their checksum: the file is damaged or was edited"


def _checksum_of(values: Mapping[str, Any]) -> str:
    others = {name: value for name, value in values.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


@contextmanager
def reading_table(path: Path) -> Iterator[None]:
    """Turn what polars says of a damaged table into one sentence."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(path, f"the table of a part cannot be read ({type(error).__name__})") from None


def array_of(path: Path, shape: tuple[int | None, int | None]) -> NDArray[Any]:
    """Return the array of a file as it lies there; None stands for any length.

    Raises:
        InputError: The file is gone or damaged, or its array has another shape.
    """
    try:
        held: NDArray[Any] = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise damaged(path, _GONE) from None
    except _DAMAGE as error:
        raise damaged(path, f"the numbers of a part cannot be read ({type(error).__name__})") from None
    if held.ndim != 2 or any(want not in (None, got) for want, got in zip(shape, held.shape, strict=True)):
        raise damaged(path, f"the file holds an array of shape {held.shape}, which is not that of its part")
    return held
