"""The evaluation set: items x models with metrics, judgements and texts, frozen, with cheap views."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.cache import ResultCache
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import counted
from sparingly.base.summary import html_table
from sparingly.base.syntax import argument
from sparingly.base.text import Bare, Items, Quoted, parse_call
from sparingly.data import fields
from sparingly.data.roles import TableRoles
from sparingly.data.scale import Scale
from sparingly.data.signature import (
    MODELS,
    comparable,
    digest_part,
    digest_parts,
    judgement_columns,
    reads_models,
    repeat_columns,
)
from sparingly.data.store import Parts, Store, build_store, checked_weights, frozen
from sparingly.data.tables import Preferences, Ratings, Repeats, derive_preferences

# --- Combinations: aspects put together from others ---

HOW = ("sum", "mean", "product", "weighted")


@dataclass(frozen=True)
class Combination:
    """An aspect made of others: their sum, mean, product, or weighted sum; missing where one is missing.

    As text: ``sum:of=[coherence,fluency]``, ``weighted:of=[adequacy,fluency],weights=[2,1]``.
    """

    how: Literal["sum", "mean", "product", "weighted"]
    of: tuple[str, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.of:
            raise UsageError(f"The {self.how} of no aspects: write {self.how}:of=[one,other].")
        if self.how == "weighted" and len(self.weights) != len(self.of):
            raise UsageError(f"There are {len(self.of)} aspects to combine but {len(self.weights)} weights.")
        if not all(math.isfinite(weight) for weight in self.weights):
            raise UsageError("Weights are finite numbers.")
        if self.how != "weighted" and self.weights:
            raise UsageError(f"Weights go with weighted:of=[…],weights=[…], not with {self.how}.")

    @classmethod
    def parse(cls, text: str) -> Combination:
        """Read a combination from text."""
        call = parse_call(text)
        if call.name not in HOW:
            raise UnknownNameError("way to combine aspects", call.name, HOW)
        values = {key: _texts(key, value) for key, value in call.values}
        unknown = set(values) - {"of", "weights"}
        if unknown:
            raise UnknownNameError(f"parameter of {call.name}", min(unknown), ("of", "weights"))
        try:
            weights = tuple(float(text) for text in values.get("weights", ()))
        except ValueError as error:
            raise UsageError(f"Weights are numbers: {error}.") from None
        return cls(call.name, values.get("of", ()), weights)  # type: ignore[arg-type]

    def combine(self, aspects: Mapping[str, Floats]) -> Floats:
        """Return the combined scores of aspects by name, items x models."""
        parts = np.stack([aspects[name] for name in self.of])
        if self.how == "product":
            return np.asarray(parts.prod(axis=0))
        weights = np.array(self.weights if self.how == "weighted" else (1.0,) * len(self.of))
        total = np.tensordot(weights, parts, axes=1)
        return np.asarray(total / len(self.of) if self.how == "mean" else total)


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, Bare | Quoted):
        return (value.text,)
    if isinstance(value, Items):
        return tuple(part.text for part in value.values)
    raise UsageError(f"The parameter {key} takes a list [a,b].")


# --- The evaluation set: items x models with metrics, judgements and texts, frozen, with cheap views ---

__all__ = ["EvalSet", "NamedArrays", "Store", "the_only"]

# Sets that differ in their labels alone share their other arrays, and so the digests of these.
_shared_digests: ResultCache[bytes] = ResultCache(size=256)


class NamedArrays(Mapping[str, NDArray[Any]]):
    """Named arrays of a view, cut to its items and models when first asked for."""

    def __init__(self, kind: str, names: Sequence[str], array_of: Callable[[str], NDArray[Any]]) -> None:
        self._kind = kind
        self._names = dict.fromkeys(names)
        self._array_of = array_of
        self._cache: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise UnknownNameError(self._kind, name, self._names)
        if name not in self._cache:
            self._cache[name] = self._array_of(name)
        return self._cache[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the array of a name, or the default when there is none."""
        return self[name] if name in self._names else default

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
    _visible: frozenset[str] | None = None

    @classmethod
    def from_arrays(cls, items: Sequence[Any], models: Sequence[Any], **parts: Unpack[Parts]) -> EvalSet:
        """Build an evaluation set; every array may be in any order as long as it fits the ids given.

        ``sparingly.data.store.Parts`` lists the parts.
        """
        return cls(build_store(items, models, **parts))

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

    @property
    def roles(self) -> TableRoles | None:
        """What the columns of the table are that the set was read from; None for other formats."""
        return self.store.roles

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The random key of every item."""
        return self._items_of(self.store.keys)

    @cached_property
    def metrics(self) -> NamedArrays:
        """The metrics by name, each items x models, higher is better."""
        return self._by_cell("metric", "metric", self.store.metrics)

    @cached_property
    def aspects(self) -> NamedArrays:
        """The aspects by name, each items x models, higher is better."""
        return self._by_cell("aspect", "aspect", self.store.aspects)

    @cached_property
    def cells(self) -> NamedArrays:
        """Further columns that have a value per item and model."""
        return self._by_cell("cell column", "cell", self.store.cells)

    @cached_property
    def columns(self) -> NamedArrays:
        """The columns of the items: document, position, domain, cost, weight and any other."""
        stored = self.store.columns
        names = [name for name in stored if self._shows(fields.column(name))]
        return NamedArrays("column", names, lambda name: self._items_of(stored[name]))

    @cached_property
    def reference_aspects(self) -> NamedArrays:
        """People's judgements of the references: by aspect, items x references."""
        stored = self.store.reference_aspects
        names = tuple(stored) if self._shows("reference_aspects") else ()
        return NamedArrays("reference aspect", names, lambda name: self._items_of(stored[name]))

    @cached_property
    def sources(self) -> Objects | None:
        """The source text of every item, or None when the set has no sources."""
        texts = self.store.texts("sources") if self._shows("sources") else None
        return None if texts is None else self._items_of(texts)

    @cached_property
    def outputs(self) -> Objects | None:
        """What every model wrote for every item (items x models), or None when there are no texts."""
        texts = self.store.texts("outputs") if self._shows("outputs") else None
        return None if texts is None else self._cells_of(texts)

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
        rows = (item >= 0) & (model >= 0)
        if rows.all() and self._is_whole:
            return table
        return table.take(rows, item=item[rows], model=model[rows])

    @cached_property
    def preferences(self) -> Preferences:
        """The preferences between models that are here."""
        if not self._shows("preferences"):
            return Preferences()
        table = self.store.preferences
        item = self._new_rows[table.item]
        first, second = self._new_models[table.first], self._new_models[table.second]
        rows = (item >= 0) & (first >= 0) & (second >= 0)
        if rows.all() and self._is_whole:
            return table
        return table.take(rows, item=item[rows], first=first[rows], second=second[rows])

    @cached_property
    def repeats(self) -> Repeats:
        """The outputs of the cells that were run more than once, with their scores, one row an epoch."""
        table = self.store.repeats
        if not len(table) or not self._shows("repeats"):
            return Repeats()
        item, model = self._new_rows[table.item], self._new_models[table.model]
        rows = (item >= 0) & (model >= 0)
        if rows.all() and self._is_whole and self._visible is None:
            return table
        table = table.take(rows, item=item[rows], model=model[rows])
        scores = {name: values for name, values in table.scores.items() if self._shows(name)}
        return replace(table, scores=scores, output=table.output if self._shows("outputs") else None)

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """The lowest and the highest possible scores of the metrics and aspects, by field, where known."""
        visible = {*map(fields.metric, self.metrics), *map(fields.aspect, self.aspects)}
        return {name: scale for name, scale in self.store.scales.items() if name in visible}

    @cached_property
    def importance(self) -> Floats | None:
        """How much every item matters (the column ``weight``), with mean 1; None where all are equal."""
        weights = self.columns.get(fields.WEIGHT)
        return None if weights is None else checked_weights(weights, len(self))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of everything that the set holds (see ``sparingly.data.fields``)."""
        single = {
            "sources": self.store.sources is not None and self._shows("sources"),
            "outputs": self.store.outputs is not None and self._shows("outputs"),
            "references": bool(self.references) and self._shows("references"),
            "reference_aspects": bool(self.reference_aspects),
            "ratings": len(self.ratings) > 0,
            "preferences": len(self.preferences) > 0,
            "repeats": len(self.repeats) > 0,
        }
        several = [
            *map(fields.metric, self.metrics),
            *map(fields.aspect, self.aspects),
            *map(fields.column, self.columns),
            *map(fields.cell, self.cells),
        ]
        return (*several, *(name for name, is_held in single.items() if is_held))

    @cached_property
    def file_order(self) -> Ints:
        """Positions of the items in the order of the file."""
        return frozen(np.argsort(self._items_of(self.store.file_order), kind="stable"))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items and of models."""
        return len(self.items), len(self.models)

    # --- truths: the scores that results are about ------------------------------------------------------

    def truth(self, name: str) -> Floats:
        """Return the scores (items x models) of an aspect, a metric, or a combination of aspects.

        A combination is written as a method is: ``sum:of=[coherence,fluency]``, ``mean:of=[…]``,
        ``product:of=[…]`` or ``weighted:of=[…],weights=[2,1]``. Where an aspect and a metric share a
        name, ``aspect:NAME`` and ``metric:NAME`` tell them apart.
        """
        if not isinstance(name, str):
            raise UsageError(f"The truth is named by a text, such as an aspect's name, not by {name!r}.")
        if name in self.aspects and name in self.metrics:
            raise UsageError(f'"{name}" is an aspect and a metric. Write aspect:{name} or metric:{name}.')
        kind, _, field = name.partition(":")
        if self.roles is not None:
            for part in self.truth_fields(name):
                self.roles.check_aspect(part.removeprefix("aspect:"))
        for prefix, scores in (("aspect", self.aspects), ("metric", self.metrics)):
            if name in scores:
                return scores[name]
            if kind == prefix and field in scores:
                return scores[field]
        if kind in HOW and field:
            return Combination.parse(name).combine(self.aspects)
        raise UnknownNameError("aspect or metric", name, [*self.aspects, *self.metrics])

    def judged(self, truth: str) -> Mask:
        """Return which cells (items x models) have a score of a truth."""
        return ~np.isnan(self.truth(truth))

    def truth_fields(self, name: str) -> tuple[str, ...]:
        """Return the fields that a truth is made of."""
        kind, _, field = name.partition(":")
        if name in self.aspects:
            return (fields.aspect(name),)
        if name in self.metrics:
            return (fields.metric(name),)
        if kind in HOW and field:
            return tuple(map(fields.aspect, Combination.parse(name).of))
        return (name,)

    def truth_scale(self, name: str) -> Scale | None:
        """Return the lowest and the highest possible score of a truth; None where the data does not say.

        Words such as pass and fail say it, a file's header, and the campaign that asked for the scores.
        """
        return self.store.scales.get(self._scale_key(name))

    def label_scale(self, name: str) -> Scale | None:
        """Return the scale for further labels of an aspect: ``truth_scale``, or 0 to 1 of only 0 and 1."""
        scale, labels = self.truth_scale(name), self.aspects.get(name)
        if scale is None and labels is not None:
            given = set(np.unique(labels[~np.isnan(labels)]).tolist())
            return Scale(0.0, 1.0) if given == {0.0, 1.0} else None
        return scale

    def with_scale(self, name: str | None, scale: tuple[float, float] | None) -> EvalSet:
        """Return the set with the scale of a truth (the only aspect by default); unchanged for None.

        The scale goes with the data, so that all that is made from them knows it.
        """
        if scale is None:
            return self
        ends = Scale(*scale)
        truth = the_only("aspect", None, self.aspects) if name is None else name
        self.truth(truth)
        return self._with_store(scales={**self.store.scales, self._scale_key(truth): ends})

    def without_scales(self) -> EvalSet:
        """Return the set without its scales, for results whose signature says which one was used."""
        return self._with_store(scales={})

    def _scale_key(self, name: str) -> str:
        """Return the key of a scale: the field of a single truth, else the text of the combination."""
        names = self.truth_fields(name)
        return names[0] if len(names) == 1 else name

    # --- views ---------------------------------------------------------------------------------------

    def at(self, rows: Iterable[int] | Ints) -> EvalSet:
        """Return a view of the items at some positions, or under a mask (kept in the order of the ids)."""
        count, positions = len(self), rows if isinstance(rows, np.ndarray) else np.array(list(rows))
        if positions.dtype == bool:
            if positions.shape != (count,):
                raise UsageError(f"The mask has {positions.size} values but there are {count} items.")
            positions = np.flatnonzero(positions)
        elif positions.size and positions.dtype.kind not in "iu":
            raise UsageError("Positions of items are whole numbers.")
        else:
            positions = np.unique(positions.astype(np.int64))
        if positions.size and (positions[0] < 0 or positions[-1] >= count):
            outside = positions[0] if positions[0] < 0 else positions[-1]
            raise UsageError(f"There is no item at position {outside}: there are {count} items, from 0.")
        return replace(self, _rows=frozen(positions if self._rows is None else self._rows[positions]))

    def take(self, items: Iterable[str] | None = None, models: Iterable[str] | None = None) -> EvalSet:
        """Return a view of some items and models, named by their ids."""
        view = self if items is None else self.at(self.positions(items))
        if models is None:
            return view
        names = list(models)
        for name in names:
            if name not in view.models:
                raise UnknownNameError("model", name, view.models)
        positions = {name: position for position, name in enumerate(view.store.models)}
        return replace(view, _models=tuple(sorted(positions[name] for name in set(names))))

    def only(self, names: Iterable[str]) -> EvalSet:
        """Return a view that shows the named fields and no others (ids are always there)."""
        visible = frozenset(names)
        return replace(self, _visible=visible if self._visible is None else self._visible & visible)

    def without_labels(self) -> EvalSet:
        """Return a view in which nothing that people said can be seen."""
        return self.only(name for name in self.fields if not fields.is_label(name))

    def positions(self, ids: Iterable[str]) -> Ints:
        """Return the positions of items by their ids; an id that is not there is an error."""
        names = list(ids)
        positions = np.fromiter((self._position.get(name, -1) for name in names), np.int64, len(names))
        if (positions < 0).any():
            raise UnknownNameError("item", names[int(np.argmax(positions < 0))], list(self.items[:1000]))
        return positions

    def reveal(self, cells: Mask, compared: Mask | None = None) -> EvalSet:
        """Return the set with the scores and ratings of some cells (items × models) and no others.

        Of ``preferences`` the compared rows are left, none unless given. People's judgements of references
        stay: they are not about the models.
        """
        rows, columns = self.places_in_store
        visible = np.zeros((len(self.store.items), len(self.store.models)), bool)
        visible[np.ix_(rows, columns)] = cells
        ratings, repeats, models = self.store.ratings, self.store.repeats, visible.shape[1]
        of_references = ratings.model >= models
        is_visible = of_references | visible[ratings.item, np.minimum(ratings.model, models - 1)]
        preferences = Preferences()
        if compared is not None and compared.any():
            table = self.preferences.take(compared)
            preferences = replace(
                table,
                item=rows[table.item].astype(np.int32),
                first=columns[table.first].astype(np.int32),
                second=columns[table.second].astype(np.int32),
            )
        aspects = {
            name: frozen(np.where(visible, scores, np.nan)) for name, scores in self.store.aspects.items()
        }
        repeated = dict(repeats.scores)
        for name in filter(fields.is_label, repeats.scores):
            repeated[name] = np.where(visible[repeats.item, repeats.model], repeated[name], np.nan)
        return self._with_store(
            aspects=aspects,
            ratings=ratings.take(np.asarray(is_visible)),
            preferences=preferences,
            repeats=replace(repeats, scores=repeated),
        )

    # --- new sets ------------------------------------------------------------------------------------

    def with_parts(self, **changed: Any) -> EvalSet:
        """Return the set with some of its parts changed, the others as they are in this view.

        Scores that are replaced lose their scale and their repeats, unless ``scales`` and ``repeats`` give
        them.
        """
        parts, repeated = self.parts(), dict(self.repeats.scores)
        for kind, arrays in (("metric", self.metrics), ("aspect", self.aspects)):
            values = changed.get(f"{kind}s", arrays)
            for name in {*arrays, *values}:
                if values.get(name) is not arrays.get(name):
                    parts["scales"].pop(f"{kind}:{name}", None)
                    repeated.pop(f"{kind}:{name}", None)
        output = self.repeats.output if changed.get("outputs", self.outputs) is self.outputs else None
        parts["repeats"] = replace(self.repeats, scores=repeated, output=output)
        return EvalSet.from_arrays(list(self.items), list(self.models), **{**parts, **changed})

    def parts(self) -> dict[str, Any]:
        """Return every part of the set, such that building from them gives the set back."""
        texts = self.reference_texts
        return {
            "metrics": dict(self.metrics),
            "aspects": dict(self.aspects),
            "sources": self.sources,
            "outputs": self.outputs,
            "references": {
                name: list(texts[:, place]) if texts is not None else [None] * len(self)
                for place, name in enumerate(self.references)
            },
            "reference_aspects": dict(self.reference_aspects),
            "columns": dict(self.columns),
            "cells": dict(self.cells),
            "ratings": self.ratings,
            "preferences": self.preferences,
            "repeats": self.repeats,
            "file_order": np.argsort(self.file_order, kind="stable"),
            "scales": dict(self.scales),
            "name": self.name,
            "roles": self.roles,
        }

    def with_aspect(self, name: str, combination: Combination | Floats) -> EvalSet:
        """Return the set with one more aspect: scores, or a combination of aspects that it has."""
        if isinstance(combination, Combination):
            combination = combination.combine(self.aspects)
        return self.with_parts(aspects={**self.aspects, name: combination})

    def with_metric(self, name: str, scores: Floats) -> EvalSet:
        """Return the set with one more metric."""
        return self.with_parts(metrics={**self.metrics, name: scores})

    def with_column(self, name: str, values: Sequence[Any] | NDArray[Any]) -> EvalSet:
        """Return the set with one more column of the items."""
        return self.with_parts(columns={**self.columns, name: values})

    def with_preferences_from(self, truth: str, tie: float = 0.0) -> EvalSet:
        """Return the set with preferences derived from scores: higher wins, within ``tie`` is a tie."""
        return self.with_parts(preferences=derive_preferences(self.truth(truth), truth, tie))

    def with_reference_as_model(self, reference: str, model: str | None = None) -> EvalSet:
        """Return the set with a human reference ranked as if it were a model.

        It has the reference's text as its outputs and people's judgements of it as its aspects; it has no
        metric scores, because metrics compare with it.
        """
        model = model or reference
        if reference not in self.references:
            raise UnknownNameError("reference", reference, self.references)
        if model in self.models:
            raise DataError(f'There is a model "{model}" already. Give the reference another name.')
        place, parts = self.references.index(reference), self.parts()
        missing, empty = np.full((len(self), 1), np.nan), np.full((len(self), 1), None, object)
        parts["metrics"] = {name: np.hstack([scores, missing]) for name, scores in self.metrics.items()}
        spoken = {name: scores[:, [place]] for name, scores in self.reference_aspects.items()}
        parts["aspects"] = {
            name: np.hstack([scores, spoken.get(name, missing)]) for name, scores in self.aspects.items()
        }
        parts["cells"] = {name: np.hstack([values, empty]) for name, values in self.cells.items()}
        if self.outputs is not None:
            texts = self.reference_texts
            parts["outputs"] = np.hstack([self.outputs, empty if texts is None else texts[:, [place]]])
        models, codes = len(self.models), self.ratings.model.copy()
        codes[self.ratings.model >= models] += 1
        codes[self.ratings.model == models + place] = models
        parts["ratings"] = replace(self.ratings, model=codes)
        return EvalSet.from_arrays(list(self.items), [*self.models, model], **parts)

    # --- digests (see ``sparingly.data.signature``) -----------------------------------------------------

    def digest(self, names: Iterable[str] | None = None) -> str:
        """Return a digest of the ids and of the named fields (all by default), whatever the file's order."""
        parts = set((*self.fields, MODELS) if names is None else names)
        if any(map(reads_models, parts)):
            parts.add(MODELS)
        return digest_parts(self._part_digest(name) for name in ("", *sorted(parts)))

    @cached_property
    def _digests(self) -> dict[str, bytes]:
        """The digests of parts that were computed so far: nothing in a set can be written to."""
        return {}

    def _part_digest(self, name: str) -> bytes:
        """Return the digest of one field, computed once for all sets that share its array."""
        if name in self._digests:
            return self._digests[name]

        def compute() -> bytes:
            return digest_part(name, self._arrays(name))

        kind, _, field = name.partition(":")
        store = self.store
        is_text = name in ("sources", "outputs", "references")
        stored = store.metrics.get(field) if kind == "metric" else store.texts(name) if is_text else None
        if stored is None:
            digest = compute()
        else:
            rows = None if self._rows is None else self._rows.tobytes()
            digest = _shared_digests.get([stored], (name, rows, self._models), compute)
        return self._digests.setdefault(name, digest)

    def _arrays(self, name: str) -> list[NDArray[Any]]:
        """Return the arrays of one field; the empty name stands for the ids."""
        kind, _, field = name.partition(":")
        several = {"metric": self.metrics, "aspect": self.aspects, "column": self.columns, "cell": self.cells}
        if kind in several and field:
            array = several[kind][field]
            return [comparable(array) if kind in ("column", "cell") else array]
        if name in ("", MODELS):
            return [np.array(self.models, object) if name else self.items]
        if name not in fields.SINGLE:
            raise UnknownNameError("field", name, self.fields)
        if name in ("ratings", "preferences"):
            return judgement_columns(self.ratings if name == "ratings" else self.preferences)
        if name == "repeats":
            return repeat_columns(self.repeats)
        references = np.array(self.references, object)
        if name == "reference_aspects":
            scored = [
                (np.array([aspect], object), self.reference_aspects[aspect])
                for aspect in sorted(self.reference_aspects)
            ]
            return [references, *(part for pair in scored if not np.isnan(pair[1]).all() for part in pair)]
        texts = {"sources": self.sources, "outputs": self.outputs, "references": self.reference_texts}[name]
        return [*([references] if name == "references" else []), *([] if texts is None else [texts])]

    # --- inside --------------------------------------------------------------------------------------

    @property
    def places_in_store(self) -> tuple[Ints, Ints]:
        """Where the items and the models of this view stand in the arrays behind it."""
        rows = np.arange(len(self.store.items)) if self._rows is None else self._rows
        models = range(len(self.store.models)) if self._models is None else self._models
        return rows, np.array(models, np.int64)

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
        return self._visible is None or name in self._visible

    def _items_of(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if self._rows is None else frozen(array[self._rows])

    def _cells_of(self, array: NDArray[Any]) -> NDArray[Any]:
        if self._rows is not None:
            array = array[self._rows]
        if self._models is not None:
            array = np.ascontiguousarray(array[:, list(self._models)])
        return frozen(array)

    def _by_cell(self, kind: str, prefix: str, stored: Mapping[str, NDArray[Any]]) -> NamedArrays:
        names = [name for name in stored if self._shows(f"{prefix}:{name}")]
        return NamedArrays(kind, names, lambda name: self._cells_of(stored[name]))

    def _with_store(self, **changed: Any) -> EvalSet:
        return replace(self, store=replace(self.store, **changed))

    # --- for people ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [f"{counted(len(self), 'item')} x {counted(len(self.models), 'model')}"]
        parts += [f"{kind}: {_few_names(names)}" for kind, names in self._scored()]
        if kinds := self._text_kinds():
            parts.append(", ".join(kinds))
        parts += [f"{kind}: {count}" for kind, count in self._counts()]
        return f"EvalSet({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [("items", str(len(self))), ("models", _many_names(self.models))]
        rows += [(kind, _many_names(names)) for kind, names in self._scored()]
        if kinds := self._text_kinds():
            rows.append(("texts", ", ".join(kinds)))
        if self.columns:
            rows.append(("columns", _many_names(self.columns)))
        rows += [(kind, str(count)) for kind, count in self._counts()]
        return html_table(("part", "what is in it"), rows, self.name)

    def _scored(self) -> list[tuple[str, NamedArrays]]:
        scored = (("metrics", self.metrics), ("aspects", self.aspects))
        return [(kind, names) for kind, names in scored if names]

    def _text_kinds(self) -> list[str]:
        texts = {"outputs": self.outputs, "sources": self.sources, "references": self.reference_texts}
        return [kind for kind, array in texts.items() if array is not None]

    def _counts(self) -> list[tuple[str, int]]:
        documents = set(self.columns.get(fields.DOCUMENT, ())) - {None}
        counts = {
            "documents": len(documents),
            "ratings": len(self.ratings),
            "preferences": len(self.preferences),
            "repeats": len(self.repeats),
        }
        return [(kind, count) for kind, count in counts.items() if count]


def _few_names(names: Iterable[str], limit: int = 3, longest: int = 32) -> str:
    short = [name if len(name) <= longest else f"{name[: longest - 1]}…" for name in names]
    return ", ".join(short) if len(short) <= limit else f"{', '.join(short[: limit - 1])} … ({len(short)})"


def _many_names(names: Sequence[str] | NamedArrays, limit: int = 12) -> str:
    return ", ".join(list(names)[:limit]) + (f" … ({len(names)})" if len(names) > limit else "")


def the_only(kind: str, name: str | None, present: Iterable[str], how: str | None = None) -> str:
    """Return the name, or the only one there is where none is given; otherwise an error lists them all.

    ``how`` says how to name one, where that is not the argument of the kind's name.
    """
    names = list(present)
    if name is not None:
        if name not in names:
            raise UnknownNameError(kind, name, names)
        return name
    if len(names) == 1:
        return names[0]
    if how is None:
        how = f"Name one: {argument(kind.split()[-1])}." if names else ""
    if not names:
        raise MissingDataError(f"The evaluation set has no {kind}. {how}".rstrip())
    raise UsageError(f"There are {len(names)} {kind}s: {', '.join(names)}. {how}")
