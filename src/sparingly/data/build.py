"""Evaluation sets built from arrays, rebuilt with changes, or with only some of their judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import DataError, UnknownNameError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Scale, Store
from sparingly.data.tables import Preferences, Ratings

# --- Checks of the arrays that an evaluation set is built from ------------------------------------


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


# --- Put an evaluation set together from arrays: check the shapes, sort by id, freeze -------------


class Parts(TypedDict, total=False):
    """What an evaluation set can be built from, beside the ids of its items and models.

    ``metrics`` and ``aspects``: by name, items x models. ``sources``: a text per item. ``outputs``: items x
    models. ``references``: by name, a text per item. ``reference_aspects``: by aspect, items x references.
    ``columns``: by name, a value per item. ``cells``: by name, items x models. ``file_order``: the place of
    each item in its file (its place in ``items`` unless given). ``scales``: by field (``aspect:NAME``), the
    lowest and the highest possible score. ``name``: where the set came from. ``owned``: the arrays are handed
    over, and are frozen where they are instead of being copied.
    """

    metrics: Mapping[str, ArrayLike]
    aspects: Mapping[str, ArrayLike]
    sources: Sequence[str | None] | Objects | None
    outputs: Sequence[Sequence[str | None]] | Objects | None
    references: Mapping[str, Sequence[str | None]]
    reference_aspects: Mapping[str, ArrayLike]
    columns: Mapping[str, Sequence[Any] | NDArray[Any]]
    cells: Mapping[str, ArrayLike]
    ratings: Ratings
    preferences: Preferences
    file_order: Ints
    scales: Mapping[str, Scale]
    name: str
    owned: bool


def build(items: Sequence[Any], models: Sequence[Any], **parts: Unpack[Parts]) -> EvalSet:
    """Build an evaluation set; every array may be in any order as long as it fits the ids given."""
    item_ids, model_ids = as_ids("item", items), as_ids("model", models)
    rows, columns = sorting(item_ids), sorting(model_ids)
    shape = (len(item_ids), len(model_ids))
    references = as_ids("reference", parts.get("references", {}))
    place = _Placer(shape, rows, columns, sorting(references), owned=parts.get("owned", False))
    store = Store(
        items=_frozen(place.items(np.array(item_ids, object))),
        models=tuple(model_ids[position] for position in columns),
        references=tuple(sorted(references)),
        file_order=_frozen(place.items(np.array(parts.get("file_order", np.arange(shape[0])), np.int64))),
        metrics=place.numbers("metric", parts.get("metrics", {})),
        aspects=place.numbers("aspect", parts.get("aspects", {})),
        reference_aspects=place.by_reference(parts.get("reference_aspects", {})),
        columns=place.columns(parts.get("columns", {})),
        cells=place.objects(parts.get("cells", {})),
        sources=place.texts(parts.get("sources")),
        outputs=place.outputs(parts.get("outputs")),
        reference_texts=place.references(parts.get("references", {})),
        ratings=place.ratings(parts.get("ratings", Ratings())),
        preferences=place.preferences(parts.get("preferences", Preferences())),
        scales=dict(parts.get("scales", {})),
        name=parts.get("name", ""),
    )
    return EvalSet(_with_rated_aspects(_with_positions(store)))


def rebuild(data: EvalSet, **changed: Any) -> EvalSet:
    """Return the set with some of its parts changed, the others as they are in this view.

    Scores that are replaced lose their scale, unless ``scales`` tells it.
    """
    parts = parts_of(data)
    for kind, held in (("metric", data.metrics), ("aspect", data.aspects)):
        for name, values in changed.get(f"{kind}s", {}).items():
            if values is not held.get(name):
                parts["scales"].pop(f"{kind}:{name}", None)
    return build(list(data.items), list(data.models), **{**parts, **changed})


def parts_of(data: EvalSet) -> dict[str, Any]:
    """Return every part of a set, such that building from them gives the set back."""
    texts = data.reference_texts
    return {
        "metrics": dict(data.metrics),
        "aspects": dict(data.aspects),
        "sources": data.sources,
        "outputs": data.outputs,
        "references": {
            name: list(texts[:, place]) if texts is not None else [None] * len(data)
            for place, name in enumerate(data.references)
        },
        "reference_aspects": dict(data.reference_aspects),
        "columns": dict(data.columns),
        "cells": dict(data.cells),
        "ratings": data.ratings,
        "preferences": data.preferences,
        "file_order": np.argsort(data.file_order, kind="stable"),
        "scales": known_scales(data),
        "name": data.name,
    }


def known_scales(data: EvalSet) -> dict[str, Scale]:
    """Return the scales of the metrics and aspects that a view shows, by field."""
    shown = {*map(fields.metric, data.metrics), *map(fields.aspect, data.aspects)}
    return {name: ends for name, ends in data.store.scales.items() if name in shown}


def promote_reference(data: EvalSet, reference: str, model: str) -> EvalSet:
    """Return the set with a reference as one more model, judged as people judged the reference."""
    if reference not in data.references:
        raise UnknownNameError("reference", reference, data.references)
    if model in data.models:
        raise DataError(f'There is a model "{model}" already. Give the reference another name.')
    place = data.references.index(reference)
    parts, missing = parts_of(data), np.full((len(data), 1), np.nan)
    parts["metrics"] = {name: np.hstack([scores, missing]) for name, scores in data.metrics.items()}
    parts["aspects"] = {
        name: np.hstack([scores, data.reference_aspects[name][:, [place]]])
        if name in data.reference_aspects
        else np.hstack([scores, missing])
        for name, scores in data.aspects.items()
    }
    parts["cells"] = {
        name: np.hstack([values, np.full((len(data), 1), None, object)])
        for name, values in data.cells.items()
    }
    if data.outputs is not None:
        texts = data.reference_texts
        written = np.full((len(data), 1), None, object) if texts is None else texts[:, [place]]
        parts["outputs"] = np.hstack([data.outputs, written])
    models, here = len(data.models), data.ratings
    moved = here.model.copy()
    moved[here.model >= models] += 1
    moved[here.model == models + place] = models
    parts["ratings"] = replace(here, model=moved)
    return build(list(data.items), [*data.models, model], **parts)


def as_ids(kind: str, values: Iterable[Any]) -> list[str]:
    """Return ids as strings; an empty id, or the same one twice, is an error."""
    ids = [value if type(value) is str else _as_id(kind, value) for value in values]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f'The {kind} "{twice}" is there twice. Every {kind} needs an id of its own.')
    if "" in ids:
        raise DataError(f"There is an empty id. Every {kind} needs an id.")
    return ids


def _as_id(kind: str, value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"The ids of {kind}s are text or whole numbers, not {value!r}.")


def sorting(ids: Sequence[str]) -> Ints:
    """Return the positions that put ids into order."""
    if all(first < second for first, second in pairwise(ids)):
        return np.arange(len(ids), dtype=np.int64)
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)


class _Placer:
    """Checks every array's shape and puts it into the order of the ids."""

    def __init__(
        self, shape: tuple[int, int], rows: Ints, models: Ints, references: Ints, *, owned: bool
    ) -> None:
        self.shape, self.rows, self.models, self.reference_order = shape, rows, models, references
        self.owned = owned
        self.rows_sorted = bool((rows[1:] > rows[:-1]).all())
        self.models_sorted = bool((models[1:] > models[:-1]).all())

    def items(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if self.rows_sorted else array[self.rows]

    def _cells(self, array: NDArray[Any]) -> NDArray[Any]:
        array = self.items(array)
        return array if self.models_sorted else np.ascontiguousarray(array[:, self.models])

    def numbers(self, kind: str, arrays: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        return {
            name: self._number(f'{kind} "{name}"', values, self.shape)
            for name, values in named(kind, arrays).items()
        }

    def by_reference(self, arrays: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        shape, order = (self.shape[0], len(self.reference_order)), self.reference_order
        return {
            name: _frozen(self.items(as_numbers(f'reference aspect "{name}"', values, shape))[:, order])
            for name, values in named("reference aspect", arrays).items()
        }

    def _number(self, what: str, values: ArrayLike, shape: tuple[int, int]) -> Floats:
        return _frozen(self._cells(as_numbers(what, values, shape, owned=self.owned)))

    def objects(self, arrays: Mapping[str, ArrayLike]) -> dict[str, Objects]:
        return {
            name: _frozen(self._cells(as_objects(f'cell column "{name}"', values, self.shape, self.owned)))
            for name, values in named("cell column", arrays).items()
        }

    def texts(self, texts: Sequence[str | None] | Objects | None) -> Objects | None:
        if texts is None:
            return None
        return _frozen(self.items(as_texts("sources", texts, self.shape[:1], self.owned)))

    def outputs(self, texts: Sequence[Sequence[str | None]] | Objects | None) -> Objects | None:
        if texts is None:
            return None
        return _frozen(self._cells(as_texts("outputs", texts, self.shape, self.owned)))

    def references(self, texts: Mapping[str, Sequence[str | None]]) -> Objects | None:
        columns = [as_texts("references", column, self.shape[:1]) for column in texts.values()]
        if not any(text is not None for column in columns for text in column):
            return None
        return _frozen(np.stack([self.items(columns[place]) for place in self.reference_order], axis=1))

    def columns(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {
            name: _frozen(self.items(as_column(name, values, self.shape[0])))
            for name, values in named("column", columns).items()
        }

    def ratings(self, table: Ratings) -> Ratings:
        rated = np.concatenate([self.models, self.shape[1] + self.reference_order])
        check_codes("rating", table.item, self.shape[0])
        check_codes("rating", table.model, len(rated))
        check_size("table of ratings", table.score)
        return replace(table, item=self._moved(table.item, self.rows), model=self._moved(table.model, rated))

    def preferences(self, table: Preferences) -> Preferences:
        check_codes("preference", table.item, self.shape[0])
        check_codes("preference", np.concatenate([table.first, table.second]), self.shape[1])
        return replace(
            table,
            item=self._moved(table.item, self.rows),
            first=self._moved(table.first, self.models),
            second=self._moved(table.second, self.models),
        )

    @staticmethod
    def _moved(codes: NDArray[np.int32], order: Ints) -> NDArray[np.int32]:
        """Point codes at the new places."""
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return places[codes]


def _with_positions(store: Store) -> Store:
    """Give items of documents their place in the file where the data names documents but no positions."""
    if fields.DOCUMENT not in store.columns or fields.POSITION in store.columns:
        return store
    documents = store.columns[fields.DOCUMENT]
    positions = np.full(len(documents), np.nan)
    seen: dict[str, int] = {}
    for row in np.argsort(store.file_order, kind="stable"):
        if (name := documents[row]) is not None:
            positions[row] = seen[name] = seen.get(name, -1) + 1
    return replace(store, columns={**store.columns, fields.POSITION: _frozen(positions)})


def _with_rated_aspects(store: Store) -> Store:
    """Fill aspects that only the ratings know with the mean rating of each cell."""
    width = len(store.models) + len(store.references)
    aspects, of_references = dict(store.aspects), dict(store.reference_aspects)
    for name in store.ratings.aspects:
        if name in aspects and (name in of_references or not store.references):
            continue
        means = store.ratings.means(name, len(store.items), width)
        for filled, part in (
            (aspects, means[:, : len(store.models)]),
            (of_references, means[:, len(store.models) :]),
        ):
            if name not in filled and not np.isnan(part).all():
                filled[name] = _frozen(part.copy())
    return replace(store, aspects=aspects, reference_aspects=of_references)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


# --- A set as it was before some of its judgements came in ----------------------------------------


def reveal(data: EvalSet, cells: Mask, compared: Mask | None = None) -> EvalSet:
    """Return the set with the scores and ratings of some cells, and with some of its preferences.

    What people said of references stays: it was not asked about the models.

    Args:
        data: The set with all that is judged.
        cells: items × models: whose scores and ratings can be seen.
        compared: Which rows of ``data.preferences`` can be seen; None for no row.
    """
    rows, columns = data.places_in_store
    stored: Mask = np.zeros((len(data.store.items), len(data.store.models)), bool)
    stored[np.ix_(rows, columns)] = cells
    ratings, preferences = data.store.ratings, data.preferences
    store = replace(
        data.store,
        aspects={name: _seen(scores, stored) for name, scores in data.store.aspects.items()},
        ratings=ratings.take(_rated(ratings, stored)),
        preferences=_preferred(preferences, rows, columns, compared),
    )
    return replace(data, store=store)


def _seen(scores: Floats, cells: Mask) -> Floats:
    seen = np.where(cells, scores, np.nan)
    seen.flags.writeable = False
    return seen


def _rated(ratings: Ratings, cells: Mask) -> Mask:
    """Return which ratings are of cells that can be seen, or of references."""
    models = cells.shape[1]
    reference = ratings.model >= models
    return np.asarray(reference | cells[ratings.item, np.minimum(ratings.model, models - 1)])


def _preferred(
    preferences: Preferences, rows: NDArray[np.int64], columns: NDArray[np.int64], seen: Mask | None
) -> Preferences:
    if seen is None or not seen.any():
        return Preferences()
    kept = preferences.take(seen)
    return kept.take(
        np.ones(len(kept), bool),
        item=rows[kept.item].astype(np.int32),
        first=columns[kept.first].astype(np.int32),
        second=columns[kept.second].astype(np.int32),
    )
