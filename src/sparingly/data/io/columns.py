"""Columns of a table: where they come from, as numbers, and as codes of items and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.base.lazy import pl
from sparingly.base.syntax import role_argument
from sparingly.data.io.words import SCALE, kind_of, mixed, worded_marks, written_numbers
from sparingly.data.scale import Scale
from sparingly.data.store import ColumnTexts
from sparingly.data.values import EXACT, shown

# --- Columns of other libraries ---


def to_series(name: str, values: NDArray[Any]) -> tuple[pl.Series, bool]:
    """Return values as a column of one type, and whether they had to be written as JSON for that.

    Texts, whole numbers, numbers and truth values, each kind by itself, get a type of their own; mixtures,
    lists and objects become JSON texts. None is null, NaN stays NaN.
    """
    if values.dtype != object:
        return pl.Series(name, np.asarray(values, np.float64)), False
    plain = [value.item() if isinstance(value, np.generic) else value for value in values.tolist()]
    kinds = {type(value) for value in plain if value is not None}
    types: dict[type, Any] = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    kind = next(iter(kinds)) if len(kinds) == 1 else str
    as_json = (
        len(kinds) > 1
        or kind not in types
        or (kind is int and any(value is not None and not -(2**63) <= value < 2**63 for value in plain))
    )
    try:
        if as_json:
            return pl.Series(name, [_as_json(name, value) for value in plain], pl.String), True
        return pl.Series(name, plain, types[kind]), False
    except UnicodeEncodeError:
        raise DataError(
            f'The column "{name}" holds a text with half a character (a lone surrogate).'
        ) from None


def to_objects(series: pl.Series, was_json: bool = False) -> Objects:
    """Return a column as Python values: null is None; dates and times are texts."""
    if series.dtype.is_temporal() or series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    elif series.dtype.is_decimal():
        series = series.cast(pl.Float64)
    if series.dtype == pl.String and not was_json:
        return np.asarray(series.to_numpy(), object)
    values = series.to_list()
    if was_json:
        values = [None if value is None else json.loads(value) for value in values]
    return np.fromiter(values, object, len(values))


def _as_json(name: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise DataError(f'The column "{name}" holds {value!r}, which cannot be written to a file.') from None


# --- Frames of pandas, polars or Arrow as polars frames; none of the other two is imported here ---


@dataclass(frozen=True)
class Converted:
    """A polars frame, and a value of every column that holds both a number and the same number as text."""

    frame: pl.DataFrame
    clashes: Mapping[str, str] = field(default_factory=dict)


def to_polars(frame: Any) -> Converted:
    """Return any frame that narwhals knows as a polars frame, and so a dataset of Hugging Face."""
    import narwhals as nw

    if isinstance(frame, Mapping) and frame and all(hasattr(part, "to_polars") for part in frame.values()):
        raise UsageError(
            f"There are several splits: {', '.join(map(str, frame))}. "
            f'Choose one: dataset["{next(iter(frame))}"].'
        )
    if callable(convert := getattr(frame, "to_polars", None)):
        return Converted(convert())
    if (table := getattr(getattr(frame, "data", None), "table", None)) is not None:
        frame = table
    try:
        native: Any = nw.from_native(frame)
    except TypeError:
        if hasattr(frame, "__arrow_c_stream__"):
            return Converted(pl.DataFrame(frame))
        kind = type(frame)
        raise UsageError(
            f"Expected a pandas, polars or Arrow table, not {kind.__module__}.{kind.__qualname__}."
        ) from None
    except nw.exceptions.NarwhalsError as error:
        raise UsageError(f"The frame cannot be used: {error}") from None
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if native.implementation.is_polars():
        return Converted(native.to_native())
    if native.implementation.is_pyarrow():
        return Converted(pl.DataFrame(native.to_native()))
    clashes: dict[str, str] = {}
    columns = [_column(str(name), native.get_column(name), clashes) for name in native.columns]
    return Converted(pl.DataFrame(columns), clashes)


def _column(name: str, values: Any, clashes: dict[str, str]) -> pl.Series:
    if values.dtype.is_numeric():
        numbers = values.to_numpy()
        if numbers.dtype.kind in "fiu":
            return pl.Series(name, numbers)
    missing = values.is_null().to_numpy()
    listed = [
        None if is_missing else value for value, is_missing in zip(values.to_list(), missing, strict=True)
    ]
    plain = [value.item() if isinstance(value, np.generic) else value for value in listed]
    return from_values(name, plain, clashes)


def from_values(name: str, values: list[Any], clashes: dict[str, str]) -> pl.Series:
    """Return Python values as a column; ``clashes`` takes a number that is also there as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return pl.Series(name, values, pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    if str in kinds and kinds <= {str, int, float}:
        texts = {value for value in values if isinstance(value, str)}
        in_both_forms = [str(value) for value in values if isinstance(value, int) and str(value) in texts]
        if in_both_forms:
            clashes[name] = in_both_forms[0]
        return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)
    if kinds <= {str, bool}:
        return to_series(name, np.fromiter(values, object, len(values)))[0]
    # Dates, times and the like become texts, lists and objects JSON.
    if any(isinstance(value, list | dict | tuple | bool) for value in values):
        return to_series(name, np.fromiter(values, object, len(values)))[0]
    return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)


