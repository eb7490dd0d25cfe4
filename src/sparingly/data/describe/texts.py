"""Odd texts: empty outputs, outputs that several models share, near-duplicate models, repeated sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Ints, Objects
from sparingly.data.evalset import EvalSet

# Systems that are run independently share few of their outputs even where most are short; runs of one
# system share a third and more.
NEAR_DUPLICATE = 0.3
_FEWEST_ITEMS = 5
_MISSING, _EMPTY = -1, 0


@dataclass(frozen=True)
class SamePair:
    """Two models that wrote the same text for many items.

    Attributes:
        first: One model.
        second: The other.
        share: The share of items on which their texts are equal, of those where both wrote one.
    """

    first: str
    second: str
    share: float


@dataclass(frozen=True)
class Texts:
    """What is odd about the texts of a set.

    Attributes:
        empty_outputs: The number of empty outputs by model; models without are left out.
        identical_share: The share of (not empty) outputs that another model wrote too for the same item;
            None where there are none.
        near_duplicates: Pairs of models whose texts are equal on 30 % of the items or more, most alike first:
            judging both of them tells little about which one is better.
        repeated_sources: Items whose source is that of an earlier item.
        empty_sources: Items whose source is empty.
    """

    empty_outputs: dict[str, int]
    identical_share: float | None
    near_duplicates: tuple[SamePair, ...]
    repeated_sources: int
    empty_sources: int


def texts(data: EvalSet) -> Texts | None:
    """Describe the texts, or return None when the set has none."""
    if data.outputs is None and data.sources is None:
        return None
    outputs = _coded(data.outputs) if data.outputs is not None else np.empty((len(data), 0), np.int64)
    sources = _coded(data.sources) if data.sources is not None else np.empty(0, np.int64)
    written = sources[sources > _EMPTY]
    empty = (outputs == _EMPTY).sum(axis=0).tolist()
    return Texts(
        empty_outputs={name: count for name, count in zip(data.models, empty, strict=False) if count},
        identical_share=_identical_share(outputs),
        near_duplicates=_near_duplicates(outputs, data.models),
        repeated_sources=len(written) - len(np.unique(written)),
        empty_sources=int((sources == _EMPTY).sum()),
    )


def _coded(array: Objects) -> Ints:
    """Return a number per text: equal where the texts are equal but for the space around them."""
    codes: dict[str | None, int] = {None: _MISSING, "": _EMPTY}
    listed: list[str | None] = array.ravel().tolist()
    stripped = (None if text is None else text.strip() for text in listed)
    numbers = (codes.setdefault(text, len(codes)) for text in stripped)
    return np.fromiter(numbers, np.int64, array.size).reshape(array.shape)


def _identical_share(outputs: Ints) -> float | None:
    ordered = np.sort(outputs, axis=1)
    written = ordered > _EMPTY
    same = (ordered[:, 1:] == ordered[:, :-1]) & written[:, 1:]
    shared = np.zeros(ordered.shape, bool)
    shared[:, 1:] |= same
    shared[:, :-1] |= same
    return float(shared.sum() / written.sum()) if written.any() else None


def _near_duplicates(outputs: Ints, models: tuple[str, ...]) -> tuple[SamePair, ...]:
    columns = np.ascontiguousarray(outputs.T)
    written = columns > _EMPTY
    found = []
    for first in range(len(columns)):
        both = written[first] & written[first + 1 :]
        equal = (columns[first] == columns[first + 1 :]) & both
        shares = equal.sum(axis=1) / np.maximum(both.sum(axis=1), _FEWEST_ITEMS)
        for step in np.flatnonzero(shares >= NEAR_DUPLICATE):
            found.append(SamePair(models[first], models[first + 1 + step], float(shares[step])))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second)))
