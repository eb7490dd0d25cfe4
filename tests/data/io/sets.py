"""Evaluation sets of every shape, made by hypothesis, and what it means that two are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings

TEXTS = st.text(max_size=6) | st.sampled_from(["", 'a, "b"\nc', " x ", "ü\r\n", "NA", "1"])
NAMES = st.text(min_size=1, max_size=5) | st.sampled_from(
    [
        "GPT-4 (p = 0.3) + tools",
        "metric:x",
        "column:y",
        "cell:z",
        "item",
        "source",
        "outputs",
        "ratings",
        "score",
    ]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.just(float("nan"))
PLAIN = st.none() | TEXTS | st.integers(-5, 2**70) | NUMBERS | st.booleans()
ANYTHING = PLAIN | st.lists(PLAIN, max_size=2) | st.dictionaries(TEXTS, PLAIN, max_size=2)
KINDS = (TEXTS, st.integers(-5, 5), NUMBERS, st.booleans(), ANYTHING)


def _objects(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    kind = draw(st.sampled_from(KINDS))
    count = int(np.prod(shape))
    values = draw(st.lists(st.none() | kind, min_size=count, max_size=count))
    return np.fromiter(values, object, count).reshape(shape)


def _numbers(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    return np.array(draw(st.lists(NUMBERS, min_size=count, max_size=count)), np.float64).reshape(shape)


def _texts(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    values = draw(st.lists(st.none() | TEXTS, min_size=count, max_size=count))
    return np.fromiter(values, object, count).reshape(shape)


def _named(draw: st.DrawFn, make: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    return {name: make(draw, shape) for name in draw(st.lists(NAMES, max_size=2, unique=True))}


def _codes(draw: st.DrawFn, count: int, low: int, high: int) -> Any:
    return np.array(draw(st.lists(st.integers(low, high), min_size=count, max_size=count)), np.int32)


def _judges(draw: st.DrawFn, count: int) -> dict[str, Any]:
    raters = tuple(draw(st.lists(NAMES, max_size=2, unique=True)))
    aspects = tuple(draw(st.lists(NAMES, max_size=2, unique=True)))
    return {
        "raters": raters,
        "aspects": aspects,
        "rater": _codes(draw, count, -1, len(raters) - 1),
        "aspect": _codes(draw, count, -1, len(aspects) - 1),
        "seconds": _numbers(draw, (count,)),
        "extra": _named(draw, _objects, (count,)),
    }


@st.composite
def evaluation_sets(draw: st.DrawFn, least_models: int = 0) -> EvalSet:
    """Return a set that holds a bit of everything."""
    items = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    models = draw(st.lists(NAMES, min_size=least_models, max_size=3, unique=True))
    references = draw(st.lists(NAMES, max_size=2, unique=True))
    shape = (len(items), len(models))
    parts: dict[str, Any] = {
        "metrics": _named(draw, _numbers, shape),
        "aspects": _named(draw, _numbers, shape),
        "cells": _named(draw, _objects, shape),
        "columns": _columns(draw, len(items)),
        "references": {name: list(_texts(draw, shape[:1])) for name in references},
    }
    if draw(st.booleans()):
        parts["sources"] = _texts(draw, shape[:1])
        parts["outputs"] = _texts(draw, shape)
    if references:
        parts["reference_aspects"] = _named(draw, _numbers, (len(items), len(references)))
    if len(models) + len(references) > 0:
        parts["ratings"] = _ratings(draw, shape, len(references))
    if len(models) > 1:
        parts["preferences"] = _preferences(draw, shape)
    return EvalSet.from_arrays(items, models, **parts)


def _columns(draw: st.DrawFn, count: int) -> dict[str, Any]:
    columns = _named(draw, _objects, (count,)) | _named(draw, _numbers, (count,))
    if draw(st.booleans()):
        columns |= {"document": _texts(draw, (count,)), "cost": np.abs(_numbers(draw, (count,)))}
    return columns


def _ratings(draw: st.DrawFn, shape: tuple[int, int], references: int) -> Ratings:
    count = draw(st.integers(0, 4))
    return Ratings(
        item=_codes(draw, count, 0, shape[0] - 1),
        model=_codes(draw, count, 0, shape[1] + references - 1),
        score=_numbers(draw, (count,)),
        comment=_texts(draw, (count,)) if draw(st.booleans()) else None,
        **_judges(draw, count),
    )


def _preferences(draw: st.DrawFn, shape: tuple[int, int]) -> Preferences:
    count = draw(st.integers(0, 3))
    first = _codes(draw, count, 0, shape[1] - 1)
    return Preferences(
        item=_codes(draw, count, 0, shape[0] - 1),
        first=first,
        second=((first + 1) % shape[1]).astype(np.int32),
        value=np.sign(_numbers(draw, (count,))),
        **_judges(draw, count),
    )


def check_same(one: EvalSet, other: EvalSet) -> None:
    """Fail unless two sets hold the same, value for value and type for type."""
    assert (list(one.items), one.models, one.references) == (
        list(other.items),
        other.models,
        other.references,
    )
    assert one.file_order.tolist() == other.file_order.tolist()
    for kind in ("metrics", "aspects", "reference_aspects", "columns", "cells"):
        mine, theirs = getattr(one, kind), getattr(other, kind)
        assert list(mine) == list(theirs), kind
        for name in mine:
            assert mine[name].dtype == theirs[name].dtype, name
            assert repr(mine[name].tolist()) == repr(theirs[name].tolist()), name
    for kind in ("sources", "outputs", "reference_texts"):
        assert shown(getattr(one, kind)) == shown(getattr(other, kind)), kind
    assert judgements(one.ratings) == judgements(other.ratings)
    assert judgements(one.preferences) == judgements(other.preferences)
    assert one.digest() == other.digest()


def shown(values: Any) -> Any:
    return None if values is None else values.tolist()


def judgements(table: Ratings | Preferences) -> list[str]:
    """Return the judgements as texts, whatever their order and that of the names."""
    rows = []
    for place in range(len(table)):
        held = {
            name: value[place].item() if isinstance(value[place], np.generic) else value[place]
            for name, value in vars(table).items()
            if isinstance(value, np.ndarray) and name not in ("rater", "aspect")
        }
        held["rater"] = [*table.raters, None][table.rater[place]]
        held["aspect"] = [*table.aspects, None][table.aspect[place]]
        held["extra"] = {name: values[place] for name, values in sorted(table.extra.items())}
        held.setdefault("comment", None)
        rows.append(repr(sorted(held.items(), key=lambda pair: pair[0])))
    return sorted(rows)
