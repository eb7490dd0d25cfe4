"""Agglomerative clustering on plain arrays: one tree of merges, cut for any number of clusters.

The nearest-neighbour chain (Müllner 2011) walks from a cluster to its nearest one until two are nearest to
each other and merges those: n − 1 merges, each one vectorised step over the others. With s the sizes, the
merged cluster is at the distance (Lance and Williams 1967)

    ward:     d²(ab, c) = ((s_a + s_c) d²(a, c) + (s_b + s_c) d²(b, c) − s_c d²(a, b)) / (s_a + s_b + s_c)
    average:  d(ab, c) = (s_a d(a, c) + s_b d(b, c)) / (s_a + s_b).

A point may stand for many: ``sizes`` says for how many, and its Ward distance to another then starts at
d² = 2 s_a s_b / (s_a + s_b) ‖a − b‖², as if they had been merged before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.clusters import cluster_means, micro_clusters

LinkageKind = Literal["ward", "average"]
Distance = Literal["ward", "cosine"]

# Distances below this share of the largest are rounding errors of points that are equal.
_EQUAL = 1e-6
_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Linkage:
    """A tree of merges over n points, lowest first: points are 0 … n − 1, merge t makes the node n + t."""

    merges: Ints  # the two nodes of every merge, (n − 1) × 2
    heights: Floats  # the distance of every merge, never falling

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.merges) + 1

    def cut(self, count: int) -> Ints:
        """Return the cluster (0 … count − 1) of every point when the last ``count`` − 1 merges are undone.

        Exactly so many clusters, ties or not; they are numbered by their first points.
        """
        points = len(self)
        limit = 2 * points - count
        parents = np.arange(2 * points - 1)
        merges = self.merges[: points - count]
        parents[merges.ravel()] = np.repeat(np.arange(points, limit), 2)
        while not np.array_equal(parents, further := parents[parents]):
            parents = further
        _, first, labels = np.unique(parents[:points], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[labels].astype(np.int64)


def distance_matrix(points: Floats, kind: Distance) -> NDArray[np.float32]:
    """Return the distances of all pairs, to the last bit the same for (a, b) as for (b, a).

    Ward's are squared Euclidean ones. The others are one minus the product: for means of unit vectors, one
    minus their mean cosine; a vector of 0 is at distance 1. Equal points are at exactly 0.
    """
    lengths = np.einsum("ij,ij->i", points, points)
    equal = _EQUAL if kind == "cosine" else _EQUAL**2 * float(lengths.max(initial=0.0))
    result = np.empty((len(points), len(points)), np.float32)
    for start in range(0, len(points), _BLOCK):
        rows = slice(start, start + _BLOCK)
        for column in range(start, len(points), _BLOCK):
            columns = slice(column, column + _BLOCK)
            block = points[rows] @ points[columns].T
            if kind == "cosine":
                np.subtract(1.0, block, out=block)
            else:
                block *= -2.0
                block += lengths[rows, None]
                block += lengths[None, columns]
            block[block < equal] = 0.0
            result[rows, columns] = block
            result[columns, rows] = result[rows, columns].T
    return result


def ward_linkage(points: Floats, sizes: Floats | None = None) -> Linkage:
    """Return the Ward linkage of points, each of which may stand for many."""
    squares = distance_matrix(points, "ward")
    if sizes is not None:
        counts = sizes.astype(np.float32)
        squares *= 2.0 * counts[:, None] * counts / (counts[:, None] + counts)
    linkage = chain(squares, np.ones(len(points)) if sizes is None else sizes, "ward")
    return Linkage(linkage.merges, np.sqrt(linkage.heights))


def cosine_linkage(points: Floats, sizes: Floats | None = None) -> Linkage:
    """Return the average linkage of unit vectors by cosine distance (or of means that stand for many)."""
    counts = np.ones(len(points)) if sizes is None else sizes
    return chain(distance_matrix(points, "cosine"), counts, "average")


def chain(distances: NDArray[np.float32], sizes: Floats, kind: LinkageKind) -> Linkage:
    """Return the linkage of a square matrix of distances, which is used up (squared ones for Ward)."""
    points = len(distances)
    np.fill_diagonal(distances, np.inf)
    clusters = _ActiveClusters(
        distances, sizes.astype(np.float32), np.arange(points), np.zeros(points, np.float32)
    )
    merges, heights = np.empty((points - 1, 2), np.int64), np.empty(points - 1)
    path: list[int] = []
    for step in range(points - 1):
        if not path:
            path.append(int(clusters.removed.argmin()))
        low, high = clusters.nearest_pair(path)
        heights[step] = clusters.distances[low, high]
        merges[step] = clusters.names[low], clusters.names[high]
        clusters.merge(low, high, kind)
        if 2 * (points - 1 - step) <= len(clusters.names):
            clusters, path = clusters.without_gone(path)
    return _relabel(merges, heights, points)


@dataclass(frozen=True, eq=False)
class _ActiveClusters:
    """The clusters that are left, among places that are not in use any more."""

    distances: NDArray[np.float32]  # of all places; what stands at a place that is gone means nothing
    weights: NDArray[np.float32]  # how many points every cluster has
    names: Ints  # the first point of every cluster
    removed: NDArray[np.float32]  # 0 for a cluster, infinite for a place that is gone

    def nearest_pair(self, path: list[int]) -> tuple[int, int]:
        """Walk to nearest neighbours until two are nearest to each other, and take them off the path."""
        while True:
            last = path[-1]
            row = self.distances[last] + self.removed
            near = int(row.argmin())
            # Of several equally near ones the walk goes back where it came from, or it might never end.
            if len(path) > 1 and row[path[-2]] <= row[near]:
                near = path[-2]
                del path[-2:]
                return min(last, near), max(last, near)
            path.append(near)

    def merge(self, low: int, high: int, kind: LinkageKind) -> None:
        """Put the merged cluster in the place of ``low`` and take ``high`` out."""
        distances, weights = self.distances, self.weights
        low_row, high_row = distances[low], distances[high]
        if kind == "ward":
            between = distances[low, high]
            merged = (weights[low] + weights) * low_row
            merged += (weights[high] + weights) * high_row
            merged -= weights * between
            merged /= weights[low] + weights[high] + weights
        else:
            merged = (weights[low] * low_row + weights[high] * high_row) / (weights[low] + weights[high])
        merged[low] = np.inf
        weights[low] += weights[high]
        distances[low] = merged
        distances[:, low] = merged
        self.removed[high] = np.inf

    def without_gone(self, path: list[int]) -> tuple[_ActiveClusters, list[int]]:
        """Move the clusters together, in the memory that they have, and find the path among them."""
        active = np.flatnonzero(self.removed == 0.0)
        for place, row in enumerate(active.tolist()):
            self.distances[place, : len(active)] = self.distances[row, active]
        distances = self.distances[: len(active), : len(active)]
        compact = _ActiveClusters(distances, self.weights[active], self.names[active], self.removed[active])
        return compact, np.searchsorted(active, path).tolist()


def _relabel(merges: Ints, heights: Floats, points: int) -> Linkage:
    """Order the merges by height and name their nodes; a merge is never below those inside it."""
    node, level = list(range(points)), [0.0] * points
    raised = np.empty(len(heights))
    for step, (low, high) in enumerate(merges.tolist()):
        raised[step] = max(float(heights[step]), level[low], level[high])
        level[low] = raised[step]
    order = np.argsort(raised, kind="stable")
    nodes = np.empty_like(merges)
    for place, (low, high) in enumerate(merges[order].tolist()):
        nodes[place] = sorted((node[low], node[high]))
        node[low] = points + place
    return Linkage(nodes, raised[order])


def join_linkages(parts: Sequence[Ints], inside: Sequence[Linkage], above: Linkage) -> Linkage:
    """Return one linkage of all points from those inside of parts and the one above the parts.

    ``parts`` are the points of every part, in the order of the nodes of its linkage.
    """
    merges, heights, standing = [], [], []
    for rows, linkage in zip(parts, inside, strict=True):
        pairs, last = _by_points(linkage)
        merges.append(rows[pairs])
        heights.append(linkage.heights)
        standing.append(rows[last])
    pairs, _ = _by_points(above)
    merges.append(np.array(standing)[pairs])
    heights.append(above.heights)
    return _relabel(np.concatenate(merges), np.concatenate(heights), sum(map(len, parts)))


def _by_points(linkage: Linkage) -> tuple[Ints, int]:
    """Return merges as pairs of points, the first of which stands for both from then on, and the last one."""
    points = list(range(len(linkage)))
    for first, _ in linkage.merges.tolist():
        points.append(points[first])
    return np.array(points)[linkage.merges], points[-1]


# --- a linkage of very many points ---


EXACT_ITEMS = 20_000
MICRO_CLUSTERS = 4000
_SKETCH = 128


def linkage_of(
    points: Floats,
    keys: rng.Keys,
    kind: Distance,
    *,
    exact: int = EXACT_ITEMS,
    micro: int = MICRO_CLUSTERS,
) -> Linkage:
    """Return the linkage of points: exact for up to ``exact`` of them, in two stages above.

    In two stages, k-means first makes about ``micro`` small clusters. Inside each the linkage is exact; above
    them it is the linkage of their centres, each standing for as many points as its cluster has (for Ward and
    for the mean cosine that is the distance of the clusters themselves). The tree is whole: it can be cut
    for any number of clusters.
    """
    grow = ward_linkage if kind == "ward" else cosine_linkage
    if len(points) <= exact:
        return grow(points)
    sketch = points
    if points.shape[1] > 2 * _SKETCH:
        # Fewer dimensions at about the same distances (Johnson and Lindenstrauss 1984).
        directions = rng.generator(0, "sketch").standard_normal((points.shape[1], _SKETCH))
        sketch = points @ directions / np.sqrt(_SKETCH)
    labels = micro_clusters(sketch, keys, micro)
    if labels.max() == 0:
        # Nothing tells the points apart: they merge one after the other, at height 0.
        nodes = np.arange(len(points) - 1)
        seconds = np.concatenate([[0], len(points) + nodes[:-1]])
        return Linkage(np.sort(np.stack([nodes + 1, seconds], axis=1), axis=1), np.zeros(len(nodes)))
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    inside = [linkage_of(points[rows], keys[rows], kind, exact=exact, micro=micro) for rows in parts]
    return join_linkages(parts, inside, grow(cluster_means(points, labels), sizes.astype(np.float64)))
