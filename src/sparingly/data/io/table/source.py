"""Where the columns of a table come from, and how a row of it is named in an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.base.errors import InputError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Source:
    """A table: its columns by name, read when asked for.

    ``line`` turns the position of a row into the line of a text file; without it, rows are counted from 1.
    """

    file: Path | str
    names: list[str]
    column: Callable[[str], pl.Series]
    line: Callable[[int], int] | None = None

    @property
    def is_text(self) -> bool:
        """Whether every column is text, so that numbers have to be found out."""
        return self.line is not None

    def wrong(
        self, problem: str, *, row: int | None = None, field: str | None = None, fix: str | None = None
    ) -> InputError:
        """Return the error about a row and a column."""
        line = None
        if row is not None and self.line is not None:
            line = self.line(row)
        elif row is not None:
            problem = f"{problem} (row {row + 1})"
        return InputError(problem, file=self.file, line=line, field=field, fix=fix)

    def two_rows(self, first: int, second: int) -> str:
        """Return words for two rows: "lines 2 and 7"."""
        if self.line is not None:
            return f"lines {self.line(first)} and {self.line(second)}"
        return f"rows {first + 1} and {second + 1}"


def in_file(error: Exception, file: Path | str) -> InputError:
    """Return an error about the data as one about the file that they are in."""
    text = str(error)
    return InputError(text[:1].lower() + text[1:], file=file)
