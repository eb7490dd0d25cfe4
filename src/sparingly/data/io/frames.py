"""Columns of any Python values as typed columns, and frames of pandas, polars or Arrow as polars frames."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Objects
from sparingly.base.errors import DataError, UsageError
from sparingly.base.lazy import pl


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
