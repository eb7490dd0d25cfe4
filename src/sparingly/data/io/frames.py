"""Frames of pandas, polars or Arrow as polars frames; none of the other two is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.data.io.objects import to_series

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Converted:
    """A polars frame, and a value of every column that holds both a number and the same number as text."""

    frame: pl.DataFrame
    clashes: Mapping[str, str] = field(default_factory=dict)


def to_polars(frame: Any) -> Converted:
    """Return any frame that narwhals knows as a polars frame."""
    import narwhals as nw
    import polars as pl

    try:
        known: Any = nw.from_native(frame)
    except TypeError:
        kind = type(frame)
        raise UsageError(
            f"A pandas, polars or Arrow table is wanted, not {kind.__module__}.{kind.__qualname__}."
        ) from None
    except nw.exceptions.NarwhalsError as error:
        raise UsageError(f"The frame cannot be used: {error}") from None
    if isinstance(known, nw.LazyFrame):
        known = known.collect()
    if known.implementation.is_polars():
        return Converted(known.to_native())
    if known.implementation.is_pyarrow():
        return Converted(pl.DataFrame(known.to_native()))
    clashes: dict[str, str] = {}
    columns = [_column(str(name), known.get_column(name), clashes) for name in known.columns]
    return Converted(pl.DataFrame(columns), clashes)


def _column(name: str, values: Any, clashes: dict[str, str]) -> pl.Series:
    import polars as pl

    if values.dtype.is_numeric():
        numbers = values.to_numpy()
        if numbers.dtype.kind in "fiu":
            return pl.Series(name, numbers)
    missing = values.is_null().to_numpy()
    listed = [None if gone else value for value, gone in zip(values.to_list(), missing, strict=True)]
    plain = [value.item() if isinstance(value, np.generic) else value for value in listed]
    return _from_list(name, plain, clashes)


def _from_list(name: str, values: list[Any], clashes: dict[str, str]) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return pl.Series(name, values, pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    if str in kinds and kinds <= {str, int, float}:
        texts = {value for value in values if isinstance(value, str)}
        both = [str(value) for value in values if isinstance(value, int) and str(value) in texts]
        if both:
            clashes[name] = both[0]
        return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)
    if kinds <= {str, bool}:
        return to_series(name, np.fromiter(values, object, len(values)))[0]
    return _foreign(name, values)


def _foreign(name: str, values: list[Any]) -> pl.Series:
    """Return dates, times and the like as texts; lists and objects as JSON."""
    import polars as pl

    if any(isinstance(value, list | dict | tuple | bool) for value in values):
        return to_series(name, np.fromiter(values, object, len(values)))[0]
    return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)
