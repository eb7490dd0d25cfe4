"""Dataclasses as parts of our own files: a type hint says how each value is read and checked.

================================  ==================================================================
hint                              what a file may hold
================================  ==================================================================
``str``                           a text that is not empty; it may be empty where the default is
``int``, ``bool``                 a whole number; true or false
``float``                         a number; null is NaN
``X | None``                      an X or null (a number that is NaN is None)
``Literal["a", "b"]``             one of the texts
``tuple[X, ...]``, ``list[X]``    a list of X; null is an empty one
``tuple[X, Y]``                   a list of an X and a Y
``dict[str, X]``, ``Mapping``     an object of X; null is an empty one
a dataclass                       an object with its fields
``Annotated[X, read]``            what ``read(value, field)`` returns, such as ``as_id``
================================  ==================================================================

A key that is absent has the default of its field; without a default it is read as null. pydantic does the
same and more, but importing it takes 0.12 s of every command that reads such a file; this takes 0.001 s.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from sparingly.base.errors import InputError
from sparingly.data.values import as_id, as_list, as_mapping, as_number, as_text, as_truth, as_whole, shown

Read = Callable[[Any, str], Any]
Part = TypeVar("Part")
Id = Annotated[str, as_id]


def read(kind: type[Part], values: Any, field: str = "", *, name: str | None = None, **known: Any) -> Part:
    """Return a dataclass from the values of a file; ``field`` is where they stand in it.

    ``name`` is what a missing key is missing from, in the error; by default the key is read as null.
    ``known`` are fields that the caller has read.
    """
    record = as_mapping(values, field or kind.__name__)
    parts, missing = dict(known), []
    for key, (reader, required) in _readers(cast("Any", kind)).items():
        if key in known:
            continue
        if key in record or (required and name is None):
            parts[key] = reader(record.get(key), f"{field}.{key}" if field else key)
        elif required:
            missing.append(key)
    if missing:
        raise InputError(f'the {name} has no "{missing[0]}"', field=field or None)
    return kind(**parts)


def write(value: Any) -> Any:
    """Return a dataclass as the plain values that ``read`` takes."""
    if dataclasses.is_dataclass(value):
        return {part.name: write(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: write(part) for key, part in value.items()}
    return [write(part) for part in value] if isinstance(value, tuple | list) else value


def unknown_keys(values: Mapping[str, Any], *known: Any) -> dict[str, Any]:
    """Return what a file says beyond some keys, or beyond the fields of a dataclass: it is kept."""
    names = {name for part in known for name in ([part] if isinstance(part, str) else _readers(part))}
    return {name: value for name, value in values.items() if name not in names}


def required_text(value: Any, field: str) -> str:
    """Return a text that is not empty."""
    text = as_text(value, field)
    if not text:
        raise InputError("the text is missing", field=field)
    return text


@cache
def _readers(kind: type[Any]) -> dict[str, tuple[Read, bool]]:
    """Return how each field is read, and whether it has no default."""
    hints = get_type_hints(kind, include_extras=True)
    readers = {}
    for part in dataclasses.fields(kind):
        required = part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
        reader = _reader(hints[part.name])
        if part.default == "" and hints[part.name] is str:
            reader = lambda value, field: as_text(value, field) or ""  # noqa: E731
        readers[part.name] = (reader, required)
    return readers


_SINGLE: dict[Any, Read] = {
    Any: lambda value, field: value,
    str: required_text,
    int: as_whole,
    float: as_number,
    bool: as_truth,
}


def _reader(hint: Any) -> Read:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SINGLE:
        return _SINGLE[hint]
    if dataclasses.is_dataclass(hint):
        return lambda value, field: read(cast("type[Any]", hint), value, field)
    if origin is Annotated:
        return cast("Read", arguments[1])
    if origin in (Union, UnionType):
        return _optional(next(part for part in arguments if part is not NoneType))
    if origin is Literal:
        return lambda value, field: _choice(value, field, arguments)
    if origin is tuple and arguments[-1] is not ...:
        return _fixed(tuple(map(_reader, arguments)))
    if origin in (tuple, list):
        part = _reader(arguments[0])
        return lambda value, field: origin(
            part(entry, f"{field}[{place}]") for place, entry in enumerate(as_list(value, field))
        )
    part = _reader(arguments[1])
    return lambda value, field: {
        key: part(entry, f"{field}.{key}") for key, entry in as_mapping(value, field).items()
    }


def _optional(hint: Any) -> Read:
    reader = as_text if hint is str else _reader(hint)

    def optional(value: Any, field: str) -> Any:
        part = None if value is None else reader(value, field)
        return None if isinstance(part, float) and math.isnan(part) else part

    return optional


def _fixed(readers: tuple[Read, ...]) -> Read:
    def fixed(value: Any, field: str) -> tuple[Any, ...]:
        entries = as_list(value, field)
        if len(entries) != len(readers):
            raise InputError(f"{len(readers)} values are needed, not {len(entries)}", field=field)
        return tuple(reader(entry, field) for reader, entry in zip(readers, entries, strict=True))

    return fixed


def _choice(value: Any, field: str, choices: tuple[Any, ...]) -> Any:
    if value not in choices:
        raise InputError(f"{shown(value)} is none of {', '.join(choices)}", field=field)
    return value
