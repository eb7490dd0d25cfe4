"""The arrays behind an evaluation set: checked, sorted by id, and frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType, NoneType
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import DataError, UsageError
from sparingly.data import fields
from sparingly.data.roles import TableRoles
from sparingly.data.scale import Scale
from sparingly.data.tables import Preferences, Ratings, Repeats

# Squares of larger numbers, summed, may be infinite.
LARGEST = 1e100


class ColumnTexts:
    """Texts in a column of a table, made into an array when they are first asked for.

    ``rows``: for every item (and model), the row of the column that holds its text, -1 where there is none.
    ``read`` returns the texts of rows, None where there is none.
    """

    def __init__(self, rows: Ints, read: Callable[[Ints], Objects]) -> None:
        self.rows, self.read = rows, read
        self._array: Objects | None = None

    def array(self) -> Objects:
        """Return the texts, None where one is missing."""
        if self._array is None:
            array = self._array = frozen(self.read(self.rows))
            # The column is needed no longer, not by another thread either.
            self.read = lambda _: array
        return self._array


@dataclass(frozen=True, eq=False)
class Store:
    """The arrays behind an evaluation set and all of its views, in the order of the ids.

    ``scales`` holds the lowest and the highest possible score of metrics and aspects, by field, where these
    are known: (0, 1) for scores that were given as words such as pass and fail. ``roles`` says what the
    columns of the table were that the set was read from; it is no part of digests.
    """

    items: Objects
    models: tuple[str, ...]
    references: tuple[str, ...] = ()
    file_order: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    metrics: Mapping[str, Floats] = field(default_factory=dict)
    aspects: Mapping[str, Floats] = field(default_factory=dict)
    reference_aspects: Mapping[str, Floats] = field(default_factory=dict)
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    cells: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    sources: Objects | ColumnTexts | None = None
    outputs: Objects | ColumnTexts | None = None
    reference_texts: Objects | None = None
    ratings: Ratings = field(default_factory=Ratings)
    preferences: Preferences = field(default_factory=Preferences)
    repeats: Repeats = field(default_factory=Repeats)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    name: str = ""
    roles: TableRoles | None = None

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, dict):
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The random key of every item (see ``base.rng``)."""
        return frozen(rng.keys_of(list(self.items)))

    def texts(self, name: str) -> Objects | None:
        """Return the sources, the outputs or the references."""
        stored = self.reference_texts if name == "references" else getattr(self, name)
        return stored.array() if isinstance(stored, ColumnTexts) else stored


class Parts(TypedDict, total=False):
    """What an evaluation set can be built from, beside the ids of its items and models.

    ``metrics`` and ``aspects``: by name, items x models. ``sources``: a text per item. ``outputs``: items x
    models. ``references``: by name, a text per item. ``reference_aspects``: by aspect, items x references.
    ``columns``: by name, a value per item. ``cells``: by name, items x models. ``file_order``: the place of
    each item in its file (its place in ``items`` by default). ``repeats``: outputs of several epochs; cells
    without scores and outputs of their own get the mean score and the first output of them. ``scales``: by
    field (``aspect:NAME``), the lowest and the highest possible score. ``name``: where the set came from.
    ``roles``: what the columns of its table are. ``owned``: the arrays are handed over, and are frozen where
    they are instead of being copied.
    """

    metrics: Mapping[str, ArrayLike]
    aspects: Mapping[str, ArrayLike]
    sources: Sequence[str | None] | Objects | ColumnTexts | None
    outputs: Sequence[Sequence[str | None]] | Objects | ColumnTexts | None
    references: Mapping[str, Sequence[str | None]]
    reference_aspects: Mapping[str, ArrayLike]
    columns: Mapping[str, Sequence[Any] | NDArray[Any]]
    cells: Mapping[str, ArrayLike]
    ratings: Ratings
    preferences: Preferences
    repeats: Repeats
    file_order: Ints
    scales: Mapping[str, tuple[float, float]]
    name: str
    roles: TableRoles | None
    owned: bool


