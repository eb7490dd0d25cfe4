"""Numbers in the columns of a table, whether the file keeps them as numbers or as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.io.table.source import Source
from sparingly.data.io.words import kind_of, mixed
from sparingly.data.plain import EXACT
from sparingly.data.values import shown

if TYPE_CHECKING:
    import polars as pl

_MISSING = ("", "na", "n/a", "nan", "none", "null")


def numbers(series: pl.Series, source: Source, fix: str = "Leave it empty if missing") -> Floats:
    """Return a column of numbers, NaN where missing; a text that is no number is an error with its row."""
    import polars as pl

    if series.dtype == pl.String:
        parsed, wrong = parsed_texts(series)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise source.wrong(f"{shown(series[row])} is not a number", row=row, field=series.name, fix=fix)
        series = parsed
    elif not holds_numbers(series):
        raise source.wrong(f"numbers are wanted, not {series.dtype}", field=series.name)
    values: Floats = np.array(series.cast(pl.Float64).to_numpy(), np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise source.wrong(
            "the number is infinite",
            row=int(np.argmax(infinite)),
            field=series.name,
            fix="Write a finite number, or leave it empty",
        )
    return values


def scores(series: pl.Series, source: Source, fix: str = "Leave it empty if missing") -> Floats:
    """Return a column of scores: numbers, or two-valued words (pass and fail, yes and no …) as 1 and 0."""
    import polars as pl

    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    return numbers(series if (words := from_words(series, source)) is None else words, source, fix)


def are_words(series: pl.Series, source: Source) -> bool:
    """Say whether a column of scores holds truth values, or two-valued words."""
    import polars as pl

    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    return series.dtype == pl.Boolean or from_words(series, source) is not None


def from_words(series: pl.Series, source: Source) -> pl.Series | None:
    """Return two-valued words as numbers; None where a column holds no such word at all."""
    import polars as pl

    if series.dtype != pl.String:
        return None
    plain = series.str.strip_chars().str.to_lowercase()
    there = ~(plain.is_in(_MISSING) | series.is_null())
    kind = next(
        (one for text in plain.unique(maintain_order=True) if (one := kind_of(text)) is not None), None
    )
    if kind is None:
        return None
    values = plain.replace_strict(kind, default=None, return_dtype=pl.Float64)
    wrong = values.is_null() & there
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        error = mixed(series[row], kind)
        raise source.wrong(error.problem, row=row, field=series.name, fix=error.fix)
    return values


def parsed_texts(series: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return texts as numbers, and where a text is neither a number nor a word for missing."""
    import polars as pl

    stripped = series.str.strip_chars()
    missing = stripped.str.to_lowercase().is_in(_MISSING) | series.is_null()
    parsed = stripped.set(missing, None).cast(pl.Float64, strict=False)
    return parsed, parsed.is_null() & ~missing


def holds_numbers(series: pl.Series) -> bool:
    """Say whether a column is numeric by its type; truth values count as 1 and 0."""
    import polars as pl

    return is_numeric(series) or series.dtype in (pl.Boolean, pl.Null)


def is_numeric(series: pl.Series) -> bool:
    """Say whether a column is of a type of numbers, truth values not among them."""
    return series.dtype.is_numeric() or series.dtype.is_decimal()


def mostly_numbers(series: pl.Series, source: Source) -> bool:
    """Say whether a column is meant to hold numbers: by its type, or in a text file by most of its values."""
    if not source.is_text:
        return is_numeric(series)
    parsed, wrong = parsed_texts(series)
    return int(parsed.count()) > int(wrong.sum())


def all_numbers(series: pl.Series, source: Source) -> bool:
    """Say whether a column has numbers and nothing else."""
    import polars as pl

    if not source.is_text or series.dtype != pl.String:
        return is_numeric(series)
    parsed, wrong = parsed_texts(series)
    return not wrong.any() and int(parsed.count()) > 0


def typed(series: pl.Series, source: Source) -> pl.Series:
    """Return a column of a text file as whole numbers or numbers where it has nothing else."""
    import polars as pl

    if not source.is_text or not all_numbers(series, source):
        return series
    values = pl.Series(series.name, numbers(series, source)).fill_nan(None)
    is_whole = bool((values.drop_nulls() % 1 == 0).all()) and bool((values.drop_nulls().abs() < EXACT).all())
    return values.cast(pl.Int64) if is_whole else values
