"""Signatures: the line from which a selection can be re-derived, and the digests inside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.cache import ResultCache
from sparingly.base.errors import InputError, UnknownNameError
from sparingly.base.text import Items, format_value, text_value
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import canonical, is_number

# A digest is shown by its first 16 letters: 64 bits are enough to tell data apart.
LETTERS = 16
# The ids of the models count where something of theirs is read: what was chosen by sources alone must stay
# verifiable when the models' outputs arrive.
MODELS = "models"
_OF_MODELS = ("metric:", "aspect:", "cell:", "outputs", "ratings", "preferences")


@dataclass(frozen=True)
class Signature:
    """How a selection came about: method, budget, seed, sizes, version, digests, and its pool's signature.

    ``inputs`` is the digest of what the method read (ids included), ``labels`` that of the judgements it
    used, or None: judgements that arrive later never change it. ``crowd`` names the models that the method
    saw, where these were not all; ``judged`` is then the digest of the models to judge, None for all.
    A round of several has its number (from 1), the digest of the rounds before it and the aspect that
    people judge; ``method`` is then the strategy and ``budget`` that of all rounds together.
    """

    method: str
    budget: str
    seed: int
    n: int
    of: int
    inputs: str
    labels: str | None
    version: str
    never: str | None = None
    pool: Signature | None = None
    crowd: tuple[str, ...] = ()
    judged: str | None = None
    round: int | None = None
    earlier: str | None = None
    aspect: str | None = None

    def __str__(self) -> str:
        parts = [
            self.method,
            f"budget:{self.budget}",
            f"seed:{self.seed}",
            f"n:{self.n}",
            f"of:{self.of}",
            f"inputs:{self.inputs}",
            f"labels:{self.labels or 'none'}",
        ]
        if self.never:
            parts.append(f"never:{self.never}")
        if self.crowd:
            parts.append(f"crowd:{self.crowd_text}")
        if self.crowd or self.judged:
            parts.append(f"judged:{self.judged or 'all'}")
        if self.round is not None:
            parts += [f"round:{self.round}", f"earlier:{self.earlier or 'none'}", f"aspect:{self.aspect}"]
        parts.append(f"version:{self.version}")
        line = "|".join(parts)
        return f"{line}|pool:[{self.pool}]" if self.pool else line

    @property
    def crowd_text(self) -> str:
        """The crowd as a list in the form of methods: ``[A,"B (beam = 4)"]``."""
        return format_value(Items(tuple(text_value(name, inside_list=True) for name in self.crowd)))

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files; who is on which side only where it is said."""
        values = {**vars(self), "pool": self.pool.to_dict() if self.pool else None, "crowd": list(self.crowd)}
        if not self.crowd and self.judged is None:
            del values["crowd"], values["judged"]
        if self.round is None:
            del values["round"], values["earlier"], values["aspect"]
        return {**values, "text": str(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Signature:
        """Read a signature back from a file's values."""
        names = ("method", "budget", "seed", "n", "of", "inputs", "labels", "version")
        for name in names:
            if name not in values:
                raise InputError(f'the signature has no "{name}"', field="signature")
        pool = values.get("pool")
        return cls(
            **{name: values[name] for name in names},
            never=values.get("never"),
            pool=cls.from_dict(pool) if pool else None,
            crowd=tuple(values.get("crowd") or ()),
            judged=values.get("judged"),
            round=values.get("round"),
            earlier=values.get("earlier"),
            aspect=values.get("aspect"),
        )


def digest(data: EvalSet, names: Iterable[str]) -> str:
    """Return a digest of the ids and of some fields, the same whatever the order in the file."""
    total = hashlib.sha256()
    parts = set(names)
    if any(name.startswith(_OF_MODELS) for name in parts):
        parts.add(MODELS)
    for name in ("", *sorted(parts)):
        # Nothing in a set can be written to, so the digest of a part is found once.
        if name not in data.digests:
            data.digests[name] = _shared_part(data, name)
        total.update(data.digests[name])
    return total.hexdigest()[:LETTERS]


# Sets that differ in their labels alone share their other arrays, and so the digests of these.
_shared: ResultCache[bytes] = ResultCache(most=256)


def _shared_part(data: EvalSet, name: str) -> bytes:
    """Return the digest of one field, found once for all sets that share its array."""
    kind, _, rest = name.partition(":")
    store = data.store
    texts = {"sources": store.sources, "outputs": store.outputs, "references": store.reference_texts}
    stored = store.metrics.get(rest) if kind == "metric" else texts.get(name)
    if stored is None:
        return _part(data, name)
    return _shared.of([stored], (name, data.keys.tobytes(), data.models), lambda: _part(data, name))


def _part(data: EvalSet, name: str) -> bytes:
    """Return the digest of one field; the empty name stands for the ids."""
    part = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    for array in _arrays(data, name) if name else (data.items,):
        _add(part, array)
    return part.digest()


def digest_ids(ids: Iterable[str]) -> str:
    """Return a digest of a set of ids."""
    total = hashlib.sha256()
    _add_texts(total, np.array(sorted(ids), object))
    return total.hexdigest()[:LETTERS]


def digest_scores(items: Iterable[str], models: Iterable[str], scores: NDArray[np.float64]) -> str:
    """Return a digest of scores, items × models, with the ids that they belong to."""
    total = hashlib.sha256()
    for array in (np.array(list(items), object), np.array(list(models), object), scores):
        _add(total, array)
    return total.hexdigest()[:LETTERS]


def _arrays(data: EvalSet, name: str) -> list[NDArray[Any]]:
    kind, _, rest = name.partition(":")
    scores = {"metric": data.metrics, "aspect": data.aspects}
    if kind in scores and rest:
        return [scores[kind][rest]]
    values = {"column": data.columns, "cell": data.cells}
    if kind in values and rest:
        return [_comparable(values[kind][rest])]
    if name == MODELS:
        return [np.array(data.models, object)]
    if name not in fields.SINGLE:
        raise UnknownNameError("field", name, data.fields)
    return _single(data, name)


def _single(data: EvalSet, name: str) -> list[NDArray[Any]]:
    if name == "ratings":
        return _rating_columns(data.ratings)
    if name == "preferences":
        return _preference_columns(data.preferences)
    names = np.array(data.references, object)
    if name == "reference_aspects":
        aspects = data.reference_aspects
        said = [key for key in sorted(aspects) if not np.isnan(aspects[key]).all()]
        return [names, *(part for key in said for part in (_text(key), aspects[key]))]
    texts = {"sources": data.sources, "outputs": data.outputs, "references": data.reference_texts}[name]
    return [*([names] if name == "references" else []), *([] if texts is None else [texts])]


def _text(text: str) -> NDArray[np.object_]:
    return np.array([text], object)


def _comparable(array: NDArray[Any]) -> NDArray[Any]:
    """Return a column in which equal values look equal: numbers as numbers, the rest as texts."""
    if array.dtype != object:
        return array
    values = array.ravel().tolist()
    if all(value is None or isinstance(value, str) for value in values):
        return array
    if all(value is None or is_number(value) for value in values):
        return array.astype(np.float64)
    texts = (None if (text := canonical(value)) is None else f"\x1f{text}" for value in values)
    return np.fromiter(texts, object, len(values)).reshape(array.shape)


def _rating_columns(table: Ratings) -> list[NDArray[Any]]:
    remarks = {} if table.comment is None else {"comment": table.comment}
    return _in_order(table, remarks, [table.item, table.model, table.score, table.seconds])


def _preference_columns(table: Preferences) -> list[NDArray[Any]]:
    numbers: list[NDArray[Any]] = [table.item, table.first, table.second, table.value, table.seconds]
    return _in_order(table, {}, numbers)


def _in_order(
    table: Ratings | Preferences, remarks: Mapping[str, NDArray[Any]], numbers: list[NDArray[Any]]
) -> list[NDArray[Any]]:
    """Return the columns of the judgements, named, in an order of rows that does not depend on the file's."""
    further = {**remarks, **{f"extra:{name}": table.extra[name] for name in sorted(table.extra)}}
    named = {
        "rater": np.array([*table.raters, None], object)[table.rater],
        "aspect": np.array([*table.aspects, None], object)[table.aspect],
        **{name: _comparable(column) for name, column in further.items() if not _is_missing(column)},
    }
    keys = [*(_codes(column) for column in named.values()), *numbers]
    order = np.lexsort(keys)
    return [
        *(part for name, column in named.items() for part in (_text(name), column[order])),
        *(column[order] for column in numbers),
    ]


def _is_missing(column: NDArray[Any]) -> bool:
    return all(value is None or value != value for value in column.tolist())


def _codes(column: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of every value among the values that occur; None comes first."""
    if column.dtype != object:
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    known = sorted({value for value in column.tolist() if value is not None})
    ranks: dict[str | None, int] = {value: rank for rank, value in enumerate(known, 1)}
    ranks[None] = 0
    return np.array([ranks[value] for value in column.tolist()], np.int64)


def _add(total: hashlib._Hash, array: NDArray[Any]) -> None:
    # The shape keeps apart what the values in a row do not: two items of one model, one of two models.
    total.update(f"{array.shape}".encode())
    if array.dtype == object:
        _add_texts(total, array)
        return
    numbers = np.ascontiguousarray(array, "<f8")
    missing, zero = np.isnan(numbers), numbers == 0
    if missing.any() or zero.any():
        # One bit pattern for zero and one for NaN, so that equal data have equal digests.
        numbers = numbers + 0.0
        numbers[missing] = np.nan
    total.update(numbers.data)


def _add_texts(total: hashlib._Hash, array: NDArray[Any]) -> None:
    """Add texts as their lengths in bytes (-1: none), then the texts themselves, block by block."""
    flat = array.ravel()
    for start in range(0, len(flat), 65_536):
        values = flat[start : start + 65_536].tolist()
        texts = [value for value in values if value is not None] if None in values else values
        joined = "".join(texts)
        if len(texts) == len(values) and joined.isascii():
            lengths = np.fromiter(map(len, texts), "<i8", len(texts))
        else:
            sizes = (-1 if text is None else len(text.encode("utf-8", "surrogatepass")) for text in values)
            lengths = np.fromiter(sizes, "<i8", len(values))
        total.update(lengths.data)
        total.update(joined.encode("utf-8", "surrogatepass"))
