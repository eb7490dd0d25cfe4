"""Groups of sources and their quotas: by a column, bands of length or utility, or clusters of embeddings.

Clusters: a subsample that a hash of the ids takes is clustered (k-means), and every cluster once more. The
leaves of that tree stand along a path on which neighbours are near: first the clusters, then the leaves of
each. Every source belongs to its nearest leaf. A draw along that list, in a leaf by the hashes of the ids,
takes of every stretch of it as many sources as their inclusion probabilities add up to, up to one at either
end: so the sample is spread as the pool is, with exactly the intended probabilities, whatever the clusters.

Centres are rounded to half precision, so that distances are exact and the leaf of a source is the same
whatever part it is in and whichever worker computes it. The tree depends neither on the seed nor on files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError, listing
from sparingly.base.rng import round_to_range
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.clusters import cluster_means, kmeans, nearest_centres
from sparingly.choose.design.units import Groups, quotas
from sparingly.choose.pool.candidates import SourceFrame
from sparingly.choose.pool.embeddings import over_vectors, vectors_at
from sparingly.choose.pool.scored_pool import ScoredPool

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
        raise UnknownNameError("kept column", by, columns, f"Bands are by {LENGTH} or {UTILITY}.")
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
