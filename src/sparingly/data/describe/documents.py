"""Documents: how many, how long, and whether their items stand in order in the file; and domains."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.data import fields
from sparingly.data.evalset import EvalSet


@dataclass(frozen=True)
class Documents:
    """The documents of a set.

    Attributes:
        count: The number of documents.
        shortest: Items in the shortest document.
        median: Items in a middle document.
        longest: Items in the longest document.
        without: Items that belong to no document.
        in_order: Whether every document's items stand side by side in the file, positions ascending.
        scattered: Documents whose items do not stand side by side in the file.
        disordered: Documents whose positions do not ascend in the file.
        with_gaps: Documents whose positions skip a place: some of their items are not in the set.
    """

    count: int
    shortest: int
    median: float
    longest: int
    without: int
    in_order: bool
    scattered: int
    disordered: int
    with_gaps: int


def documents(data: EvalSet) -> Documents | None:
    """Describe the documents, or return None when the set has none."""
    codes, names = coded(data, fields.DOCUMENT)
    if not names:
        return None
    lengths = np.bincount(codes[codes >= 0], minlength=len(names))
    scattered, disordered, with_gaps = _faults(codes, _positions(data), data.file_order, len(names))
    return Documents(
        count=len(names),
        shortest=int(lengths.min()),
        median=float(np.median(lengths)),
        longest=int(lengths.max()),
        without=int((codes < 0).sum()),
        in_order=scattered == 0 and disordered == 0,
        scattered=scattered,
        disordered=disordered,
        with_gaps=with_gaps,
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


def _positions(data: EvalSet) -> NDArray[np.float64]:
    if fields.POSITION in data.columns:
        return np.asarray(data.columns[fields.POSITION], np.float64)
    # A view may hide the positions; then the file's own order is all there is, and it is in order.
    return np.argsort(data.file_order, kind="stable").astype(np.float64)


def _faults(
    codes: Ints, positions: NDArray[np.float64], file_order: Ints, count: int
) -> tuple[int, int, int]:
    """Count the documents that are scattered, disordered, or have gaps."""
    order = file_order[codes[file_order] >= 0]
    # Neighbours of one document in the file: a stable sort by document keeps the order of the file.
    grouped = order[np.argsort(codes[order], kind="stable")]
    document, position = codes[grouped], positions[grouped]
    same = document[1:] == document[:-1]
    falls = same & ~(position[1:] > position[:-1])
    runs = codes[file_order]
    starts = np.flatnonzero(np.diff(runs, prepend=-2) != 0)
    pieces = np.bincount(runs[starts][runs[starts] >= 0], minlength=count)
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, document, position)
    np.maximum.at(last, document, position)
    length = np.bincount(document, minlength=count)
    return (
        int((pieces > 1).sum()),
        len(np.unique(document[1:][falls])),
        int((last - first + 1 > length).sum()),
    )
