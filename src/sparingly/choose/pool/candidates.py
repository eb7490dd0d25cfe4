"""The sources that may be drawn: a pool's numbers in one order, without duplicates and what is not wanted.

The order is that of the ids' hashes, whatever the order of the files: sources that were named (anchors, and
those that must not be chosen) come first, so that of two copies theirs is the one that stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_names
from sparingly.base.errors import UnknownNameError, UsageError, listing
from sparingly.base.rng import keys_of, round_to_range, scramble
from sparingly.base.syntax import argument, either
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.clusters import cluster_means, kmeans, nearest_centres
from sparingly.choose.design.units import Groups, quotas
from sparingly.choose.pool.embeddings import label_of, over_vectors, sketches_at, vectors_at
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
                "The pool was not compared with a corpus. Score it with "
                f"{either('--corpus FILES', 'against=…')}."
            )
        if self.near is not None and not pool.near:
            raise UsageError(
                "Near duplicates cannot be found in this pool. Score it with "
                f"{either('--near-duplicates', 'near=True')}."
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


# --- groups of sources and their quotas: by a column, bands of length or utility, or clusters ---
# Clusters: a subsample that a hash of the ids takes is clustered (k-means), and every cluster once more. The
# leaves of that tree stand along a path on which neighbours are near: first the clusters, then the leaves of
# each. Every source belongs to its nearest leaf. A draw along that list, in a leaf by the hashes of the ids,
# takes of every stretch of it as many sources as their inclusion probabilities add up to, up to one at either
# end: so the sample is spread as the pool is, with exactly the intended probabilities, whatever the clusters.
#
# Centres are rounded to half precision, so that distances are exact and the leaf of a source is the same
# whatever part it is in and whichever worker computes it. The tree depends neither on the seed nor on files.


Quota = Literal["equal", "share"] | Mapping[str, int]

CLUSTERS = 1024
_PURPOSE = "spread"
_FEWEST, _PER_LEAF = 8_192, 16
_BLOCK = 2**15
LENGTH, UTILITY, EMBEDDING = "length", "utility", "embedding"
MISSING = "(none)"


def make_groups(pool: ScoredPool, frame: SourceFrame, by: str | None, bands: int) -> Groups:
    """Return the groups by an extra column, or by equal bands of ``length`` or ``utility``.

    Several, with commas between them, are crossed: ``domain,utility`` has the bands of every domain, with the
    same bounds in all of them. Sources of one value are in one band, so that there can be fewer bands than
    asked for. By ``embedding`` they are as many clusters of the sources' embeddings, of any size.
    """
    if by is None:
        return Groups(("",), np.zeros(len(frame), np.int64))
    return reduce(_cross, (_group_by(pool, frame, name, bands) for name in group_names(by)))


def group_names(by: str | None) -> list[str]:
    """Return what groups are made by."""
    return [] if by is None else [name.strip() for name in by.split(",")]


def _cross(left: Groups, right: Groups) -> Groups:
    """Return the crossed groups that have a source."""
    codes = left.of_unit * len(right.names) + right.of_unit
    used_codes = np.flatnonzero(np.bincount(codes))
    pairs = [divmod(code, len(right.names)) for code in used_codes.tolist()]
    names = tuple(f"{left.names[first]}, {right.names[second]}" for first, second in pairs)
    return Groups(names, np.searchsorted(used_codes, codes))


def _group_by(pool: ScoredPool, frame: SourceFrame, by: str, bands: int) -> Groups:
    if by in (LENGTH, UTILITY):
        return _band_groups(getattr(frame, by), by, bands)
    if by == EMBEDDING:
        tree = ClusterTree(_centres(_sample_vectors(pool, frame, bands), bands), ())
        codes = over_vectors(pool, nearest_clusters, tree)[frame.place]
        used_codes, of_row = np.unique(codes, return_inverse=True)
        width = len(str(len(used_codes)))
        clusters = tuple(f"{EMBEDDING} {place:0{width}d}" for place in range(1, len(used_codes) + 1))
        return Groups(clusters, of_row.astype(np.int64))
    labels = pool.labels(by)
    if labels.null_count() == len(labels):
        sample = pool.column("kept").to_series().head(1000)
        columns = sorted({name for text in sample for name in json.loads(text)})
        raise UnknownNameError("saved column", by, columns, f"Bands are by {LENGTH} or {UTILITY}.")
    mine = labels.gather(frame.place).fill_null(MISSING)
    names = mine.unique().sort()
    codes = names.search_sorted(mine).to_numpy().astype(np.int64)
    return Groups(tuple(names.to_list()), codes)


def _band_groups(values: Floats, by: str, bands: int) -> Groups:
    if bands < 2:
        raise UsageError(f"There are 2 bands or more, not {bands}.")
    # Rounded, so that the last bits of a utility cannot move a source into another band.
    steps = round_to_range(values)
    edges = np.unique(np.quantile(steps, np.arange(1, bands) / bands, method="lower"))
    codes = np.searchsorted(edges, steps, side="left")
    used_codes, of_row = np.unique(codes, return_inverse=True)
    spans = [(float(values[codes == code].min()), float(values[codes == code].max())) for code in used_codes]
    width = len(str(len(used_codes)))
    names = [f"{by} {place:0{width}d}: {low:g} to {high:g}" for place, (low, high) in enumerate(spans, 1)]
    return Groups(tuple(names), of_row.astype(np.int64))


def group_shares(
    budget: Budget | None, frame: SourceFrame, groups: Groups, quota: Quota, costs: Floats | None
) -> Floats:
    """Return the total share of every group, in sources or in cost; anchors are part of it.

    Equal parts, or parts by size; what a small group cannot give goes to the others. Numbers by name are
    taken as they are, and groups that are not named give nothing.
    """
    totals = groups.totals(np.ones(len(frame)))
    if isinstance(quota, Mapping):
        requested = np.array([float(quota.get(name, 0)) for name in groups.names])
        short = [groups.names[place] for place in np.flatnonzero(requested > totals)]
        if short:
            raise UsageError(f"There are fewer sources than the quota asks for in {listing(short)}.")
        return requested
    if budget is None:
        raise UsageError("Say how much may be judged: budget=1000, or a share such as 1%.")
    if budget.kind == "cost" and costs is not None:
        amount, totals, integral = budget.amount, groups.totals(costs), False
    else:
        amount, integral = float(budget.count_of(len(frame), "sources")), True
    return quotas(amount, totals, np.ones(len(totals)) if quota == "equal" else totals, integral=integral)


def with_quota(frame: SourceFrame, groups: Groups, quota: Quota) -> tuple[SourceFrame, Groups, int]:
    """Leave out the groups that a quota by name does not name: they have no probability of being drawn."""
    if not isinstance(quota, Mapping):
        return frame, groups, 0
    for name, count in quota.items():
        if name not in groups.names:
            raise UnknownNameError("group", name, groups.names)
        if count < 1:
            raise UsageError(f"A group gives 1 or more sources, not {count}: leave out {name}.")
    is_named = np.array([name in quota for name in groups.names], bool)
    stays = is_named[groups.of_unit] | frame.anchor
    return frame.take(stays), Groups(groups.names, groups.of_unit[stays]), int((~stays).sum())


def after_anchors(
    shares: Floats, frame: SourceFrame, groups: Groups, costs: Floats | None, *, by_name: bool = False
) -> Floats:
    """Return the shares of the groups beyond the anchors, which are always taken.

    An anchor counts towards the number of its group; with numbers by name, one of no named group is extra.
    """
    weights = np.ones(len(frame)) if costs is None else costs
    anchors = groups.totals(np.where(frame.anchor, weights, 0.0))
    if by_name:
        over = [groups.names[place] for place in np.flatnonzero((anchors > shares) & (shares > 0))]
        if over:
            raise UsageError(f"There are more anchors than the quota asks for in {listing(over)}.")
        return np.maximum(shares - anchors, 0.0)
    remaining = float(shares.sum() - anchors.sum())
    if remaining < 0:
        raise UsageError(f"The anchors alone take {anchors.sum():g} of the budget of {shares.sum():g}.")
    free = groups.totals(np.where(frame.anchor, 0.0, weights))
    free_shares = np.maximum(shares - anchors, 0.0)
    if remaining == 0 or not free_shares.any():
        return np.zeros(len(shares))
    return quotas(remaining, np.where(free_shares > 0, free, 0.0), free_shares, integral=costs is None)


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """Clusters along a path, and the centres of the leaves of each of them along the rest of it."""

    clusters: Floats
    leaves: tuple[Floats, ...]


def assign_leaves(pool: ScoredPool, frame: SourceFrame, count: int = CLUSTERS) -> Ints:
    """Return the leaf of every source, numbered along the path; there are about ``count`` of them."""
    tree = build_tree(_sample_vectors(pool, frame, count), count)
    return np.asarray(over_vectors(pool, nearest_leaves, tree)[frame.place], np.int64)


def _sample_vectors(pool: ScoredPool, frame: SourceFrame, count: int) -> Floats:
    """Return the vectors of the sources whose ids have the lowest hashes, enough for so many clusters."""
    if count < 2:
        raise UsageError(f"There are 2 clusters or more, not {count}.")
    hashes = rng.stream(frame.key, 0, _PURPOSE)
    sample_size = min(len(frame), max(_FEWEST, _PER_LEAF * count))
    lowest = np.argpartition(hashes, sample_size - 1)[:sample_size]
    sample = lowest[np.argsort(hashes[lowest], kind="stable")]
    return vectors_at(pool, frame.place[sample]).astype(np.float64)


def build_tree(points: Floats, count: int) -> ClusterTree:
    """Return the tree of some points: √count clusters, each with leaves by its share of the points."""
    clusters = _centres(points, max(1, round(np.sqrt(count))))
    cluster_of = nearest_centres(points, clusters)
    sizes = np.bincount(cluster_of, minlength=len(clusters))
    leaves, end = [], clusters[0]
    for place, size in enumerate(sizes.tolist()):
        leaf_count = max(1, round(count * size / len(points)))
        inside = (
            _centres(points[cluster_of == place], leaf_count, end) if size else clusters[place : place + 1]
        )
        leaves.append(inside)
        end = inside[-1]
    return ClusterTree(clusters, tuple(leaves))


def _centres(points: Floats, count: int, start: Floats | None = None) -> Floats:
    """Return the centres of k-means in half precision, along a path from the one nearest to ``start``."""
    labels = kmeans(points, count, rng.generator(0, _PURPOSE))
    centres = np.unique(cluster_means(points, labels).astype(np.float16).astype(np.float64), axis=0)
    # The path begins at the centre nearest to the start, or farthest from the middle, and goes on to the
    # nearest centre that is left.
    if start is None:
        order = [int(_squares(centres, centres.mean(axis=0)).argmax())]
    else:
        order = [int(_squares(centres, start).argmin())]
    while len(order) < len(centres):
        rows = np.delete(np.arange(len(centres)), order)
        order.append(int(rows[_squares(centres[rows], centres[order[-1]]).argmin()]))
    return centres[order]


def _squares(points: Floats, centre: Floats) -> Floats:
    gaps = points - centre
    return np.asarray(np.einsum("ij,ij->i", gaps, gaps))


def nearest_clusters(vectors: NDArray[np.float16], tree: ClusterTree) -> NDArray[np.int32]:
    """Return the nearest cluster of every vector."""
    clusters = np.empty(len(vectors), np.int32)
    for start in range(0, len(vectors), _BLOCK):
        block = slice(start, start + _BLOCK)
        clusters[block] = nearest_centres(vectors[block].astype(np.float64), tree.clusters)
    return clusters


def nearest_leaves(vectors: NDArray[np.float16], tree: ClusterTree) -> NDArray[np.int32]:
    """Return the leaf of every vector: the nearest one in the nearest cluster."""
    cluster_of = nearest_clusters(vectors, tree)
    leaf_of = np.empty(len(vectors), np.int32)
    # The number of the first leaf of every cluster.
    counts = np.array([len(inside) for inside in tree.leaves], np.int64)
    starts = np.cumsum(counts) - counts
    for place in np.unique(cluster_of).tolist():
        rows = np.flatnonzero(cluster_of == place)
        inside = np.asarray(vectors[rows], np.float64)
        leaf_of[rows] = starts[place] + nearest_centres(inside, tree.leaves[place])
    return leaf_of
