"""Dataclasses read from files by their type hints, and written back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from sparingly.base.errors import InputError
from sparingly.data import schema
from sparingly.data.scale import Scale
from sparingly.data.values import as_scale


@dataclass(frozen=True)
class Part:
    name: schema.Id
    share: float = 0.5


@dataclass(frozen=True)
class Whole:
    kind: Literal["a", "b"]
    count: int
    mean: float
    is_rate: bool
    low: float | None
    ends: Annotated[tuple[float, float], as_scale] | None
    pair: tuple[float, float]
    parts: tuple[Part, ...]
    by_name: dict[str, Part]
    note: str = ""
    author: str | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)


VALUES: dict[str, Any] = {
    "kind": "a",
    "count": 3,
    "mean": 1.5,
    "is_rate": False,
    "low": None,
    "ends": [0.0, 1.0],
    "pair": [0.5, 2.0],
    "parts": [{"name": "x", "share": 0.25}, {"name": "y", "share": 0.5}],
    "by_name": {"z": {"name": "z", "share": 1.0}},
    "note": "",
    "author": None,
    "unknown": {},
}


def test_what_is_written_is_read_back() -> None:
    whole = schema.read(Whole, VALUES)
    assert whole.ends == Scale(0.0, 1.0)
    assert whole.parts == (Part("x", 0.25), Part("y"))
    assert schema.write(whole) == json.loads(json.dumps(schema.write(whole))) == VALUES


def test_defaults_and_missing_numbers() -> None:
    values = {
        name: value for name, value in VALUES.items() if name not in ("note", "author", "mean", "parts")
    }
    whole = schema.read(Whole, {**values, "low": math.nan}, unknown={"more": 1})
    assert (whole.note, whole.author, whole.parts, whole.low) == ("", None, (), None)
    assert math.isnan(whole.mean)
    assert whole.unknown == {"more": 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "c"}, 'field at.kind: "c" is none of a, b'),
        ({"count": "3"}, 'field at.count: "3" is not a whole number'),
        ({"mean": "x"}, 'field at.mean: "x" is text, not a number'),
        ({"is_rate": 1}, "field at.is_rate: 1 is neither true nor false"),
        ({"ends": [1, 0]}, "field at.ends: [1, 0] is not a scale"),
        ({"pair": [1]}, "field at.pair: 2 values are needed, not 1"),
        ({"parts": {}}, "field at.parts: expected a list […]"),
        ({"parts": [{"name": ""}]}, "field at.parts[0].name: the id is empty"),
        ({"parts": [{}]}, "field at.parts[0].name: null is not an id"),
        ({"by_name": {"z": 5}}, "field at.by_name.z: expected an object {…}, not 5"),
        ({"note": 5}, "field at.note: 5 is not text"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        schema.read(Whole, {**VALUES, **changes}, "at")
    assert str(caught.value).startswith(sentence)


def test_a_missing_key_can_have_a_sentence_of_its_own() -> None:
    with pytest.raises(InputError, match='field at: the part has no "name"'):
        schema.read(Part, {"share": 1.0}, "at", name="part")


def test_unknown_keys() -> None:
    assert schema.unknown_keys({"name": 1, "format": 2, "more": 3}, Part, "format") == {"more": 3}
