"""Comma- and tab-separated text: read as texts; errors name the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sparingly.base.errors import InputError
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.io.columns import TableSource, decimal_points

SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " ", "\\t": "\t"}
_LONGEST_FIELD = 2**31 - 1
# A line in which every field is longer, or a number, holds values, not names of columns.
_LONGEST_NAME = 25
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")


class CsvText:
    """A text file of separated fields, its first line the names of the columns.

    An empty field is missing; a quoted empty field (``""``) is an empty text. Columns without a name (such as
    the index that pandas writes) and blank lines are passed over.
    """

    def __init__(self, path: Path, separator: str | None = None, quote: str | None = '"') -> None:
        self.path, self.quote = path, quote
        self.separator = separator or self._guessed_separator()
        self.header = next((record for _, record in self.records()), [])

    def source(self) -> TableSource:
        """Return the columns as texts."""
        self._check_header()
        frame = self._frame()
        empty = frame.select(is_blank=pl.all_horizontal(pl.all().is_null())).to_series()
        rows = np.flatnonzero(~empty.to_numpy())
        frame = frame.filter(~empty) if empty.any() else frame
        if not len(frame):
            raise InputError("there is no row below the header", file=self.path)
        if frame.get_column(frame.columns[-1]).null_count():
            self._check_widths()
        names = [name for name in self.header if name]

        def column(name: str) -> pl.Series:
            # Where semicolons separate, commas stand in numbers.
            return decimal_points(frame.get_column(name)) if self.separator == ";" else frame.get_column(name)

        return TableSource(self.path, names, column, lambda row: self.line_of(int(rows[row])), is_text=True)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield every record, blank ones too, with the line on which it begins."""
        lines = (text.replace("\r", " ") + "\n" for _, text in files.text_lines(self.path))
        with _long_fields():
            reader = csv.reader(
                lines,
                delimiter=self.separator,
                quotechar=self.quote,
                quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
                strict=True,
            )
            line = 1
            while True:
                try:
                    record = next(reader, None)
                except csv.Error as error:
                    raise InputError(
                        f"the quotes do not fit ({error})",
                        file=self.path,
                        line=line,
                        fix='Double the quotes inside a quoted field, or say quote="" if there is no quoting',
                    ) from None
                if record is None:
                    return
                yield line, record
                line = reader.line_num + 1

    def line_of(self, row: int) -> int:
        """Return the line on which a row begins."""
        places = (line for line, _ in self.records())
        next(places, None)
        for place, line in enumerate(places):
            if place == row:
                return line
        raise InputError(f"there is no row {row + 1}", file=self.path)

    def _guessed_separator(self) -> str:
        first = next((text for _, text in files.text_lines(self.path)), "")
        if files.extension(self.path) == ".tsv" and "\t" in first:
            return "\t"
        return max(",", "\t", ";", "|", key=first.count)

    def _check_header(self) -> None:
        names = [name for name in self.header if not _NUMBER.fullmatch(name)]
        is_text = len(self.header) > 1 and all(len(name) > _LONGEST_NAME for name in names)
        if not any(self.header) or is_text:
            raise InputError(
                "the first line names no columns",
                file=self.path,
                line=1,
                fix="Begin with a header line, such as prompt,response",
            )
        files.check_columns(self.path, len(self.header))
        earlier: set[str] = set()
        for name in filter(None, self.header):
            if name in earlier:
                raise InputError(
                    f'the column "{name}" is there twice', file=self.path, line=1, fix="Rename one of them"
                )
            earlier.add(name)

    def _frame(self) -> pl.DataFrame:
        # Columns without a name get one that no header can have.
        names = [name or f"\n{place}" for place, name in enumerate(self.header)]
        try:
            frame = pl.read_csv(
                self._content(),
                separator=self.separator,
                quote_char=self.quote,
                infer_schema_length=0,
                new_columns=names,
                glob=False,
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self._check_widths()
            reason = str(error).strip().splitlines()[0]
            raise InputError(f"the table cannot be read ({reason})", file=self.path) from None
        return frame

    def _content(self) -> Path | io.BytesIO:
        with files.naming(self.path):
            if self.path.suffix.lower() not in files.COMPRESSIONS and not files.is_recoded(self.path):
                return self.path
            with files.open_binary(self.path) as file:
                return io.BytesIO(file.read())

    def _check_widths(self) -> None:
        """Raise InputError for the first line that has another number of fields than the header."""
        width = len(self.header)
        for line, record in self.records():
            if record and len(record) != width:
                fix = "Fill the line up, and quote fields that hold the separator"
                if width == 1:
                    fix = "If a title stands above the line that names the columns, delete it"
                raise InputError(
                    f"the line has {len(record)} fields, but the header has {width}",
                    file=self.path,
                    line=line,
                    fix=fix,
                )


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length while a file is looked through."""
    usual_limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(usual_limit)
