"""An evaluation set with ratings and preferences that came back from a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError
from sparingly.data import fields
from sparingly.data.build import known_scales, rebuild
from sparingly.data.evalset import EvalSet, Scale
from sparingly.data.tables import Preferences, Ratings

Rows = Sequence[Mapping[str, Any]]
Codes = NDArray[np.int32]
# What ratings carry beside their own columns.
_KEPT = ("round", "spans")


def with_rows(data: EvalSet, rows: Rows, scales: Mapping[str, Scale] | None = None) -> EvalSet:
    """Return a set with further ratings and preferences; a rated cell has the mean of its ratings.

    ``scales`` are those of the aspects that were asked for; earlier scores off such a scale leave it unknown.
    """
    single = [row for row in rows if row.get("model") is not None]
    pairs = [row for row in rows if row.get("model") is None]
    ratings = _ratings(data, single)
    means = {
        name: ratings.means(name, len(data), len(data.models) + len(data.references))
        for name in sorted({row["aspect"] for row in single})
    }
    aspects = dict(data.aspects)
    for name, found in means.items():
        own = found[:, : len(data.models)]
        aspects[name] = np.where(np.isnan(own), aspects[name], own) if name in aspects else own
    return rebuild(
        data,
        aspects=aspects,
        ratings=ratings,
        preferences=_preferences(data, pairs),
        scales={**known_scales(data), **_fitting(scales or {}, aspects)},
    )


def _fitting(scales: Mapping[str, Scale], aspects: Mapping[str, Floats]) -> dict[str, Scale]:
    """Return, by field, the scales that all scores of their aspect are on."""
    return {
        fields.aspect(name): (low, high)
        for name, (low, high) in scales.items()
        if name in aspects and not ((aspects[name] < low) | (aspects[name] > high)).any()
    }


def _ratings(data: EvalSet, rows: Rows) -> Ratings:
    before = data.ratings
    if not rows:
        return before
    comments = [row.get("comment") for row in rows]
    earlier = [None] * len(before) if before.comment is None else list(before.comment)
    return Ratings(
        item=np.concatenate([before.item, _items(data, rows)]),
        model=np.concatenate([before.model, _places(rows, "model", data.models, "model")]),
        score=np.concatenate([before.score, np.array([row["score"] for row in rows], np.float64)]),
        comment=_objects([*earlier, *comments]),
        **_who_and_what(before, rows),
    )


def _preferences(data: EvalSet, rows: Rows) -> Preferences:
    before = data.preferences
    if not rows:
        return before
    return Preferences(
        item=np.concatenate([before.item, _items(data, rows)]),
        first=np.concatenate([before.first, _places(rows, "first", data.models, "model")]),
        second=np.concatenate([before.second, _places(rows, "second", data.models, "model")]),
        value=np.concatenate([before.value, np.array([row["score"] for row in rows], np.float64)]),
        **_who_and_what(before, rows),
    )


def _who_and_what(before: Ratings | Preferences, rows: Rows) -> dict[str, Any]:
    """Return the columns that ratings and preferences share, the new rows after those that are there."""
    raters = (*before.raters, *sorted({row["rater"] for row in rows} - set(before.raters)))
    aspects = (*before.aspects, *sorted({row["aspect"] for row in rows} - set(before.aspects)))
    seconds = [np.nan if row.get("seconds") is None else row["seconds"] for row in rows]
    names = [*before.extra, *(name for name in _KEPT if name not in before.extra)]
    extra = {
        name: _objects([*before.extra.get(name, [None] * len(before)), *(row.get(name) for row in rows)])
        for name in names
    }
    return {
        "raters": raters,
        "rater": np.concatenate([before.rater, _places(rows, "rater", raters, "rater")]),
        "aspects": aspects,
        "aspect": np.concatenate([before.aspect, _places(rows, "aspect", aspects, "aspect")]),
        "seconds": np.concatenate([before.seconds, np.array(seconds, np.float64)]),
        "extra": {name: held for name, held in extra.items() if held is not None},
    }


def _items(data: EvalSet, rows: Rows) -> Codes:
    return data.positions(row["item"] for row in rows).astype(np.int32)


def _places(rows: Rows, column: str, names: Sequence[str], kind: str) -> Codes:
    place = {name: code for code, name in enumerate(names)}
    for row in rows:
        if row[column] not in place:
            raise UnknownNameError(kind, row[column], names)
    return np.array([place[row[column]] for row in rows], np.int32)


def _objects(values: list[Any]) -> NDArray[np.object_] | None:
    held = np.empty(len(values), object)
    held[:] = values
    return held if any(value is not None for value in values) else None
