"""The evaluation set: items x models with metrics, judgements and texts, frozen, with cheap views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.tables import Preferences, Ratings, derive_preferences

if TYPE_CHECKING:
    from sparingly.data.combine import Combination

__all__ = [
    "EvalSet",
    "Fields",
    "Store",
    "the_only",
]


# --- The arrays behind an evaluation set, and the named arrays of a view --------------------------


Scale = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Store:
    """The arrays behind an evaluation set and all of its views, in the order of the ids.

    ``scales`` holds the lowest and the highest possible score of metrics and aspects, by field, where these
    are known: (0, 1) for scores that were given as words such as pass and fail.
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
    sources: Objects | None = None
    outputs: Objects | None = None
    reference_texts: Objects | None = None
    ratings: Ratings = field(default_factory=Ratings)
    preferences: Preferences = field(default_factory=Preferences)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, dict):
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The random key of every item (see ``base.rng``)."""
        keys = rng.keys_of(list(self.items))
        keys.flags.writeable = False
        return keys


class Fields(Mapping[str, NDArray[Any]]):
    """Named arrays of a view, cut to its items and models when first asked for."""

    def __init__(self, kind: str, names: Sequence[str], cut: Callable[[str], NDArray[Any]]) -> None:
        self._kind = kind
        self._names = dict.fromkeys(names)
        self._cut = cut
        self._cache: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise UnknownNameError(self._kind, name, self._names)
        if name not in self._cache:
            self._cache[name] = self._cut(name)
        return self._cache[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the array of a name, or the default when there is none."""
        if name in self:
            return self[name]
        return default

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._kind}s: {', '.join(self._names)}>"


