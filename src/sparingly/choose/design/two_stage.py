"""A linkage of very many points: small clusters first, then the linkage of their centres."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.choose.design.centres import cluster_means, micro_clusters
from sparingly.choose.design.linkage import Linkage, cosine_linkage, joined, ward_linkage

Kind = Literal["ward", "cosine"]

EXACT_ITEMS = 20_000
MICRO_CLUSTERS = 4000
_SKETCH = 128


def linkage_of(
    points: Floats,
    keys: rng.Keys,
    kind: Kind,
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
    labels = micro_clusters(_sketch(points), keys, micro)
    if labels.max() == 0:
        return _all_equal(len(points))
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    inside = [linkage_of(points[rows], keys[rows], kind, exact=exact, micro=micro) for rows in parts]
    return joined(parts, inside, grow(cluster_means(points, labels), sizes.astype(np.float64)))


def _sketch(points: Floats) -> Floats:
    """Return points of fewer dimensions at about the same distances (Johnson and Lindenstrauss 1984)."""
    if points.shape[1] <= 2 * _SKETCH:
        return points
    directions = rng.generator(0, "sketch").standard_normal((points.shape[1], _SKETCH))
    return np.asarray(points @ directions / np.sqrt(_SKETCH))


def _all_equal(count: int) -> Linkage:
    """Return the linkage of points that nothing tells apart: one after the other, at height 0."""
    nodes = np.arange(count - 1)
    others = np.concatenate([[0], count + nodes[:-1]])
    return Linkage(np.sort(np.stack([nodes + 1, others], axis=1), axis=1), np.zeros(count - 1))
