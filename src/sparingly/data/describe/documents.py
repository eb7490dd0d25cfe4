"""Texts, documents and domains of an evaluation set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Ints, Objects
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

# Systems that are run independently share few of their outputs even where most are short; runs of one
# system share a third and more.
NEAR_DUPLICATE = 0.3
_FEWEST_ITEMS = 5
_MISSING, _EMPTY = -1, 0


@dataclass(frozen=True)
class SamePair:
    """Two models, and the share of items with equal texts among those where both wrote one."""

    first: str
    second: str
    share: float


@dataclass(frozen=True)
class TextsSummary:
    """What is odd about the texts of a set.

    Near-duplicates are pairs of models whose texts are equal on 30 % of the items or more, most alike first:
    judging both of them tells little about which one is better.
    """

    empty_outputs: dict[str, int]  # by model; models without are left out
    # The share of (not empty) outputs that another model wrote too for the same item; None without outputs.
    identical_share: float | None
    near_duplicates: tuple[SamePair, ...]
    repeated_sources: int  # items whose source is that of an earlier item
    empty_sources: int


def texts(data: EvalSet) -> TextsSummary | None:
    """Describe the texts, or return None when the set has none."""
    if data.outputs is None and data.sources is None:
        return None
    outputs = _coded(data.outputs) if data.outputs is not None else np.empty((len(data), 0), np.int64)
    sources = _coded(data.sources) if data.sources is not None else np.empty(0, np.int64)
    source_codes = sources[sources > _EMPTY]
    empty = (outputs == _EMPTY).sum(axis=0).tolist()
    ordered = np.sort(outputs, axis=1)
    nonempty = ordered > _EMPTY
    equal = (ordered[:, 1:] == ordered[:, :-1]) & nonempty[:, 1:]
    shared = np.zeros(ordered.shape, bool)
    shared[:, 1:] |= equal
    shared[:, :-1] |= equal
    return TextsSummary(
        empty_outputs={name: count for name, count in zip(data.models, empty, strict=False) if count},
        identical_share=float(shared.sum() / nonempty.sum()) if nonempty.any() else None,
        near_duplicates=_near_duplicates(outputs, data.models),
        repeated_sources=len(source_codes) - len(np.unique(source_codes)),
        empty_sources=int((sources == _EMPTY).sum()),
    )


def _coded(array: Objects) -> Ints:
    """Return a number per text: equal where the texts are equal but for the space around them."""
    codes: dict[str | None, int] = {None: _MISSING, "": _EMPTY}
    stripped = (None if text is None else text.strip() for text in array.ravel().tolist())
    numbers = (codes.setdefault(text, len(codes)) for text in stripped)
    return np.fromiter(numbers, np.int64, array.size).reshape(array.shape)


def _near_duplicates(outputs: Ints, models: tuple[str, ...]) -> tuple[SamePair, ...]:
    columns = np.ascontiguousarray(outputs.T)
    nonempty = columns > _EMPTY
    pairs = []
    for first in range(len(columns)):
        in_both = nonempty[first] & nonempty[first + 1 :]
        equal = (columns[first] == columns[first + 1 :]) & in_both
        shares = equal.sum(axis=1) / np.maximum(in_both.sum(axis=1), _FEWEST_ITEMS)
        for step in np.flatnonzero(shares >= NEAR_DUPLICATE):
            pairs.append(SamePair(models[first], models[first + 1 + step], float(shares[step])))
    return tuple(sorted(pairs, key=lambda pair: (-pair.share, pair.first, pair.second)))


# --- documents ---


@dataclass(frozen=True)
class DocumentsSummary:
    """The documents of a set: how many, and the items of the shortest, a middle and the longest one."""

    count: int
    shortest: int
    median: float
    longest: int
    without: int  # items that belong to no document
    in_order: bool  # whether every document's items stand side by side in the file, positions ascending
    scattered: int  # documents whose items do not stand side by side in the file
    disordered: int  # documents whose positions do not ascend in the file
    with_gaps: int  # documents whose positions skip a place: some of their items are not in the set


def documents(data: EvalSet) -> DocumentsSummary | None:
    """Describe the documents, or return None when the set has none."""
    codes, names = coded(data, fields.DOCUMENT)
    if not names:
        return None
    count, file_order = len(names), data.file_order
    if fields.POSITION in data.columns:
        positions = np.asarray(data.columns[fields.POSITION], np.float64)
    else:
        # A view may hide the positions; then the file's own order is all there is, and it is in order.
        positions = np.argsort(file_order, kind="stable").astype(np.float64)
    order = file_order[codes[file_order] >= 0]
    # Neighbours of one document in the file: a stable sort by document keeps the order of the file.
    grouped = order[np.argsort(codes[order], kind="stable")]
    document, position = codes[grouped], positions[grouped]
    falls = (document[1:] == document[:-1]) & ~(position[1:] > position[:-1])
    disordered = len(np.unique(document[1:][falls]))
    runs = codes[file_order]
    starts = np.flatnonzero(np.diff(runs, prepend=-2) != 0)
    pieces = np.bincount(runs[starts][runs[starts] >= 0], minlength=count)
    scattered = int((pieces > 1).sum())
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, document, position)
    np.maximum.at(last, document, position)
    lengths = np.bincount(document, minlength=count)
    return DocumentsSummary(
        count=count,
        shortest=int(lengths.min()),
        median=float(np.median(lengths)),
        longest=int(lengths.max()),
        without=int((codes < 0).sum()),
        in_order=scattered == 0 and disordered == 0,
        scattered=scattered,
        disordered=disordered,
        with_gaps=int((last - first + 1 > lengths).sum()),
    )


def domains(data: EvalSet) -> dict[str, int]:
    """Return the number of items of every domain, the largest first."""
    if fields.DOMAIN not in data.columns:
        return {}
    counts = Counter(name for name in data.columns[fields.DOMAIN] if name is not None)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def coded(data: EvalSet, column: str) -> tuple[Ints, list[str]]:
    """Return every item's code of a column's value (-1 where there is none), and the values by code."""
    if column not in data.columns:
        return np.full(len(data), -1, np.int64), []
    codes: dict[str | None, int] = {None: -1}
    places = (codes.setdefault(name, len(codes) - 1) for name in data.columns[column])
    return np.fromiter(places, np.int64, len(data)), [name for name in codes if name is not None]
