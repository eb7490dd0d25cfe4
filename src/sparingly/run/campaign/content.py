"""Evaluation sets as bytes inside the database: our own JSON Lines, compressed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sparingly.base.errors import DataError, InputError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.jsonl import JsonLines

_NAME = "data.jsonl.gz"


def unjudged(data: EvalSet) -> EvalSet:
    """Return a set without what people said: a campaign knows only the answers that it asked for."""
    return data.without_labels().with_parts()


def to_bytes(data: EvalSet) -> bytes:
    """Return a set as the bytes of a file; reading them back gives the same set."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _NAME
        JsonLines().write(data, path)
        if JsonLines().read(path, {}).digest() != data.digest():
            raise DataError("The evaluation set cannot be stored: writing and reading it changes it.")
        return path.read_bytes()


def from_bytes(content: bytes, digest: str, name: str) -> EvalSet:
    """Return the set that some bytes hold, or say that they are damaged."""
    damaged = f'The data set "{name}" in the database is damaged'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _NAME
        path.write_bytes(content)
        try:
            data = JsonLines().read(path, {})
        except InputError as error:
            # It would name a file that nobody knows.
            raise DataError(f"{damaged} ({error.problem}). Take another copy of it.") from None
    if data.digest() != digest:
        raise DataError(f"{damaged}. Take another copy of it.")
    return data.with_parts(name=name)
