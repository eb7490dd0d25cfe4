"""Values in the files of tools: what is a number, a place in a text, a time, a list or a name.

Files come from other people's programs, and anything may stand anywhere in them: infinity, a number of 400
digits, a list where a word should be. Importers read every value through these functions, which return None
(or nothing) where a value is not what is wanted, and never fail.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.values import as_number, parse_number, shown
from sparingly.run.exchange.spans import Span

# Longer than a rater's life: not the time that an answer took.
_MOST_SECONDS = 1e9
# Numbers since 1970 above this are milliseconds.
_MILLISECONDS = 1e11


def number_in(value: Any) -> float | None:
    """Return a finite number, also from text; None where it is none."""
    try:
        number = parse_number(value, "score") if isinstance(value, str) else as_number(value, "score")
    except InputError:
        return None
    return None if math.isnan(number) else number


def place_in(value: Any) -> int | None:
    """Return a place in a text, a whole number from 0 on; None where it is none."""
    number = number_in(value)
    return int(number) if number is not None and number.is_integer() and 0 <= number < 2**53 else None


def seconds_in(value: Any) -> float | None:
    """Return how many seconds something took; None where that is not known."""
    number = number_in(value)
    return number if number is not None and 0 <= number <= _MOST_SECONDS else None


def moment_in(value: Any) -> float | None:
    """Return a time (ISO text, seconds or milliseconds since 1970) as seconds since 1970; None: no time."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = number_in(value)
    return number if number is None or number <= _MILLISECONDS else number / 1000.0


def list_in(value: Any) -> list[Any]:
    """Return a list; one value is a list of one, and nothing an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def mapping_in(value: Any) -> dict[str, Any]:
    """Return an object's keys and values; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def name_in(value: Any) -> str | None:
    """Return the name of a person, a label or a field as text; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else shown(value)


def span_in(start: Any, end: Any, severity: Any, category: Any = "") -> Span | None:
    """Return a marked span in code points; None where a place is no whole number."""
    first, last = place_in(start), place_in(end)
    if first is None or last is None:
        return None
    return Span(first, last, (name_in(severity) or "").lower(), name_in(category) or "")


def spans_in(value: Any, severity: str) -> list[Span] | None:
    """Return spans from objects with ``start``, ``end`` and a severity; None where one of them is none."""
    if not isinstance(value or [], list):
        return None
    found = [
        span_in(one["start"], one["end"], one[severity], one.get("category", ""))
        if isinstance(one, dict) and {"start", "end", severity} <= one.keys()
        else None
        for one in value or []
    ]
    return [span for span in found if span is not None] if None not in found else None


def json_in(text: str, where: str) -> Any:
    """Return the JSON value that stands in a field.

    Raises:
        InputError: This is no JSON, or it is nested too deeply.
    """
    try:
        return files.parse_json(text, Path(where))
    except InputError as error:
        raise InputError(error.problem, file=where, fix=error.fix) from None
