"""The sources that may be drawn: a pool's numbers in one order, without duplicates and what is not wanted.

The order is that of the ids' hashes, whatever the order of the files: sources that were named (anchors, and
those that must not be chosen) come first, so that of two copies theirs is the one that stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_names
from sparingly.base.errors import UsageError, listing
from sparingly.base.rng import keys_of, round_to_range, scramble
from sparingly.base.syntax import argument
from sparingly.choose.pool.embeddings import label_of, sketches_at, vectors_at
from sparingly.choose.pool.near_duplicates import near_duplicates, near_vectors
from sparingly.choose.pool.scored_pool import UNLIKE, ScoredPool
from sparingly.choose.pool.scorers import DISTILLED
from sparingly.choose.pool.sources import LANGUAGE
from sparingly.choose.pool.workers import ClusterExecutor

Keys = NDArray[np.uint64]

NO_QUOTA = "no_quota"
REASONS = {
    "duplicate_id": "the id of another source with a different text",
    "too_short": "shorter than the shortest text to take",
    "too_long": "longer than the longest text to take",
    "language": "in a language that is not to be taken",
    "unlike": "unlike the texts that the model of the utility knows",
    "overlap": "too much of it stands in the corpus",
    "duplicate_text": "the text of another source",
    "near_duplicate": "nearly the text of another source",
    "near_embedding": "an embedding near that of another source",
    "never": "on the never-select list",
    NO_QUOTA: "of a group without a quota",
}


@dataclass(frozen=True)
class Limits:
    """Which sources may be drawn; at ``near``, ``overlap`` or ``cosine`` and above, a source is removed.

    With ``familiar`` none may be unlike the texts that the model of the utility was trained on.
    """

    shortest: float | None = None
    longest: float | None = None
    overlap: float | None = None
    duplicates: bool = False
    near: float | None = None
    languages: tuple[str, ...] | None = None
    familiar: bool = False
    cosine: float | None = None

    def check(self, pool: ScoredPool) -> None:
        """Raise UsageError for limits that the pool was not scored for."""
        for name in ("overlap", "near", "cosine"):
            share = getattr(self, name)
            if share is not None and not 0.0 < share <= 1.0:
                raise UsageError(f"{name} is a share above 0 and at most 1, not {share:g}.")
        if self.overlap is not None and pool.against is None:
            raise UsageError(
                f"The pool was not compared with a corpus. Score it with {argument('against', 'FILES')}."
            )
        if self.near is not None and not pool.near:
            raise UsageError(
                f"Near duplicates cannot be found in this pool. Score it with {argument('near', None)}."
            )
        if self.cosine is not None:
            label_of(pool)
        if self.familiar and not pool.by.startswith(f"{DISTILLED}:"):
            raise UsageError(
                "Only a model knows what is familiar. Score the pool with "
                f"{argument('by', 'distilled:model=FILE')}."
            )


@dataclass(frozen=True, eq=False)
class SourceFrame:
    """Sources as arrays: their places in the pool, hashes, utilities, lengths, overlaps, and the named ones.

    ``leaf`` is the cluster of embeddings of each, if needed.
    """

    place: Ints
    key: Keys
    text: Keys
    utility: Floats
    length: Floats
    overlap: Floats
    anchor: Mask
    never: Mask
    leaf: Ints | None = None

    def __len__(self) -> int:
        return len(self.place)

    def take(self, rows: Ints | Mask) -> SourceFrame:
        """Return some sources in the given order."""
        columns: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        return SourceFrame(**{name: values[rows] for name, values in columns.items() if values is not None})


def read_frame(
    pool: ScoredPool, anchors: Iterable[str] = (), never: Iterable[str] = ()
) -> tuple[SourceFrame, str]:
    """Return all sources in their order, and the digest of the columns; every anchor must be in the pool."""
    names = ("key", "row", "text", "utility", "length", *(() if pool.against is None else ("overlap",)))
    columns = {name: pool.column(name).to_series().to_numpy() for name in names}
    key, row, anchor_ids = columns["key"], columns.pop("row"), list(anchors)
    anchor_keys = keys_of(anchor_ids)
    lost = np.flatnonzero(~np.isin(anchor_keys, key))
    if len(lost):
        lost_ids = listing([anchor_ids[place] for place in lost], 3)
        raise UsageError(f"{len(lost)} of {len(anchor_ids)} anchors are not in the pool: {lost_ids}.")
    anchor = np.isin(key, anchor_keys)
    barred = np.isin(key, keys_of(list(never))) & ~anchor
    columns.setdefault("overlap", np.broadcast_to(0.0, len(key)))
    frame = SourceFrame(place=np.arange(len(key)), **columns, anchor=anchor, never=barred)
    # A digest of all sources and their utilities, whatever their order and last bits.
    steps = round_to_range(frame.utility) + 0.0
    digest = int(scramble(row ^ scramble(steps.view(np.uint64))).sum(dtype=np.uint64))
    # Named sources first, then by key; copies of an id by a hash of the whole source.
    order = np.argsort(key, kind="stable")
    equal = key[order[1:]] == key[order[:-1]]
    tied = np.flatnonzero(np.r_[equal, False] | np.r_[False, equal])[: len(order)]
    positions = order[tied]
    order[tied] = positions[np.lexsort((row[positions], key[positions]))]
    is_named = (anchor | barred)[order]
    return frame.take(np.concatenate([order[is_named], order[~is_named]])), f"{digest:016x}"


def filter_candidates(
    pool: ScoredPool, frame: SourceFrame, limits: Limits
) -> tuple[SourceFrame, dict[str, int]]:
    """Return the sources that may be drawn, and the number removed by reason, each source counted once.

    Anchors stay whatever their length, overlap or copies. What must not be chosen goes last and for no other
    reason, so that its copies are recognised and go too, also where copies may stay or it has several texts.
    """
    removed = dict.fromkeys(REASONS, 0)
    alive = np.ones(len(frame), bool)

    def drop(reason: str, mask: Mask) -> None:
        hit = mask & alive
        removed[reason] += int(hit.sum())
        alive[hit] = False

    # Copies have the id of a source before them.
    copies = np.r_[False, frame.key[1:] == frame.key[:-1]][: len(frame)]
    head = np.maximum.accumulate(np.where(copies, 0, np.arange(len(frame))))
    drop("duplicate_text", copies & (frame.text == frame.text[head]) & ~frame.never)
    drop("duplicate_id", copies & ~frame.never)
    free = ~(frame.anchor | frame.never)
    drop("too_short", free & (frame.length < (-np.inf if limits.shortest is None else limits.shortest)))
    drop("too_long", free & (frame.length > (np.inf if limits.longest is None else limits.longest)))
    if limits.languages is not None:
        drop("language", free & ~_in_languages(pool, limits.languages)[frame.place])
    if limits.familiar:
        drop("unlike", free & pool.column(UNLIKE).to_series().to_numpy()[frame.place])
    drop("overlap", free & (frame.overlap >= (np.inf if limits.overlap is None else limits.overlap)))
    if limits.duplicates:
        repeated = np.isin(frame.text, frame.text[frame.never])
    else:
        rows = np.flatnonzero(alive)
        order = rows[np.argsort(frame.text[rows], kind="stable")]
        repeated = np.zeros(len(frame), bool)
        repeated[order[1:][frame.text[order[1:]] == frame.text[order[:-1]]]] = True
    drop("duplicate_text", free & repeated)
    if limits.near is not None:
        rows, near = np.flatnonzero(alive), np.zeros(len(frame), bool)
        places = frame.place[rows]
        near[rows] = near_duplicates(
            len(rows),
            lambda band: pool.band(band, places),
            lambda positions: pool.bands(places[positions]),
            limits.near,
        )
        drop("near_duplicate", free & near)
    if limits.cosine is not None:
        rows, near = np.flatnonzero(alive), np.zeros(len(frame), bool)
        places = frame.place[rows]
        # A cluster has no memory in common: its workers read the sketches from a file.
        folder = pool.folder.resolve() if isinstance(pool.executor, ClusterExecutor) else None
        near[rows] = near_vectors(
            sketches_at(pool, places),
            lambda positions: vectors_at(pool, places[positions]),
            limits.cosine,
            pool.executor,
            folder,
        )
        drop("near_embedding", free & near)
    drop("never", frame.never)
    return frame.take(alive), removed


def _in_languages(pool: ScoredPool, languages: tuple[str, ...]) -> Mask:
    """Return which sources of the pool are in one of some languages, each of which must be there."""
    labels = pool.labels(LANGUAGE)
    if labels.null_count() == len(labels):
        raise UsageError(
            "The languages of this pool are not known. Score it with "
            f"{argument('identify', None)}, or {argument('language', 'COLUMN')}."
        )
    present = labels.drop_nulls().unique().sort().to_list()
    check_names("language in the pool", languages, present)
    return np.asarray(labels.is_in(list(languages)).fill_null(False).to_numpy(), bool)


class FilterOptions(TypedDict, total=False):
    """Which sources may be chosen; every key is optional.

    Anchors count towards the budget and pass every filter, the never-select list too; what is on that list
    goes with its copies.
    """

    anchors: Iterable[str]  # ids that are always chosen
    never: Iterable[str]  # ids that must not be
    shortest: float | None  # in words
    longest: float | None
    overlap: float | None  # leave out sources with so large a share in the corpus
    near: float | None  # so similar to another (Jaccard similarity of character 5-grams)
    cosine: float | None  # with an embedding so near another's
    duplicates: bool  # whether several sources may have the same text
    languages: Iterable[str] | None
    familiar: bool  # leave out sources unlike the texts that the model of the utility was trained on


def parse_filters(options: FilterOptions) -> tuple[Limits, tuple[str, ...], tuple[str, ...]]:
    """Return the limits, the anchors, and what must never be chosen (no anchor); ids are sorted."""
    limits: dict[str, Any] = {**options}
    anchors, never = set(limits.pop("anchors", ())), set(limits.pop("never", ()))
    languages = limits.pop("languages", None)
    names = None if languages is None else tuple(sorted(set(languages)))
    return Limits(**limits, languages=names), tuple(sorted(anchors)), tuple(sorted(never - anchors))