def build_store(items: Sequence[Any], models: Sequence[Any], **parts: Unpack[Parts]) -> Store:
    """Check every array, sort it by the ids, and freeze it."""
    item_ids, model_ids = as_ids("item", items), as_ids("model", models)
    references = as_ids("reference", parts.get("references", {}))
    place = _ArrayPlacer(item_ids, model_ids, references, owned=parts.get("owned", False))
    store = Store(
        items=frozen(place.items(np.array(item_ids, object))),
        models=tuple(sorted(model_ids)),
        references=tuple(sorted(references)),
        file_order=frozen(place.items(np.array(parts.get("file_order", np.arange(len(item_ids))), np.int64))),
        metrics=place.numbers("metric", parts.get("metrics", {})),
        aspects=place.numbers("aspect", parts.get("aspects", {})),
        reference_aspects=place.by_reference(parts.get("reference_aspects", {})),
        columns=place.columns(parts.get("columns", {})),
        cells=place.objects(parts.get("cells", {})),
        sources=place.sources(parts.get("sources")),
        outputs=place.outputs(parts.get("outputs")),
        reference_texts=place.references(parts.get("references", {})),
        ratings=place.ratings(parts.get("ratings", Ratings())),
        preferences=place.preferences(parts.get("preferences", Preferences())),
        repeats=place.repeats(parts.get("repeats", Repeats())),
        scales={name: Scale(*ends) for name, ends in parts.get("scales", {}).items()},
        name=parts.get("name", ""),
        roles=parts.get("roles"),
    )
    return _with_rated_aspects(_with_repeated_cells(_with_positions(store)))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


# --- ids and their order ----------------------------------------------------------------------------------


def as_ids(kind: str, values: Iterable[Any]) -> list[str]:
    """Return ids as strings; an empty id, or the same one twice, is an error."""
    ids = list(values)
    if set(map(type, ids)) - {str}:
        ids = [value if type(value) is str else _as_id(kind, value) for value in ids]
    if len(set(ids)) < len(ids):
        earlier: set[str] = set()
        twice = next(name for name in ids if name in earlier or earlier.add(name))  # type: ignore[func-returns-value]
        raise DataError(f'The {kind} "{twice}" is there twice. Every {kind} needs an id of its own.')
    if "" in ids:
        raise DataError(f"There is an empty id. Every {kind} needs an id.")
    return ids


def _as_id(kind: str, value: Any) -> str:
    if isinstance(value, str | int | np.integer) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"The ids of {kind}s are text or whole numbers, not {value!r}.")


def _sorting(ids: Sequence[str]) -> Ints:
    """Return the positions that put ids into order."""
    if list(ids) == sorted(ids):
        return np.arange(len(ids), dtype=np.int64)
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)