# --- Columns of a table: where they come from, as numbers, and as codes of items and models ---


@dataclass(frozen=True)
class TableSource:
    """A table: its columns by name, read when asked for.

    ``line`` turns the position of a row into the line of a file; without it, rows are counted from 1.
    ``is_text``: every column is text, so that numbers have to be found out.
    """

    file: Path | str
    names: list[str]
    column: Callable[[str], pl.Series]
    line: Callable[[int], int] | None = None
    is_text: bool = False

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.column(self.names[0]))

    def error(
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


# --- Numbers, whether the file keeps them as numbers or as texts ----------------------------------

_MISSING = ("", "na", "n/a", "nan", "none", "null", "-", "–", "—", "#n/a")


def numbers(series: pl.Series, source: TableSource, fix: str = "Leave it empty if missing") -> Floats:
    """Return a column of numbers, NaN where missing; a text that is not a number is an error with its row."""
    if series.dtype == pl.String:
        parsed, unreadable = parsed_texts(series)
        if unreadable.any():
            row = int(unreadable.arg_max() or 0)
            raise source.error(f"{shown(series[row])} is not a number", row=row, field=series.name, fix=fix)
        series = parsed
    elif not holds_numbers(series):
        raise source.error(f"expected numbers, not {series.dtype}", field=series.name)
    values: Floats = np.array(series.cast(pl.Float64).to_numpy(), np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise source.error(
            "the number is infinite",
            row=int(np.argmax(infinite)),
            field=series.name,
            fix="Write a finite number, or leave it empty",
        )
    return values


# A column with more different texts than this holds no scores.
_MOST_SCORES = 2_000
_LONGEST_WORD = 12


def scores(
    series: pl.Series, source: TableSource, fix: str = "Leave it empty if missing"
) -> tuple[Floats, Scale | None]:
    """Return a column of scores, and their scale where it is known.

    Scores are numbers, two-valued words (pass and fail, yes and no …) as 1 and 0, texts such as 4/5, 80 % and
    ★★★★☆, or words for marks (poor, fair, good).
    """
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.Boolean:
        return numbers(series, source, fix), SCALE
    if series.dtype == pl.String and (plain := plain_numbers(series)) is not None:
        return numbers(plain, source, fix), None
    if (written := written_scores(series) or marks_in_words(series)) is not None:
        return numbers(written[0], source, fix), written[1]
    if (words := from_words(series, source)) is not None:
        return numbers(words, source, fix), SCALE
    return numbers(series, source, fix), None


def written_scores(series: pl.Series) -> tuple[pl.Series, Scale | None] | None:
    """Return texts such as 4/5 and 80 % as numbers with their scale; None where a column holds others."""
    return _translated(series, written_numbers)


def marks_in_words(series: pl.Series) -> tuple[pl.Series, Scale | None] | None:
    """Return words for marks as numbers, with their scale; None where a column holds others."""
    return _translated(series, worded_marks)


def _translated(
    series: pl.Series, translate: Callable[[pl.Series], tuple[dict[str, float], Scale | None] | None]
) -> tuple[pl.Series, Scale | None] | None:
    if series.dtype != pl.String:
        return None
    texts = series.set(series.str.strip_chars().str.to_lowercase().is_in(_MISSING), None)
    different = texts.drop_nulls().unique()
    if not 0 < len(different) <= _MOST_SCORES or (result := translate(different)) is None:
        return None
    return texts.replace_strict(result[0], default=None, return_dtype=pl.Float64), result[1]


def from_words(series: pl.Series, source: TableSource) -> pl.Series | None:
    """Return two-valued words as numbers; None where a column holds no such word at all."""
    if series.dtype != pl.String:
        return None
    plain = series.str.replace_all("_", " ").str.strip_chars().str.to_lowercase()
    present = ~(plain.is_in(_MISSING) | series.is_null())
    different = plain.filter(plain.str.len_chars() <= _LONGEST_WORD).drop_nulls().unique(maintain_order=True)
    if len(different) > _MOST_SCORES:
        return None
    kind = kind_of(different.filter(~different.is_in(_MISSING)))
    if kind is None:
        return None
    values = plain.replace_strict(kind, default=None, return_dtype=pl.Float64)
    unreadable = values.is_null() & present
    if unreadable.any():
        row = int(unreadable.arg_max() or 0)
        error = mixed(series[row], kind)
        raise source.error(error.problem, row=row, field=series.name, fix=error.fix)
    return values


def parsed_texts(series: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return texts as numbers, and where a text is neither a number nor a word for missing."""
    if (plain := plain_numbers(series)) is not None:
        return plain, pl.repeat(False, len(plain), dtype=pl.Boolean, eager=True)
    stripped = series.str.strip_chars()
    missing = stripped.str.to_lowercase().is_in(_MISSING) | series.is_null()
    texts = stripped.set(missing, None)
    parsed = texts.cast(pl.Float64, strict=False)
    unreadable = parsed.is_null() & ~missing
    if unreadable.any() and (points := decimal_points(texts, may_be_thousands=True)) is not texts:
        parsed = points.cast(pl.Float64)
        unreadable = parsed.is_null() & ~missing
    return parsed, unreadable


_WITH_COMMA = r"^\s*[+-]?\d+(,\d+)?\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$"


def plain_numbers(series: pl.Series) -> pl.Series | None:
    """Return texts as numbers where all of them are plainly written numbers; else None, at little cost."""
    if series.head(20).cast(pl.Float64, strict=False).null_count() > series.head(20).null_count():
        return None
    parsed = series.cast(pl.Float64, strict=False)
    is_plain = parsed.null_count() == series.null_count() and not parsed.is_nan().any()
    return parsed if is_plain else None


def decimal_points(texts: pl.Series, *, may_be_thousands: bool = False) -> pl.Series:
    """Return numbers with decimal commas with points instead; any other column as it is.

    All texts must be numbers, some with a comma; where commas may separate thousands, one of them must not.
    """
    present = texts.drop_nulls()
    if not present.head(100).str.contains(_WITH_COMMA).all() or not present.str.contains(_WITH_COMMA).all():
        return texts
    commas = present.filter(present.str.contains(",", literal=True))
    if not len(commas) or (may_be_thousands and commas.str.contains(_THOUSANDS).all()):
        return texts
    return texts.str.replace(",", ".", literal=True)


def holds_numbers(series: pl.Series) -> bool:
    """Say whether a column is numeric by its type; truth values count as 1 and 0."""
    return is_numeric(series) or series.dtype in (pl.Boolean, pl.Null)


def is_numeric(series: pl.Series) -> bool:
    """Say whether a column is of a type of numbers, truth values not among them."""
    return series.dtype.is_numeric() or series.dtype.is_decimal()


def typed(series: pl.Series, source: TableSource) -> pl.Series:
    """Return a column of a text file as whole numbers or numbers where it has nothing else."""
    if not source.is_text or series.dtype != pl.String:
        return series
    parsed, unreadable = parsed_texts(series)
    if unreadable.any() or not parsed.count():
        return series
    values = pl.Series(series.name, numbers(parsed, source)).fill_nan(None)
    is_whole = bool((values.drop_nulls() % 1 == 0).all()) and bool((values.drop_nulls().abs() < EXACT).all())
    return values.cast(pl.Int64) if is_whole else values


# --- Rows of a long table by item and by cell (item x model) --------------------------------------

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CodedNames:
    """Ids in their order, and for every row the place of its id among them.

    ``merged``: how many ids differed from another only by blanks around them.
    """

    names: list[str]
    codes: Codes
    merged: int = 0

    @classmethod
    def from_series(cls, series: pl.Series, kind: str, source: TableSource) -> CodedNames:
        """Code a column of ids; a missing one is an error, and so are numbers with fractions."""
        if not (series.dtype.is_integer() or series.dtype in (pl.String, pl.Categorical, pl.Enum)):
            raise source.error(
                f"ids are texts or whole numbers, not {series.dtype}",
                field=series.name,
                fix=f"Write the ids of the {kind}s as text",
            )
        texts = series.cast(pl.String)
        names, codes = coded(texts)
        bare = names.str.strip_chars()
        if texts.null_count() or (bare == "").any():
            blank = texts.is_null() | (texts.str.strip_chars() == "")
            count = int(blank.sum())
            row = int(blank.arg_max() or 0)
            more = f" here and in {count - 1:,} more of {len(texts):,} rows" if count > 1 else ""
            fix = "Fill it in"
            if kind == "model":
                fix += f", or, if all rows are of one model, add {role_argument(series.name, 'ignored')}"
            raise source.error(f"the {kind} has no id{more}", row=row, field=series.name, fix=fix)
        if (bare == names).all():
            return cls(names.to_list(), codes)
        # Blanks around ids are mistakes of typing.
        trimmed, places = coded(bare)
        return cls(trimmed.to_list(), places[codes], len(names) - len(trimmed))


_FEW = 100


def coded(texts: pl.Series) -> tuple[pl.Series, Codes]:
    """Return the different texts in order, and the place of each row's text among them (-1: null)."""
    if (runs := first_of_runs(texts)) is not None:
        names, codes = coded(runs[0])
        return names, codes[runs[1]]
    different = texts.drop_nulls().unique().sort() if texts.head(_FEW**2).n_unique() <= _FEW else None
    if different is not None and len(different) <= _FEW**2:
        places = texts.cast(pl.Enum(different)).to_physical().cast(pl.Int32).fill_null(-1)
        return different, np.array(places.to_numpy(), np.int32)
    codes = (texts.rank("dense").cast(pl.Int32).fill_null(0) - 1).to_numpy()
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    present = np.flatnonzero(codes >= 0)
    first[codes[present]] = present
    return texts.gather(first), np.array(codes, np.int32)


def first_of_runs(series: pl.Series) -> tuple[pl.Series, NDArray[Any]] | None:
    """Return the first value of every run, and each row's run; None where runs are short.

    Rows of an item mostly stand side by side: one of each run is enough to look at.
    """
    starts = series.ne_missing(series.shift()).to_numpy()
    rows = np.flatnonzero(starts)
    if 2 * len(rows) >= len(series) - 2 or not starts[0]:
        return None
    return series.gather(rows), np.cumsum(starts) - 1


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Rows in groups, each row with the code of its group."""

    codes: NDArray[Any]
    count: int

    def first(self, series: pl.Series) -> Ints:
        """Return the first row of every group that has a value, -1 where none has."""
        first, codes = np.full(self.count, -1, np.int64), self.codes
        rows = np.arange(len(codes))
        if series.null_count():
            rows = np.flatnonzero(series.is_not_null().to_numpy())
            codes = codes[rows]
        # Later rows are overwritten by earlier ones, so that the first of a group stays.
        first[codes[::-1]] = rows[::-1]
        return first

    def common_values(self, series: pl.Series) -> tuple[pl.Series, int | None]:
        """Return the value of every group, and the first row that has another one (None: all agree).

        Missing values agree with everything.
        """
        places = pl.Series(self.first(series))
        values = series.gather(places.set(places < 0, None))
        differs = (series != values.gather(self.codes)).fill_null(False)
        return values, int(differs.arg_max() or 0) if differs.any() else None


def column_texts(series: pl.Series, rows: Ints) -> ColumnTexts:
    """Return the texts of a column at some rows (-1: none), to be made into objects when they are needed."""
    return ColumnTexts(rows, partial(_texts_at, series))


def _texts_at(series: pl.Series, rows: Ints) -> Objects:
    places = pl.Series(rows.ravel())
    return to_objects(series.gather(places.set(places < 0, None))).reshape(rows.shape)


@dataclass(frozen=True, eq=False)
class CellGrid:
    """The rows of a long table placed on items x models."""

    source: TableSource
    items: CodedNames
    models: CodedNames

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items and of models."""
        return len(self.items.names), len(self.models.names)

    @cached_property
    def by_item(self) -> RowGroups:
        """The rows by item."""
        return RowGroups(self.items.codes, self.shape[0])

    @cached_property
    def by_cell(self) -> RowGroups:
        """The rows by item and model."""
        cells = self.items.codes.astype(np.int64) * self.shape[1] + self.models.codes
        return RowGroups(cells, self.shape[0] * self.shape[1])

    @cached_property
    def file_order(self) -> Ints:
        """The place of every item by its first row."""
        first = np.empty(self.shape[0], np.int64)
        first[self.items.codes[::-1]] = np.arange(len(self.items.codes))[::-1]
        return np.argsort(np.argsort(first)).astype(np.int64)

    @cached_property
    def cell_count(self) -> int:
        """The number of cells that have a row."""
        has_row = np.zeros(self.by_cell.count, bool)
        has_row[self.by_cell.codes] = True
        return int(has_row.sum())

    @property
    def repeats(self) -> bool:
        """Whether some item and model have several rows."""
        return self.cell_count < len(self.by_cell.codes)

    @property
    def compares(self) -> bool:
        """Whether some item has rows of several models, so that they can be compared on it."""
        return self.cell_count > self.shape[0]

    def check_once(self) -> None:
        """Raise InputError when an item and model have two rows."""
        if not self.repeats:
            return
        cells = self.by_cell.codes
        _, first = np.unique(cells, return_index=True)
        second = int(np.setdiff1d(np.arange(len(cells)), first)[0])
        first_row = int(np.argmax(cells == cells[second]))
        item = self.items.names[self.items.codes[second]]
        model = self.models.names[self.models.codes[second]]
        both_rows = self.source.two_rows(first_row, second)
        raise self.source.error(
            f"the item {shown(item)} and the model {shown(model)} are there twice ({both_rows})",
            fix="Keep one of them, or say how they differ: "
            f"{role_argument('COLUMN', 'epoch')} for repeated runs, "
            f"{role_argument('COLUMN', 'rater')} for several raters, "
            f"{role_argument('COLUMN', 'input')} for a part of the input",
        )

    def per_item(self, series: pl.Series) -> pl.Series:
        """Return one value an item; two different ones are an error."""
        values, differing_row = self.by_item.common_values(series)
        if differing_row is not None:
            item = int(self.items.codes[differing_row])
            raise self.source.error(
                f"the item {shown(self.items.names[item])} has two values, "
                f"{shown(values[item])} and {shown(series[differing_row])}",
                row=differing_row,
                field=series.name,
                fix=f"Give an item one value, or add {role_argument(series.name, 'ignored')}",
            )
        return values

    def scores(self, name: str, values: Floats) -> Floats:
        """Return numbers on the grid; two different ones in a cell are an error."""
        cells, matrix = self.by_cell.codes, np.full(self.by_cell.count, np.nan)
        present = ~np.isnan(values)
        if present.all():
            matrix[cells] = values
        else:
            matrix[cells[present]] = values[present]
        if self.repeats and (present & (matrix[cells] != values)).any():
            self._per_cell(pl.Series(name, values).fill_nan(None))
        return matrix.reshape(self.shape)

    def objects(self, series: pl.Series) -> Objects:
        """Return values on the grid; two different ones in a cell are an error."""
        return to_objects(self._per_cell(series)).reshape(self.shape)

    def texts(self, series: pl.Series) -> ColumnTexts:
        """Return texts on the grid; two different ones in a cell are an error."""
        if self.repeats:
            self._per_cell(series)
        return column_texts(series, self.by_cell.first(series).reshape(self.shape))

    def first_objects(self, series: pl.Series) -> Objects:
        """Return the first value of every cell on the grid."""
        return to_objects(self.by_cell.common_values(series)[0]).reshape(self.shape)

    def _per_cell(self, series: pl.Series) -> pl.Series:
        values, row = self.by_cell.common_values(series)
        if row is None:
            return values
        item, model = int(self.items.codes[row]), int(self.models.codes[row])
        first = values[int(self.by_cell.codes[row])]
        raise self.source.error(
            f"the item {shown(self.items.names[item])} has two values for the model "
            f"{shown(self.models.names[model])}, {shown(first)} and {shown(series[row])}",
            row=row,
            field=series.name,
            fix="Give every item and model one value",
        )
