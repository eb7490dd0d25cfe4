"""Columns of any Python values as typed columns of a file, and back without a change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Objects
from sparingly.base.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_LARGEST_WHOLE = 2**63


def to_series(name: str, values: NDArray[Any]) -> tuple[pl.Series, bool]:
    """Return values as a column of one type, and whether they had to be written as JSON for that.

    Texts, whole numbers, numbers and truth values, each kind by itself, get a type of their own; mixtures,
    lists and objects become JSON texts. None is null, NaN stays NaN.
    """
    import polars as pl

    if values.dtype != object:
        return pl.Series(name, np.asarray(values, np.float64)), False
    plain = [value.item() if isinstance(value, np.generic) else value for value in values.tolist()]
    kinds = {type(value) for value in plain if value is not None}
    types: dict[type, Any] = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    only = next(iter(kinds)) if len(kinds) == 1 else str
    as_json = len(kinds) > 1 or only not in types or (only is int and _too_large(plain))
    try:
        if as_json:
            return pl.Series(name, [_as_json(name, value) for value in plain], pl.String), True
        return pl.Series(name, plain, types[only]), False
    except UnicodeEncodeError:
        raise DataError(
            f'The column "{name}" holds a text with half a character (a lone surrogate).'
        ) from None


def to_objects(series: pl.Series, was_json: bool = False) -> Objects:
    """Return a column as Python values: null is None; dates and times are texts."""
    import polars as pl

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


def _too_large(values: list[Any]) -> bool:
    return any(value is not None and not -_LARGEST_WHOLE <= value < _LARGEST_WHOLE for value in values)


def _as_json(name: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise DataError(f'The column "{name}" holds {value!r}, which cannot be written to a file.') from None
