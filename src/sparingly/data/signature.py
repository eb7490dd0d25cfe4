"""Signatures: the line from which a selection can be re-derived, and the digests inside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.data.evalset import EvalSet


@dataclass(frozen=True)
class Signature:
    """How a selection came about: method, budget, seed, sizes, version, digests, and its pool's signature.

    ``inputs`` is the digest of what the method read (ids included), ``labels`` that of the judgements it
    used, or None: judgements that arrive later never change it.
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
        parts.append(f"version:{self.version}")
        line = "|".join(parts)
        return f"{line}|pool:[{self.pool}]" if self.pool else line

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files."""
        values = dict(vars(self))
        values["pool"] = self.pool.to_dict() if self.pool else None
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
        )


def digest(data: EvalSet, names: Iterable[str]) -> str:
    """Return a digest of the ids and of some fields, the same whatever the order in the file."""
    total = hashlib.blake2b(digest_size=8)
    _add_texts(total, data.items)
    _add_texts(total, np.array(data.models, object))
    for name in sorted(names):
        part = hashlib.blake2b(name.encode(), digest_size=16)
        for array in _arrays(data, name):
            _add(part, array)
        total.update(part.digest())
    return total.hexdigest()


def digest_ids(ids: Iterable[str]) -> str:
    """Return a digest of a set of ids."""
    total = hashlib.blake2b(digest_size=8)
    _add_texts(total, np.array(sorted(ids), object))
    return total.hexdigest()


def _arrays(data: EvalSet, name: str) -> list[NDArray[Any]]:
    kind, _, rest = name.partition(":")
    several = {"metric": data.metrics, "aspect": data.aspects, "column": data.columns, "cell": data.cells}
    if kind in several and rest:
        return [several[kind][rest]]
    if name in ("ratings", "preferences"):
        return _table(data, name)
    if name == "references":
        texts = data.reference_texts
        return [np.array(data.references, object), *([] if texts is None else [texts])]
    if name == "reference_aspects":
        return [
            part
            for key in sorted(data.reference_aspects)
            for part in (_named(key), data.reference_aspects[key])
        ]
    texts = data.sources if name == "sources" else data.outputs
    return [] if texts is None else [texts]


def _named(name: str) -> NDArray[np.object_]:
    return np.array([name], object)


def _table(data: EvalSet, name: str) -> list[NDArray[Any]]:
    """Return the columns of the judgements in an order that does not depend on the file's."""
    if name == "ratings":
        ratings = data.ratings
        who = np.array([*ratings.raters, None], object)[ratings.rater]
        what = np.array([*ratings.aspects, None], object)[ratings.aspect]
        numbers = [ratings.item, ratings.model, ratings.score, ratings.seconds]
    else:
        pairs = data.preferences
        who = np.array([*pairs.raters, None], object)[pairs.rater]
        what = np.array([*pairs.aspects, None], object)[pairs.aspect]
        numbers = [pairs.item, pairs.first, pairs.second, pairs.value, pairs.seconds]
    keys = [np.array([text or "" for text in column], np.str_) for column in (what, who)]
    order = np.lexsort((*reversed(numbers), *keys)) if len(who) else np.arange(0)
    return [column[order] for column in (who, what, *numbers)]


def _add(total: hashlib.blake2b, array: NDArray[Any]) -> None:
    if array.dtype == object:
        _add_texts(total, array)
        return
    numbers = np.ascontiguousarray(array, "<f8")
    # One bit pattern for zero and one for NaN, so that equal data have equal digests.
    total.update(np.where(np.isnan(numbers), np.nan, numbers + 0.0).tobytes())


def _add_texts(total: hashlib.blake2b, array: NDArray[Any]) -> None:
    flat = array.ravel()
    for start in range(0, len(flat), 65_536):
        parts = []
        for value in flat[start : start + 65_536]:
            if value is None:
                parts.append(b"\x00-")
                continue
            encoded = (value if isinstance(value, str) else repr(value)).encode("utf-8", "surrogatepass")
            parts.append(b"\x01%d:" % len(encoded) + encoded)
        total.update(b"".join(parts))
