"""Values of files: numbers, texts, ids and lists, checked one by one; and values as JSON holds them."""

from __future__ import annotations

import json
import math
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.data.scale import Scale

EXACT = float(2**53)


def plain(value: Any, largest: float = EXACT) -> Any:
    """Return a value as JSON can hold it: NaN as None, whole floats (up to ``largest``) as integers."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() and abs(value) <= largest else value
    if is_dataclass(value):
        value = {part.name: getattr(value, part.name) for part in dataclass_fields(value)}
    if isinstance(value, dict):
        return {name: plain(part, largest) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, largest) for part in value]
    return value


class PlainFields:
    """A dataclass whose plain values are its fields; what is not known is None."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(plain(self))


def is_number(value: Any) -> bool:
    """Say whether a value is a number that a float can hold exactly (true and false are none)."""
    if type(value) is int:
        try:
            return int(float(value)) == value
        except OverflowError:
            return False
    return type(value) is float


def canonical(value: Any) -> str | None:
    """Return one text for equal values (1 and 1.0 are equal, NaN and None are), None for a missing one."""
    if (
        isinstance(value, np.ndarray)
        and value.dtype.kind == "f"
        and value.size
        and _has_only_fractions(value)
    ):
        # As below, without a look at every number: vectors have millions of them.
        return json.dumps(value.tolist())
    value = plain(value, math.inf)
    return None if value is None else json.dumps(value, sort_keys=True, default=str)


def _has_only_fractions(numbers: NDArray[np.floating[Any]]) -> bool:
    """Say whether no number is whole, infinite or missing."""
    return bool((np.isfinite(numbers) & (numbers != np.trunc(numbers))).all())


# --- checks of single values ----------------------------------------------------------------------

NOT_A_NUMBER = "Write the number without quotes, or null where it is missing"
NOT_FINITE = "Write a finite number, or null where it is missing"
MOST_LEVELS = 100


def as_number(value: Any, field: str) -> float:
    """Return a number; null is NaN; anything else is an error."""
    if type(value) is float:
        if math.isinf(value):
            raise InputError(f"{_spelled(value)} is not a finite number", field=field, fix=NOT_FINITE)
        return value
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"{shown(value)} is too large a number", field=field, fix=NOT_FINITE) from None
    if isinstance(value, str):
        raise InputError(f"{shown(value)} is text, not a number", field=field, fix=NOT_A_NUMBER)
    raise InputError(f"{shown(value)} is not a number", field=field, fix=NOT_A_NUMBER)


def parse_number(text: str, field: str) -> float:
    """Read a number from a text column: empty, NA, NaN, None and null are missing."""
    stripped = text.strip()
    if stripped.lower() in ("", "na", "n/a", "nan", "none", "null"):
        return math.nan
    try:
        number = float(stripped)
    except ValueError:
        raise InputError(
            f"{shown(text)} is not a number", field=field, fix="Leave it empty if missing"
        ) from None
    if math.isinf(number):
        raise InputError(
            f"{shown(stripped)} is not a finite number",
            field=field,
            fix="Write a finite number, or leave it empty",
        )
    return number


def _spelled(number: float) -> str:
    """Return an infinite number as JSON files spell it."""
    return "Infinity" if number > 0 else "-Infinity"


def check_value(value: Any, field: str, depth: int = 0) -> None:
    """Raise InputError for a value that could not be written again: infinite, or nested too deeply."""
    if type(value) is float and math.isinf(value):
        raise InputError(f"{_spelled(value)} is not a finite number", field=field, fix=NOT_FINITE)
    if not isinstance(value, dict | list):
        return
    if depth >= MOST_LEVELS:
        raise InputError(f"the value is nested more than {MOST_LEVELS} levels deep", field=field)
    for part in value.values() if isinstance(value, dict) else value:
        check_value(part, field, depth + 1)


def as_text(value: Any, field: str) -> str | None:
    """Return a text or None; anything else is an error."""
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{shown(value)} is not text", field=field, fix="Put it in quotes")


def as_whole(value: Any, field: str) -> int:
    """Return a whole number; anything else is an error, a missing one too."""
    if type(value) is int:
        return value
    raise InputError(f"{shown(value)} is not a whole number", field=field)


def as_truth(value: Any, field: str) -> bool:
    """Return true or false; anything else is an error, a missing one too."""
    if isinstance(value, bool):
        return value
    raise InputError(f"{shown(value)} is neither true nor false", field=field)


def as_matrix(value: Any, field: str, size: int) -> NDArray[np.float64]:
    """Return size × size numbers, NaN where one is missing."""
    rows = [as_list(row, field) for row in as_list(value, field)]
    if [len(row) for row in rows] != [size] * size:
        raise InputError(f"expected {size} × {size} numbers, one per pair of models", field=field)
    return np.array([[as_number(number, field) for number in row] for row in rows], np.float64).reshape(
        size, size
    )


def as_scale(value: Any, field: str) -> Scale:
    """Return the lowest and the highest possible score of a scale."""
    numbers = [as_number(end, field) for end in as_list(value, field)]
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise InputError(f"{shown(value)} is not a scale", field=field, fix="Write [lowest, highest]")
    return Scale(*numbers)


def as_id(value: Any, field: str) -> str:
    """Return an id as text; a whole number is taken as its digits."""
    if isinstance(value, str):
        if not value.strip():
            raise InputError("the id is empty", field=field, fix="Give every item and model an id")
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{shown(value)} is not an id", field=field, fix="An id is text or a whole number")


def as_mapping(value: Any, field: str) -> dict[str, Any]:
    """Return an object's keys and values; None is an empty one."""
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise InputError(f"expected an object {{…}}, not {shown(value)}", field=field)


def as_list(value: Any, field: str) -> list[Any]:
    """Return a list; None is an empty one."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise InputError(f"expected a list […], not {shown(value)}", field=field)


def shown(value: Any, length: int = 40) -> str:
    """Return a value as an error message shows it, cut when long."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= length else f'"{value[:length]}…"'
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "null"}[value]
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        # Python refuses whole numbers of thousands of digits, and lists nested without end.
        text = f"a {type(value).__name__}"
    return text if len(text) <= length else f"{text[:length]}…"


def check_version(record: dict[str, Any], kind: str, newest: int) -> None:
    """Raise InputError for a file of another kind, or of a version newer than this package."""
    if record.get("format") != kind:
        raise InputError(f"this is a {shown(record.get('format'))} file, not {kind}", field="format")
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"{shown(version)} is not a version", field="version")
    if version > newest:
        raise InputError(
            f"version {version} is newer than the version {newest} that this sparingly reads",
            field="version",
            fix="Update sparingly",
        )
