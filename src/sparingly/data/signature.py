"""Signatures: the line from which a selection can be re-derived, and the digests inside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.text import Items, format_value, text_value
from sparingly.data import schema
from sparingly.data.tables import Preferences, Ratings, Repeats
from sparingly.data.values import canonical, is_number

# A digest is shown by its first 16 letters: 64 bits are enough to tell data apart.
LETTERS = 16
# The ids of the models count where something of theirs is read: what was chosen by sources alone must stay
# verifiable when the models' outputs arrive.
MODELS = "models"
_OF_MODELS = ("metric:", "aspect:", "cell:", "outputs", "ratings", "preferences", "repeats")


def _read_pool(value: Any, field: str) -> Signature:
    return Signature.from_dict(value, field)


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
    pool: Annotated[Signature, _read_pool] | None = None
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
        values = {**schema.write(self), "pool": self.pool.to_dict() if self.pool else None}
        if not self.crowd and self.judged is None:
            del values["crowd"], values["judged"]
        if self.round is None:
            del values["round"], values["earlier"], values["aspect"]
        return {**values, "text": str(self)}

    @classmethod
    def from_dict(cls, values: Any, field: str = "signature") -> Signature:
        """Read a signature back from a file's values."""
        return schema.read(cls, values, field, name="signature")


def reads_models(name: str) -> bool:
    """Say whether a field holds something of the models, so that their ids count."""
    return name.startswith(_OF_MODELS)


def digest_parts(parts: Iterable[bytes]) -> str:
    """Return the digest of several parts, in their order."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:LETTERS]


def digest_part(name: str, arrays: Iterable[NDArray[Any]]) -> bytes:
    """Return the digest of one field and its arrays."""
    total = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    for array in arrays:
        _add(total, array)
    return total.digest()


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


def comparable(array: NDArray[Any]) -> NDArray[Any]:
    """Return a column in which equal values are alike: numbers as numbers, NaN as None, all else as texts."""
    if array.dtype != object:
        return array
    values = [None if type(value) is float and value != value else value for value in array.ravel().tolist()]
    if all(value is None or isinstance(value, str) for value in values):
        texts: Iterable[str | None] = values
    elif all(value is None or is_number(value) for value in values):
        return array.astype(np.float64)
    else:
        texts = (None if (text := canonical(value)) is None else f"\x1f{text}" for value in values)
    return np.fromiter(texts, object, len(values)).reshape(array.shape)


def judgement_columns(table: Ratings | Preferences) -> list[NDArray[Any]]:
    """Return the columns of judgements, named, in an order of rows that does not depend on the file's."""
    numbers: list[NDArray[Any]]
    if isinstance(table, Ratings):
        numbers = [table.item, table.model, table.score, table.seconds]
    else:
        numbers = [table.item, table.first, table.second, table.value, table.seconds]
    comment = table.comment if isinstance(table, Ratings) else None
    further = {} if comment is None else {"comment": comment}
    further |= {f"extra:{name}": table.extra[name] for name in sorted(table.extra)}
    columns = {
        "rater": np.array([*table.raters, None], object)[table.rater],
        "aspect": np.array([*table.aspects, None], object)[table.aspect],
        **{
            name: comparable(column)
            for name, column in further.items()
            if any(value is not None and value == value for value in column.tolist())
        },
    }
    order = np.lexsort([*map(_ranks, columns.values()), *numbers])
    labelled = ((np.array([name], object), column[order]) for name, column in columns.items())
    return [*(part for pair in labelled for part in pair), *(column[order] for column in numbers)]


def repeat_columns(table: Repeats) -> list[NDArray[Any]]:
    """Return the columns of repeated outputs, named, in an order that does not depend on the file's."""
    names = np.array(table.epochs, object)[table.epoch]
    order = np.lexsort((_ranks(names), table.model, table.item))
    columns: dict[str, NDArray[Any]] = {"item": table.item, "model": table.model, "epoch": names}
    columns |= {} if table.output is None else {"output": table.output}
    columns |= {name: table.scores[name] for name in sorted(table.scores)}
    return [part for name, column in columns.items() for part in (np.array([name], object), column[order])]


def _ranks(column: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of every value among the values that occur; None comes first."""
    if column.dtype != object:
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    distinct = sorted({value for value in column.tolist() if value is not None})
    ranks: dict[str | None, int] = {None: 0, **{value: rank for rank, value in enumerate(distinct, 1)}}
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
        try:
            content = "".join(values)
        except TypeError:
            # Some are missing.
            content = "".join([value for value in values if value is not None])
            is_plain = False
        else:
            is_plain = content.isascii()
        if is_plain:
            lengths = np.fromiter(map(len, values), "<i8", len(values))
        else:
            sizes = (-1 if text is None else len(text.encode("utf-8", "surrogatepass")) for text in values)
            lengths = np.fromiter(sizes, "<i8", len(values))
        total.update(lengths.data)
        total.update(content.encode("utf-8", "surrogatepass"))