@dataclass(frozen=True, eq=False, repr=False)
class EvalSet:
    """Items x models with metrics, aspects, ratings, preferences, texts and columns.

    Arrays have one row per item and one column per model, both in the order of their ids, whatever the
    order in the file; NaN (or None for texts) is *missing*. Nothing can be written to. Build one with
    ``sparingly.load``, ``EvalSet.from_arrays`` or ``sparingly.make_evalset``.

    Examples:
        >>> import sparingly
        >>> data = sparingly.EvalSet.from_arrays(
        ...     items=["a", "b"], models=["tiny", "large"],
        ...     metrics={"chrF": [[40.0, 60.0], [55.0, 50.0]]},
        ... )
        >>> data
        EvalSet(2 items x 2 models; metrics: chrF)
        >>> data.models
        ('large', 'tiny')
        >>> data.metrics["chrF"]
        array([[60., 40.],
               [50., 55.]])
    """

    store: Store
    _rows: Ints | None = None
    _models: tuple[int, ...] | None = None
    _shown: frozenset[str] | None = None

    @classmethod
    def from_arrays(cls, items: Sequence[Any], models: Sequence[Any], **parts: Any) -> EvalSet:
        """Build an evaluation set from arrays; see ``sparingly.data.build.build`` for the parts."""
        from sparingly.data.build import build

        return build(items, models, **parts)

    # --- what is in it -------------------------------------------------------------------------------

    @cached_property
    def items(self) -> Objects:
        """The ids of the items."""
        return self._items_of(self.store.items)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The ids of the models."""
        if self._models is None:
            return self.store.models
        return tuple(self.store.models[position] for position in self._models)

    @property
    def references(self) -> tuple[str, ...]:
        """The names of the references (ids are always there; their texts can be hidden)."""
        return self.store.references

    @property
    def name(self) -> str:
        """Where the set came from, for people."""
        return self.store.name

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The random key of every item."""
        return self._items_of(self.store.keys)

    @cached_property
    def metrics(self) -> Fields:
        """The metrics by name, each items x models, higher is better."""
        return Fields(
            "metric", self._visible("metric", self.store.metrics), self._cells_of(self.store.metrics)
        )

    @cached_property
    def aspects(self) -> Fields:
        """The aspects by name, each items x models, higher is better."""
        return Fields(
            "aspect", self._visible("aspect", self.store.aspects), self._cells_of(self.store.aspects)
        )

    @cached_property
    def cells(self) -> Fields:
        """Further columns that have a value per item and model."""
        return Fields(
            "cell column", self._visible("cell", self.store.cells), self._cells_of(self.store.cells)
        )

    @cached_property
    def columns(self) -> Fields:
        """The columns of the items: document, position, domain, cost, weight and any other."""
        stored = self.store.columns
        return Fields("column", self._visible("column", stored), lambda name: self._items_of(stored[name]))

    @cached_property
    def reference_aspects(self) -> Fields:
        """What people said of the references: by aspect, items x references."""
        stored = self.store.reference_aspects
        names = tuple(stored) if self._shows("reference_aspects") else ()
        return Fields("reference aspect", names, lambda name: self._items_of(stored[name]))

    @cached_property
    def sources(self) -> Objects | None:
        """The source text of every item, or None when the set has no sources."""
        texts = self.store.sources
        return None if texts is None or not self._shows("sources") else self._items_of(texts)

    @cached_property
    def outputs(self) -> Objects | None:
        """What every model wrote for every item (items x models), or None when there are no texts."""
        texts = self.store.outputs
        if texts is None or not self._shows("outputs"):
            return None
        return self._cells_of({"outputs": texts})("outputs")

    @cached_property
    def reference_texts(self) -> Objects | None:
        """The texts of the references (items x references), or None."""
        texts = self.store.reference_texts
        return None if texts is None or not self._shows("references") else self._items_of(texts)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the items and models that are here (and of all references)."""
        if not self._shows("ratings"):
            return Ratings()
        table = self.store.ratings
        item, model = self._new_rows[table.item], self._new_models[table.model]
        kept = (item >= 0) & (model >= 0)
        if kept.all() and self._is_whole:
            return table
        return table.take(kept, item=item[kept], model=model[kept])

    @cached_property
    def preferences(self) -> Preferences:
        """The preferences between models that are here."""
        if not self._shows("preferences"):
            return Preferences()
        table = self.store.preferences
        item = self._new_rows[table.item]
        first, second = self._new_models[table.first], self._new_models[table.second]
        kept = (item >= 0) & (first >= 0) & (second >= 0)
        if kept.all() and self._is_whole:
            return table
        return table.take(kept, item=item[kept], first=first[kept], second=second[kept])

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of everything that the set holds (see ``sparingly.data.fields``)."""
        single = {
            "sources": self.store.sources is not None and self._shows("sources"),
            "outputs": self.store.outputs is not None and self._shows("outputs"),
            "references": bool(self.references) and self._shows("references"),
            "reference_aspects": bool(self.reference_aspects),
            "ratings": len(self.ratings) > 0,
            "preferences": len(self.preferences) > 0,
        }
        named = [
            *(fields.metric(name) for name in self.metrics),
            *(fields.aspect(name) for name in self.aspects),
            *(fields.column(name) for name in self.columns),
            *(fields.cell(name) for name in self.cells),
        ]
        return (*named, *(name for name, there in single.items() if there))

    @cached_property
    def file_order(self) -> Ints:
        """Positions of the items in the order of the file."""
        return _frozen(np.argsort(self._items_of(self.store.file_order), kind="stable"))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items and of models."""
        return len(self.items), len(self.models)

    # --- views ---------------------------------------------------------------------------------------

    def at(self, rows: Iterable[int] | Ints) -> EvalSet:
        """Return a view of the items at some positions, or under a mask (kept in the order of the ids)."""
        wanted = _as_positions(rows, len(self))
        return replace(self, _rows=_frozen(wanted if self._rows is None else self._rows[wanted]))

    def take(self, items: Iterable[str] | None = None, models: Iterable[str] | None = None) -> EvalSet:
        """Return a view of some items and models, named by their ids."""
        view = self if items is None else self.at(self.positions(items))
        if models is None:
            return view
        known = {name: position for position, name in enumerate(view.store.models)}
        here = set(view.models)
        for name in (wanted := list(models)):
            if name not in here:
                raise UnknownNameError("model", name, view.models)
        return replace(view, _models=tuple(sorted(known[name] for name in set(wanted))))

    def only(self, names: Iterable[str]) -> EvalSet:
        """Return a view that shows the named fields and no others (ids are always there)."""
        wanted = frozenset(names)
        return replace(self, _shown=wanted if self._shown is None else self._shown & wanted)

    def without_labels(self) -> EvalSet:
        """Return a view in which nothing that people said can be seen."""
        return self.only(name for name in self.fields if not fields.is_label(name))

    def positions(self, ids: Iterable[str]) -> Ints:
        """Return the positions of items by their ids; an id that is not there is an error."""
        wanted = list(ids)
        found = np.fromiter((self._position.get(name, -1) for name in wanted), np.int64, len(wanted))
        if (found < 0).any():
            raise UnknownNameError("item", wanted[int(np.argmax(found < 0))], list(self.items[:1000]))
        return found

    def truth(self, name: str) -> Floats:
        """Return the scores (items x models) of an aspect, a metric, or a combination of aspects.

        A combination is written as a method is: ``sum:of=[coherence,fluency]``, ``mean:of=[…]``,
        ``product:of=[…]`` or ``weighted:of=[…],weights=[2,1]``. Where an aspect and a metric share a
        name, ``aspect:NAME`` and ``metric:NAME`` tell them apart.
        """
        from sparingly.data.combine import truth

        return truth(self, name)

    # --- new sets ------------------------------------------------------------------------------------

    def with_aspect(self, name: str, combination: Combination | Floats) -> EvalSet:
        """Return the set with one more aspect: scores, or a combination of aspects that it has."""
        from sparingly.data.combine import Combination

        scores = combination.of_data(self) if isinstance(combination, Combination) else combination
        return self._rebuilt(aspects={**self.aspects, name: scores})

    def with_metric(self, name: str, scores: Floats) -> EvalSet:
        """Return the set with one more metric."""
        return self._rebuilt(metrics={**self.metrics, name: scores})

    def with_column(self, name: str, values: Sequence[Any] | NDArray[Any]) -> EvalSet:
        """Return the set with one more column of the items."""
        return self._rebuilt(columns={**self.columns, name: values})

    def with_preferences_from(self, truth: str, tie: float = 0.0) -> EvalSet:
        """Return the set with preferences derived from scores: higher wins, within ``tie`` is a tie."""
        return self._rebuilt(preferences=derive_preferences(self.truth(truth), truth, tie))

    def with_reference_as_model(self, reference: str, model: str | None = None) -> EvalSet:
        """Return the set with a human reference ranked as if it were a model.

        It has the reference's text as its outputs and what people said of it as its aspects; it has no
        metric scores, because metrics compare with it.
        """
        from sparingly.data.build import promote_reference

        return promote_reference(self, reference, model or reference)

    @cached_property
    def digests(self) -> dict[str, bytes]:
        """The digests of parts that were found so far (see ``sparingly.data.signature``)."""
        return {}

    def digest(self, names: Iterable[str] | None = None) -> str:
        """Return the digest of the ids and of the named fields (all of them by default)."""
        from sparingly.data.signature import MODELS, digest

        return digest(self, (*self.fields, MODELS) if names is None else names)

    @property
    def places_in_store(self) -> tuple[Ints, Ints]:
        """Where the items and the models of this view stand in the arrays behind it."""
        rows = np.arange(len(self.store.items)) if self._rows is None else self._rows
        models = range(len(self.store.models)) if self._models is None else self._models
        return rows, np.array(models, np.int64)

    # --- inside --------------------------------------------------------------------------------------

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.items)}

    @property
    def _is_whole(self) -> bool:
        return self._rows is None and self._models is None

    @cached_property
    def _new_rows(self) -> NDArray[np.int32]:
        """Where each stored item stands in this view (-1: not in it)."""
        count = len(self.store.items)
        if self._rows is None:
            return np.arange(count, dtype=np.int32)
        places = np.full(count, -1, np.int32)
        places[self._rows] = np.arange(len(self._rows), dtype=np.int32)
        return places

    @cached_property
    def _new_models(self) -> NDArray[np.int32]:
        """Where each stored model, then each reference, stands in this view (-1: not in it)."""
        models, references = len(self.store.models), len(self.store.references)
        places = np.arange(models + references, dtype=np.int32)
        if self._models is not None:
            places[:] = -1
            places[list(self._models)] = np.arange(len(self._models), dtype=np.int32)
            places[models:] = np.arange(references, dtype=np.int32) + len(self._models)
        return places

    def _shows(self, name: str) -> bool:
        return self._shown is None or name in self._shown

    def _visible(self, kind: str, stored: Mapping[str, Any]) -> list[str]:
        return [name for name in stored if self._shows(f"{kind}:{name}")]

    def _items_of(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if self._rows is None else _frozen(array[self._rows])

    def _cells_of(self, stored: Mapping[str, NDArray[Any]]) -> Callable[[str], NDArray[Any]]:
        def cut(name: str) -> NDArray[Any]:
            array = stored[name]
            if self._rows is not None:
                array = array[self._rows]
            if self._models is not None:
                array = np.ascontiguousarray(array[:, list(self._models)])
            return _frozen(array)

        return cut

    def _rebuilt(self, **changed: Any) -> EvalSet:
        from sparingly.data.build import rebuild

        return rebuild(self, **changed)

    def __repr__(self) -> str:
        from sparingly.data.describe import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from sparingly.data.describe import as_html

        return as_html(self)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _as_positions(rows: Iterable[int] | NDArray[Any], count: int) -> Ints:
    given = rows if isinstance(rows, np.ndarray) else np.array(list(rows))
    if given.dtype == bool:
        if given.shape != (count,):
            raise UsageError(f"The mask has {given.size} values but there are {count} items.")
        return np.flatnonzero(given)
    if given.size and given.dtype.kind not in "iu":
        raise UsageError("Positions of items are whole numbers.")
    wanted = np.unique(given.astype(np.int64))
    if wanted.size and (wanted[0] < 0 or wanted[-1] >= count):
        outside = wanted[0] if wanted[0] < 0 else wanted[-1]
        raise UsageError(f"There is no item at position {outside}: there are {count} items, from 0.")
    return wanted


def the_only(kind: str, wanted: str | None, known: Iterable[str], how: str) -> str:
    """Return the wanted name, or the only one there is; an error names them all otherwise."""
    names = list(known)
    if wanted is not None:
        if wanted not in names:
            raise UnknownNameError(kind, wanted, names)
        return wanted
    if len(names) == 1:
        return names[0]
    if not names:
        raise MissingDataError(f"The evaluation set has no {kind}. {how}")
    raise UsageError(f"There are {len(names)} {kind}s: {', '.join(names)}. {how}")
