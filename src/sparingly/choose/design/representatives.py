"""One item for every cluster: who represents it, and for how many it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.centres import cluster_means
from sparingly.choose.design.units import quotas
from sparingly.data.evalset import EvalSet

Representative = Literal["cosine", "euclidean", "norm", "random"]
_TINY = 1e-12
_REASONS = {
    "cosine": "nearest to the centre of",
    "euclidean": "nearest to the centre of",
    "norm": "the largest vector of",
    "random": "drawn from",
}


@dataclass(frozen=True, eq=False)
class Points:
    """A vector for every candidate item that has one."""

    vectors: Floats
    rows: Ints  # the items that the vectors are of
    without: Ints  # candidates that have no vector


def choose_by_clusters(
    data: EvalSet,
    points: Points,
    count: int,
    clusters: Callable[[int], Ints],
    *,
    representative: Representative,
    weighted: bool,
    seed: int,
) -> Chosen:
    """Choose one item for each of ``count`` clusters; items without a vector come last."""
    inside = min(count, len(points.rows))
    keys = data.keys[points.rows]
    labels = clusters(inside) if inside else np.empty(0, np.int64)
    picked, sizes = represent(points.vectors, labels, inside, representative, keys, seed)
    extra = points.without[np.argsort(rng.stream(data.keys[points.without], seed, "ties"))][: count - inside]
    sizes = np.concatenate([sizes, np.ones(len(extra))])
    notes: tuple[str, ...] = ()
    if len(points.without):
        of = len(points.rows) + len(points.without)
        notes = (f"{len(points.without)} of {of} items have no vector to be clustered by and come last.",)
    return Chosen(
        rows=np.concatenate([points.rows[picked], extra]),
        cluster_weight=sizes if weighted else None,
        reasons=np.array(
            [
                f"{_REASONS[representative]} a cluster of {size:.4g} item{'' if size == 1 else 's'}"
                for size in sizes[:inside]
            ]
            + ["no vector to be clustered by"] * len(extra),
            object,
        ),
        notes=notes,
    )


def represent(
    vectors: Floats, labels: Ints, count: int, how: Representative, keys: rng.Keys, seed: int
) -> tuple[Ints, Floats]:
    """Return ``count`` points that represent the clusters, and for how many points each of them stands.

    Those that stand for most come first. With fewer clusters than points asked for (many points are equal)
    the larger ones get several representatives, which share the cluster's points.
    """
    if not count:
        return np.empty(0, np.int64), np.empty(0)
    sizes = np.bincount(labels).astype(np.float64)
    seats = 1.0 + quotas(count - len(sizes), sizes - 1.0, sizes - 1.0, whole=True)
    ties = rng.stream(keys, seed, "representatives")
    order = np.lexsort((ties, -rng.round_to_range(_preference(vectors, labels, how)), labels))
    places = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes.astype(np.int64))
    picked = order[places < seats[labels[order]]]
    stands_for = (sizes / seats)[labels[picked]]
    largest_first = np.lexsort((ties[picked], -stands_for))
    return picked[largest_first], stands_for[largest_first]


def _preference(vectors: Floats, labels: Ints, how: Representative) -> Floats:
    """Return how well every point represents its cluster; equal for all where chance decides."""
    if how == "random":
        return np.zeros(len(vectors))
    if how == "norm":
        return np.asarray(np.linalg.norm(vectors, axis=1))
    centres = cluster_means(vectors, labels)
    if how == "euclidean":
        gaps = vectors - centres[labels]
        return np.asarray(-np.linalg.norm(gaps, axis=1))
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(centres, axis=1)[labels]
    products = np.einsum("ij,ij->i", vectors, centres[labels])
    # A vector of 0 has no direction, and is as near to a centre as one at right angles.
    known = norms > _TINY * norms.max(initial=0.0)
    return np.asarray(np.divide(products, norms, out=np.zeros(len(vectors)), where=known))


def indices_of(there: NDArray[np.bool_], candidates: Ints, what: str) -> tuple[Ints, Ints]:
    """Return the candidates that have a vector and those that have none; none at all with one is an error."""
    if not there[candidates].any():
        raise DataError(f"No item has {what}, so the items cannot be told from one another.")
    return candidates[there[candidates]], candidates[~there[candidates]]
