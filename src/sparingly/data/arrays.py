"""Checks of the arrays that an evaluation set is built from: shapes, numbers, texts, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError
from sparingly.data import fields

# Squares of larger numbers, summed, may be infinite.
LARGEST = 1e100


def as_numbers(what: str, values: ArrayLike, shape: tuple[int, int], *, owned: bool = False) -> Floats:
    """Return numbers as an array of their own; a wrong shape or an infinite number is an error.

    An array that the caller hands over (``owned``) is taken as it is.
    """
    try:
        array = np.asarray(values, np.float64) if owned else np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"The {what} holds something that is not a number.") from None
    if array.shape != shape:
        raise DataError(
            f"The {what} has the shape {array.shape}, but there are {shape[0]} items and {shape[1]} columns."
        )
    if np.isinf(array).any():
        raise DataError(
            f"The {what} holds an infinite number. Write a finite one, or NaN where it is missing."
        )
    check_size(what, array)
    return array


def check_size(what: str, numbers: Floats) -> None:
    """Complain about numbers whose squares are infinite as computers count: no variance could be had."""
    sizes = np.abs(numbers)
    if (sizes > LARGEST).any():
        raise DataError(
            f"The {what} holds the number {np.nanmax(sizes):g}, and nothing can be computed with numbers "
            f"above {LARGEST:g}. Divide them by a constant, or take their logarithms."
        )


def named(kind: str, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arrays as they are; a name that is empty, or no text, is an error."""
    for name in arrays:
        if not isinstance(name, str) or not name:
            raise DataError(f"The name of a {kind} must be a text that is not empty, not {name!r}.")
    return arrays


def check_codes(kind: str, codes: NDArray[np.int32], count: int) -> None:
    """Complain when a judgement points at something that is not there."""
    if codes.size and not 0 <= codes.min() <= codes.max() < count:
        raise DataError(f"A {kind} points at an item or model that is not there.")


def as_texts(what: str, values: Any, shape: tuple[int, ...], owned: bool = False) -> Objects:
    """Return texts as an array of objects, None where one is missing."""
    array = as_objects(what, values, shape, owned)
    for text in array.ravel().tolist():
        if text is not None and not isinstance(text, str):
            raise DataError(f"The {what} hold {text!r}, which is no text. Write None where one is missing.")
    return array


def as_objects(what: str, values: Any, shape: tuple[int, ...], owned: bool = False) -> Objects:
    """Return values as an array of objects; whatever a value is, it fills one place and no other."""
    if owned and isinstance(values, np.ndarray) and values.dtype == object and values.shape == shape:
        return values
    array = np.empty(shape, object)
    if isinstance(values, np.ndarray) and values.shape == shape:
        array[...] = values
        return array
    wrong = DataError(f"The {what} must fill the shape {shape}, one for each item (and model).")
    if isinstance(values, np.ndarray | str):
        raise wrong
    try:
        rows = [list(values)] if len(shape) == 1 else [list(row) for row in values]
    except TypeError:
        raise wrong from None
    if any(len(row) != shape[-1] for row in rows) or (len(shape) == 2 and len(rows) != shape[0]):
        raise wrong
    flat = (value for row in rows for value in row)
    return np.fromiter(flat, object, array.size).reshape(shape)


def as_column(name: str, values: Sequence[Any] | NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column of the items: numbers for those that mean numbers, else whatever the values are."""
    if len(values) != count:
        raise DataError(f'The column "{name}" has {len(values)} values but there are {count} items.')
    if name in fields.NUMBER_COLUMNS:
        return _number_column(name, values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub" and name not in fields.TEXT_COLUMNS:
        return _finite(name, values.astype(np.float64))
    column = np.empty(count, object)
    for row, value in enumerate(values):
        column[row] = _as_name(value) if name in fields.TEXT_COLUMNS else value
    return column


def _as_name(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    return str(value)


def _number_column(name: str, values: Sequence[Any] | NDArray[Any]) -> Floats:
    is_numbers = isinstance(values, np.ndarray) and values.dtype.kind in "fiu"
    try:
        column = np.array(
            values if is_numbers else [np.nan if value is None else value for value in values], np.float64
        )
    except (TypeError, ValueError, OverflowError):
        raise DataError(f'The column "{name}" holds something that is not a number.') from None
    if name in (fields.COST, fields.WEIGHT) and (column < 0).any():
        raise DataError(f'The column "{name}" holds a negative number. Costs and weights are zero or more.')
    return _finite(name, column)


def _finite(name: str, column: Floats) -> Floats:
    if np.isinf(column).any():
        raise DataError(f'The column "{name}" holds an infinite number.')
    return column