class _ArrayPlacer:
    """Checks the shape of every array and puts it into the order of the ids."""

    def __init__(self, items: list[str], models: list[str], references: list[str], *, owned: bool) -> None:
        self.shape, self.owned = (len(items), len(models)), owned
        self.rows, self.models, self.reference_order = map(_sorting, (items, models, references))
        self.rows_sorted = bool((self.rows[1:] > self.rows[:-1]).all())
        self.models_sorted = bool((self.models[1:] > self.models[:-1]).all())

    def items(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if self.rows_sorted else array[self.rows]

    def _cells(self, array: NDArray[Any]) -> NDArray[Any]:
        array = self.items(array)
        return frozen(array if self.models_sorted else np.ascontiguousarray(array[:, self.models]))

    def numbers(self, kind: str, arrays: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        return {
            name: self._cells(as_numbers(f'{kind} "{name}"', values, self.shape, owned=self.owned))
            for name, values in check_names(kind, arrays).items()
        }

    def by_reference(self, arrays: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        shape, order = (self.shape[0], len(self.reference_order)), self.reference_order
        return {
            name: frozen(self.items(as_numbers(f'reference aspect "{name}"', values, shape))[:, order])
            for name, values in check_names("reference aspect", arrays).items()
        }

    def objects(self, arrays: Mapping[str, ArrayLike]) -> dict[str, Objects]:
        return {
            name: self._cells(as_objects(f'cell column "{name}"', values, self.shape, self.owned))
            for name, values in check_names("cell column", arrays).items()
        }

    def sources(
        self, texts: Sequence[str | None] | Objects | ColumnTexts | None
    ) -> Objects | ColumnTexts | None:
        if texts is None:
            return None
        if isinstance(texts, ColumnTexts):
            return texts if self.rows_sorted else ColumnTexts(self.items(texts.rows), texts.read)
        return frozen(self.items(as_texts("sources", texts, self.shape[:1], self.owned)))

    def outputs(
        self, texts: Sequence[Sequence[str | None]] | Objects | ColumnTexts | None
    ) -> Objects | ColumnTexts | None:
        if isinstance(texts, ColumnTexts):
            return ColumnTexts(self._cells(texts.rows), texts.read)
        return None if texts is None else self._cells(as_texts("outputs", texts, self.shape, self.owned))

    def references(self, texts: Mapping[str, Sequence[str | None]]) -> Objects | None:
        columns = [as_texts("references", column, self.shape[:1]) for column in texts.values()]
        if not any(text is not None for column in columns for text in column):
            return None
        return frozen(np.stack([self.items(columns[place]) for place in self.reference_order], axis=1))

    def columns(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {
            name: frozen(self.items(as_column(name, values, self.shape[0])))
            for name, values in check_names("column", columns).items()
        }

    def ratings(self, table: Ratings) -> Ratings:
        order = np.concatenate([self.models, self.shape[1] + self.reference_order])
        check_codes("rating", table.item, self.shape[0])
        check_codes("rating", table.model, len(order))
        check_size("table of ratings", table.score)
        return replace(table, item=self._new_codes(table.item), model=self._new_codes(table.model, order))

    def preferences(self, table: Preferences) -> Preferences:
        check_codes("preference", table.item, self.shape[0])
        check_codes("preference", np.concatenate([table.first, table.second]), self.shape[1])
        return replace(
            table,
            item=self._new_codes(table.item),
            first=self._new_codes(table.first, self.models),
            second=self._new_codes(table.second, self.models),
        )

    def repeats(self, table: Repeats) -> Repeats:
        if not len(table):
            return table
        check_codes("repeat", table.item, self.shape[0])
        check_codes("repeat", table.model, self.shape[1])
        for name, scores in table.scores.items():
            check_size(f"table of repeats ({name})", scores)
        item, model = self._new_codes(table.item), self._new_codes(table.model, self.models)
        cells = np.stack([item, model, table.epoch])
        if np.unique(cells, axis=1).shape[1] < len(table):
            raise DataError("An item and a model have the same epoch twice. Give every output its own epoch.")
        return replace(table, item=item, model=model)

    def _new_codes(self, codes: NDArray[np.int32], order: Ints | None = None) -> NDArray[np.int32]:
        """Point codes (of items, unless an order is given) at the sorted places."""
        order = self.rows if order is None else order
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return places[codes]


def _with_positions(store: Store) -> Store:
    """Give items of documents their place in the file where the data names documents but no positions."""
    if fields.DOCUMENT not in store.columns or fields.POSITION in store.columns:
        return store
    documents = store.columns[fields.DOCUMENT]
    positions = np.full(len(documents), np.nan)
    last: dict[str, int] = {}
    for row in np.argsort(store.file_order, kind="stable"):
        if (name := documents[row]) is not None:
            positions[row] = last[name] = last.get(name, -1) + 1
    return replace(store, columns={**store.columns, fields.POSITION: frozen(positions)})


def _with_repeated_cells(store: Store) -> Store:
    """Fill cells that only the repeats know: the mean score over their epochs, the first epoch's output.

    Cells that were run once have no row afterwards.
    """
    table, shape = store.repeats, (len(store.items), len(store.models))
    if not len(table):
        return store
    arrays = {"metric": dict(store.metrics), "aspect": dict(store.aspects)}
    for name in table.scores:
        kind, _, score = name.partition(":")
        means, stored = table.means(name, *shape), arrays[kind].get(score)
        arrays[kind][score] = frozen(means if stored is None else np.where(np.isnan(stored), means, stored))
    outputs = store.texts("outputs")
    if table.output is not None:
        outputs = np.full(shape, None, object) if outputs is None else outputs.copy()
        table.fill_outputs(outputs)
        frozen(outputs)
    cells = table.item.astype(np.int64) * shape[1] + table.model
    several = np.bincount(cells, minlength=shape[0] * shape[1])[cells] > 1
    return replace(
        store,
        metrics=arrays["metric"],
        aspects=arrays["aspect"],
        outputs=outputs,
        repeats=table if several.all() else table.take(several),
    )


def _with_rated_aspects(store: Store) -> Store:
    """Fill aspects that only the ratings know with the mean rating of each cell."""
    width = len(store.models) + len(store.references)
    aspects, of_references = dict(store.aspects), dict(store.reference_aspects)
    for name in store.ratings.aspects:
        if name in aspects and (name in of_references or not store.references):
            continue
        means = store.ratings.means(name, len(store.items), width)
        for table, part in (
            (aspects, means[:, : len(store.models)]),
            (of_references, means[:, len(store.models) :]),
        ):
            if name not in table and not np.isnan(part).all():
                table[name] = frozen(part.copy())
    return replace(store, aspects=aspects, reference_aspects=of_references)


# --- checks of single arrays ------------------------------------------------------------------------------


def as_numbers(label: str, values: ArrayLike, shape: tuple[int, int], *, owned: bool = False) -> Floats:
    """Return numbers as an array of their own; a wrong shape or an infinite number is an error.

    An array that the caller hands over (``owned``) is taken as it is.
    """
    try:
        array = np.asarray(values, np.float64) if owned else np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"The {label} holds something that is not a number.") from None
    if array.shape != shape:
        raise DataError(
            f"The {label} has the shape {array.shape}, but there are {shape[0]} items and {shape[1]} columns."
        )
    if np.isinf(array).any():
        raise DataError(
            f"The {label} holds an infinite number. Write a finite one, or NaN where it is missing."
        )
    check_size(label, array)
    return array


def check_size(label: str, numbers: Floats) -> None:
    """Raise DataError for numbers whose squares overflow: they would have no variance."""
    sizes = np.abs(numbers)
    if (sizes > LARGEST).any():
        raise DataError(
            f"The {label} holds the number {np.nanmax(sizes):g}, and nothing can be computed with numbers "
            f"above {LARGEST:g}. Divide them by a constant, or take their logarithms."
        )


def check_names(kind: str, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arrays as they are; a name that is empty, or no text, is an error."""
    for name in arrays:
        if not isinstance(name, str) or not name:
            raise DataError(f"The name of a {kind} must be a text that is not empty, not {name!r}.")
    return arrays


def check_codes(kind: str, codes: NDArray[np.int32], count: int) -> None:
    """Raise DataError when a judgement points at something that is not there."""
    if codes.size and not 0 <= codes.min() <= codes.max() < count:
        raise DataError(f"A {kind} points at an item or model that is not there.")


def as_texts(label: str, values: Any, shape: tuple[int, ...], owned: bool = False) -> Objects:
    """Return texts as an array of objects, None where one is missing."""
    array = as_objects(label, values, shape, owned)
    # The types of a million texts are told apart in a moment; only odd ones are looked at one by one.
    if not set(map(type, array.ravel().tolist())) <= {str, NoneType}:
        for text in array.ravel().tolist():
            if text is not None and not isinstance(text, str):
                raise DataError(
                    f"The {label} hold {text!r}, which is not text. Write None where one is missing."
                )
    return array


def as_objects(label: str, values: Any, shape: tuple[int, ...], owned: bool = False) -> Objects:
    """Return values as an array of objects; whatever a value is, it fills one place and no other."""
    if owned and isinstance(values, np.ndarray) and values.dtype == object and values.shape == shape:
        return values
    array = np.empty(shape, object)
    if isinstance(values, np.ndarray) and values.shape == shape:
        array[...] = values
        return array
    error = DataError(f"The {label} must fill the shape {shape}, one for each item (and model).")
    if isinstance(values, np.ndarray | str):
        raise error
    try:
        rows = [list(values)] if len(shape) == 1 else [list(row) for row in values]
    except TypeError:
        raise error from None
    if any(len(row) != shape[-1] for row in rows) or (len(shape) == 2 and len(rows) != shape[0]):
        raise error
    return np.fromiter((value for row in rows for value in row), object, array.size).reshape(shape)


def as_column(name: str, values: Sequence[Any] | NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column of the items: numbers for those that mean numbers, else whatever the values are."""
    if len(values) != count:
        raise DataError(f'The column "{name}" has {len(values)} values but there are {count} items.')
    is_text = name in fields.TEXT_COLUMNS
    if name in fields.NUMBER_COLUMNS:
        is_numbers = isinstance(values, np.ndarray) and values.dtype.kind in "fiu"
        numbers = values if is_numbers else [np.nan if value is None else value for value in values]
        try:
            column = np.array(numbers, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f'The column "{name}" holds something that is not a number.') from None
        if name in (fields.COST, fields.WEIGHT) and (column < 0).any():
            raise DataError(
                f'The column "{name}" holds a negative number. Costs and weights are zero or more.'
            )
    elif isinstance(values, np.ndarray) and values.dtype.kind in "fiub" and not is_text:
        column = values.astype(np.float64)
    else:
        texts = np.empty(count, object)
        if set(map(type, values)) <= {str, NoneType}:
            texts[:] = values
            return texts
        for row, value in enumerate(values):
            is_missing = value is None or (isinstance(value, float) and np.isnan(value))
            texts[row] = value if not is_text else None if is_missing else str(value)
        return texts
    if np.isinf(column).any():
        raise DataError(f'The column "{name}" holds an infinite number.')
    return column


def checked_weights(weights: Any, size: int) -> Floats | None:
    """Return weights of so many items, scaled to mean 1; None where all weigh the same."""
    column = np.asarray(weights, np.float64)
    if column.shape != (size,):
        raise UsageError(f"There are {size} items, but the weights have the shape {column.shape}.")
    if missing := int(np.isnan(column).sum()):
        raise DataError(f"{missing} of {size} items have no weight. Give every item one, or none.")
    if (column < 0).any() or not column.sum() > 0:
        raise DataError("Weights of items are 0 or more, and not all of them are 0.")
    return None if np.ptp(column) == 0 else column / column.mean()
