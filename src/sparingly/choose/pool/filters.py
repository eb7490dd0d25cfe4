"""Which sources of a pool may be chosen: the filters of ``select_pool`` by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from sparingly.choose.pool.frame import Wanted


class FilterOptions(TypedDict, total=False):
    """Which sources may be chosen; every key may be left out.

    Attributes:
        anchors: Ids that are taken for certain; they count towards the budget and stay whatever is asked.
        never: Ids that must not be chosen, nor copies of them; an anchor among them is chosen all the same.
        shortest: The fewest words of a source.
        longest: The most words of a source.
        overlap: Sources go of which so large a share stands in the corpus.
        near: Sources go that are so much like another (Jaccard similarity of character 5-grams).
        cosine: Sources go whose embedding is so near another's.
        duplicates: Whether several sources may have the same text.
        languages: The languages that sources may be in.
        familiar: Leave out sources unlike the texts that the model of the utility was trained on.
    """

    anchors: Iterable[str]
    never: Iterable[str]
    shortest: float | None
    longest: float | None
    overlap: float | None
    near: float | None
    cosine: float | None
    duplicates: bool
    languages: Iterable[str] | None
    familiar: bool


@dataclass(frozen=True)
class Filters:
    """Who may be drawn, who must be, and who must not."""

    wanted: Wanted
    anchors: tuple[str, ...]
    never: tuple[str, ...]


def filters_of(
    *,
    anchors: Iterable[str] = (),
    never: Iterable[str] = (),
    languages: Iterable[str] | None = None,
    shortest: float | None = None,
    longest: float | None = None,
    overlap: float | None = None,
    near: float | None = None,
    cosine: float | None = None,
    duplicates: bool = False,
    familiar: bool = False,
) -> Filters:
    """Return the filters; ids and languages are sorted, and an anchor is not among those never chosen."""
    kept = set(anchors)
    spoken = None if languages is None else tuple(sorted(set(languages)))
    wanted = Wanted(shortest, longest, overlap, duplicates, near, spoken, familiar, cosine)
    return Filters(wanted, tuple(sorted(kept)), tuple(sorted(set(never) - kept)))
