"""A pool spread out in the space of its embeddings: clusters of clusters, and a path through them.

A subsample that a hash of the ids takes is clustered (k-means), and every cluster once more. The leaves of
that tree stand along a path on which neighbours are near: first the clusters, then the leaves of each. Every
source belongs to the leaf that it is nearest to. A draw along that list, in a leaf by the hashes of the ids,
takes of every stretch of it as many sources as their inclusion probabilities add up to, up to one at either
end: so the sample is spread as the pool is, and the probabilities are exactly those that were asked for,
whatever the clusters.

Centres are rounded to half precision, so that distances are exact and the leaf of a source is the same
whatever part it is in and whichever worker looks at it. The tree depends neither on the seed nor on files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.choose.design.centres import cluster_means, kmeans, nearest_centres
from sparingly.choose.pool.frame import Frame
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.vectors import over_vectors, vectors_at

CLUSTERS = 1024
_PURPOSE = "spread"
_FEWEST, _PER_LEAF = 8_192, 16
_BLOCK = 2**15


@dataclass(frozen=True, eq=False)
class Tree:
    """Clusters along a path, and the centres of the leaves of each of them along the rest of it."""

    clusters: Floats
    leaves: tuple[Floats, ...]

    @property
    def starts(self) -> Ints:
        """The number of the first leaf of every cluster."""
        counts = np.array([len(inside) for inside in self.leaves], np.int64)
        return np.cumsum(counts) - counts


def leaves_of(pool: ScoredPool, frame: Frame, count: int = CLUSTERS) -> Ints:
    """Return the leaf of every source, numbered along the path; there are about ``count`` of them."""
    if count < 2:
        raise UsageError(f"There are 2 clusters or more, not {count}.")
    tree = planted(vectors_at(pool, frame.place[_sample(frame, count)]).astype(np.float64), count)
    return np.asarray(over_vectors(pool, nearest_leaves, tree)[frame.place], np.int64)


def clusters_of(pool: ScoredPool, frame: Frame, count: int) -> Ints:
    """Return the cluster of every source, of ``count`` without any further level."""
    if count < 2:
        raise UsageError(f"There are 2 clusters or more, not {count}.")
    points = vectors_at(pool, frame.place[_sample(frame, count)]).astype(np.float64)
    tree = Tree(_centres(points, count), ())
    return np.asarray(over_vectors(pool, nearest_clusters, tree)[frame.place], np.int64)


def _sample(frame: Frame, count: int) -> Ints:
    """Return the sources whose ids have the lowest hashes, in their order, enough of them to cluster."""
    hashes = rng.stream(frame.key, 0, _PURPOSE)
    most = min(len(frame), max(_FEWEST, _PER_LEAF * count))
    lowest = np.argpartition(hashes, most - 1)[:most]
    return np.asarray(lowest[np.argsort(hashes[lowest], kind="stable")])


def planted(points: Floats, count: int) -> Tree:
    """Return the tree of some points: √count clusters, each with leaves by its share of the points."""
    clusters = _centres(points, max(1, round(np.sqrt(count))))
    own = nearest_centres(points, clusters)
    sizes = np.bincount(own, minlength=len(clusters))
    leaves, end = [], clusters[0]
    for place, size in enumerate(sizes.tolist()):
        wanted = max(1, round(count * size / len(points)))
        inside = _centres(points[own == place], wanted, end) if size else clusters[place : place + 1]
        leaves.append(inside)
        end = inside[-1]
    return Tree(clusters, tuple(leaves))


def _centres(points: Floats, count: int, start: Floats | None = None) -> Floats:
    """Return the centres of k-means in half precision, along a path from the one nearest to ``start``."""
    labels = kmeans(points, count, rng.generator(0, _PURPOSE))
    centres = np.unique(cluster_means(points, labels).astype(np.float16).astype(np.float64), axis=0)
    return centres[_path(centres, start)]


def _path(points: Floats, start: Floats | None) -> Ints:
    """Return an order in which each point is followed by the nearest one that is left.

    It begins at the point nearest to ``start``, or at the one farthest from the middle.
    """
    if start is None:
        first = int(_squares(points, points.mean(axis=0)).argmax())
    else:
        first = int(_squares(points, start).argmin())
    order, left = [first], np.ones(len(points), bool)
    left[first] = False
    while left.any():
        rows = np.flatnonzero(left)
        nearest = int(rows[_squares(points[rows], points[order[-1]]).argmin()])
        order.append(nearest)
        left[nearest] = False
    return np.array(order)


def _squares(points: Floats, other: Floats) -> Floats:
    gaps = points - other
    return np.asarray(np.einsum("ij,ij->i", gaps, gaps))


def nearest_clusters(vectors: NDArray[np.float16], tree: Tree) -> NDArray[np.int32]:
    """Return the nearest cluster of every vector."""
    found = np.empty(len(vectors), np.int32)
    for start in range(0, len(vectors), _BLOCK):
        block = slice(start, start + _BLOCK)
        found[block] = nearest_centres(vectors[block].astype(np.float64), tree.clusters)
    return found


def nearest_leaves(vectors: NDArray[np.float16], tree: Tree) -> NDArray[np.int32]:
    """Return the leaf of every vector: the nearest one in the nearest cluster."""
    own = nearest_clusters(vectors, tree)
    found, starts = np.empty(len(vectors), np.int32), tree.starts
    for place in np.unique(own).tolist():
        rows = np.flatnonzero(own == place)
        inside = np.asarray(vectors[rows], np.float64)
        found[rows] = starts[place] + nearest_centres(inside, tree.leaves[place])
    return found
