"""Data as people hand it to a function: an evaluation set, a file, or a frame of another library."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from sparingly.data.evalset import EvalSet


class NativeFrame(Protocol):
    """A frame of pandas or polars, or an Arrow table: something with columns."""

    @property
    def columns(self) -> Any:
        """The columns."""


DataLike = EvalSet | str | Path | NativeFrame


def as_evalset(data: DataLike) -> EvalSet:
    """Return the evaluation set that is meant: as it is, read from a file, or made from a frame."""
    if isinstance(data, EvalSet):
        return data
    if isinstance(data, str | Path):
        from sparingly.data.io import load

        return load(data)
    from sparingly.data.io.table import from_frame

    return from_frame(data)
