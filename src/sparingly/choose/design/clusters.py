"""Clusters of items: k-means on plain arrays, one item for every cluster, and ``kmeans``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.progress import report_progress
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector, file_stamp, remembered
from sparingly.choose.design.units import places_within, quotas
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import EMBEDDING_HELP, embed_outputs, embed_sources, embedding_fields

_MOST_ROUNDS = 100
_BLOCK_CELLS = 1 << 22
_RESTART_CELLS = 1 << 20
# Squared distances below this share of the largest length are rounding errors of points that are equal.
_EQUAL = 1e-12


def kmeans(points: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Return the cluster of every point after k-means from greedy k-means++ starts.

    Minimises Σ_i ‖x_i − c(x_i)‖² by Lloyd's rounds until nothing moves (at most 100 of them); where that
    takes no time, the best of up to ten runs. With fewer distinct points than clusters asked for, there are
    fewer clusters.
    """
    if count >= len(points):
        return np.arange(len(points))
    runs = min(10, max(1, _RESTART_CELLS // (points.size * count)))
    labelings = []
    for _ in range(runs):
        centres = points[_starts(points, count, generator)]
        labels = nearest_centres(points, centres)
        for _ in range(_MOST_ROUNDS):
            centres = cluster_means(points, labels, centres)
            moved = nearest_centres(points, centres)
            if np.array_equal(moved, labels):
                break
            labels = moved
        labelings.append(labels)
    if runs == 1:
        return numbered(labelings[0])
    gaps = (points - cluster_means(points, labels)[labels] for labels in labelings)
    # Sums of squares inside clusters, rounded so that their last bits choose nothing.
    spreads = [float(f"{np.einsum('ij,ij->', gap, gap):.9g}") for gap in gaps]
    return numbered(labelings[int(np.argmin(spreads))])


def _starts(points: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Draw starts by their squared distance to those before, the best of several tries each.

    "Greedy" k-means++ (Arthur and Vassilvitskii 2007): 2 + ln k tries, of which the one that leaves the
    smallest sum of squares is kept.
    """
    lengths = np.einsum("ij,ij->i", points, points)
    equal = _EQUAL * float(lengths.max(initial=0.0))
    tries = 2 + int(np.log(count))
    chosen = [int(generator.integers(len(points)))]
    distances = np.full((len(points), 1), np.inf)
    batch = np.array(chosen)
    while True:
        squares = points @ points[batch].T
        squares *= -2.0
        squares += lengths[:, None]
        squares += lengths[batch]
        squares[squares <= equal] = 0.0
        np.minimum(squares, distances, out=squares)
        sums = squares.sum(axis=0)
        best = int(sums.argmin())
        chosen[-1] = int(batch[best])
        distances = squares[:, best : best + 1].copy()
        report_progress(len(chosen), count)
        if len(chosen) == count or sums[best] == 0.0:
            return np.array(chosen)
        reach = np.cumsum(distances)
        batch = np.searchsorted(reach, generator.random(tries) * reach[-1], "right")
        batch = np.minimum(batch, len(points) - 1)
        chosen.append(-1)


def nearest_centres(points: Floats, centres: Floats) -> Ints:
    """Return the nearest centre of every point; of equally near ones the first."""
    halves = 0.5 * np.einsum("ij,ij->i", centres, centres)
    labels = np.empty(len(points), np.int64)
    step = max(1, _BLOCK_CELLS // len(centres))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        labels[block] = (halves - points[block] @ centres.T).argmin(axis=1)
    return labels


def cluster_means(points: Floats, labels: Ints, otherwise: Floats | None = None) -> Floats:
    """Return the mean of every cluster; one without points keeps what it had (0 unless given)."""
    count = int(labels.max()) + 1 if otherwise is None else len(otherwise)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=count)
    nonempty = np.flatnonzero(sizes)
    means = np.zeros((count, points.shape[1])) if otherwise is None else otherwise.copy()
    starts = (np.cumsum(sizes) - sizes)[nonempty]
    means[nonempty] = np.add.reduceat(points[order], starts, axis=0) / sizes[nonempty, None]
    return means


def numbered(labels: Ints) -> Ints:
    """Number clusters 0, 1 … by their first points, leaving out those without any."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def micro_clusters(points: Floats, keys: rng.Keys, count: int, rounds: int = 5) -> Ints:
    """Return about ``count`` tight clusters of very many points.

    Starts are drawn in few rounds, every point by itself with a probability proportional to its
    squared distance to the starts so far (k-means||, Bahmani et al. 2012), and settle in two of Lloyd's
    rounds. Draws depend on the keys of the points.
    """
    distances = np.full(len(points), 1.0)
    centres = points[:0]
    for step in range(rounds):
        chances = count / rounds * distances / max(float(distances.sum()), np.finfo(float).tiny)
        fresh = points[rng.uniforms(keys, step, "micro clusters") < chances]
        if len(fresh):
            gaps = points - fresh[nearest_centres(points, fresh)]
            squares = np.asarray(np.einsum("ij,ij->i", gaps, gaps))
            distances = squares if not len(centres) else np.minimum(distances, squares)
            centres = np.concatenate([centres, fresh])
    if not len(centres):
        centres = points[:1]
    labels = nearest_centres(points, centres)
    for _ in range(2):
        labels = numbered(labels)
        labels = nearest_centres(points, cluster_means(points, labels))
    return numbered(labels)


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
    missing: Ints  # candidates that have no vector


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
    extra = points.missing[np.argsort(rng.stream(data.keys[points.missing], seed, "ties"))][: count - inside]
    sizes = np.concatenate([sizes, np.ones(len(extra))])
    reasons = [
        f"{_REASONS[representative]} a cluster of {size:.4g} item{'' if size == 1 else 's'}"
        for size in sizes[:inside]
    ]
    missing, population = len(points.missing), len(points.rows) + len(points.missing)
    note = f"{missing} of {population} items have no vector to be clustered by and come last."
    return Chosen(
        rows=np.concatenate([points.rows[picked], extra]),
        cluster_weight=sizes if weighted else None,
        reasons=np.array(reasons + ["no vector to be clustered by"] * len(extra), object),
        notes=(note,) if missing else (),
    )


def choose_nearest(
    data: EvalSet, points: Points, count: int, purpose: str, *, weighted: bool, seed: int
) -> Chosen:
    """Choose the items nearest to the centres of so many clusters by k-means."""

    def clusters(inside: int) -> Ints:
        return kmeans(points.vectors, inside, rng.generator(seed, purpose))

    return choose_by_clusters(
        data, points, count, clusters, representative="euclidean", weighted=weighted, seed=seed
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
    seats = 1.0 + quotas(count - len(sizes), sizes - 1.0, sizes - 1.0, integral=True)
    ties = rng.stream(keys, seed, "representatives")
    order = np.lexsort((ties, -rng.round_to_range(_preference(vectors, labels, how)), labels))
    picked = order[places_within(sizes.astype(np.int64)) < seats[labels[order]]]
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
    has_direction = norms > _TINY * norms.max(initial=0.0)
    return np.asarray(np.divide(products, norms, out=np.zeros(len(vectors)), where=has_direction))


def indices_of(has_vector: NDArray[np.bool_], candidates: Ints, noun: str) -> tuple[Ints, Ints]:
    """Return the candidates that have a vector and those that have none; none at all with one is an error."""
    if not has_vector[candidates].any():
        raise DataError(f"No item has {noun}, so nothing distinguishes the items.")
    return candidates[has_vector[candidates]], candidates[~has_vector[candidates]]


@register("kmeans")
@dataclass(frozen=True)
class KMeans(WholeSetSelector):
    """Clusters the items by their texts and takes the item nearest to the centre of every cluster.

    min Σ_i ‖e_i − c(e_i)‖² with k = the budget, e the embedding of the source, of one output (of ``model``,
    or of one drawn for every item), or the mean over the outputs. With ``weighted`` the chosen items carry
    the sizes of their clusters as weights, by which rankings can be computed; they are no design weights,
    and the result has no inclusion probabilities: it is for rankings only.

    Choose it to cover many topics when nothing but sources is known. Weighting was worse there.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    features: Literal["source", "output", "output_mean"] = parameter("source", "what is embedded")
    weighted: bool = parameter(False, "whether items carry the sizes of their clusters as weights")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)
    model: str | None = parameter(
        None, "with features=output: whose outputs; one drawn per item unless given"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is not None and self.features != "output":
            raise UsageError("The parameter model of kmeans goes with features=output.")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources or the outputs, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=self.features != "source")

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Cluster the candidates and take the item nearest to every centre."""
        count, stamp = self.count(budget, candidates), file_stamp(self.embedding)
        if self.features == "source":
            key, noun = ("sources", self.embedding, stamp), "a source"
            vectors, has_vector = remembered(data, key, lambda: embed_sources(data, self.embedding))
        else:
            key, noun = ("outputs", self.embedding, stamp), "an output"
            embedded = remembered(data, key, lambda: embed_outputs(data, self.embedding))
            shares = self._shares(data, embedded.present, seed)
            vectors = np.einsum("ij,ijd->id", shares, embedded.vectors)
            has_vector = np.asarray(shares.any(axis=1))
        rows, missing = indices_of(has_vector, candidates, noun)
        points = Points(vectors[rows], rows, missing)
        return choose_nearest(data, points, count, "kmeans", weighted=self.weighted, seed=seed)

    def _shares(self, data: EvalSet, present: NDArray[np.bool_], seed: int) -> Floats:
        """Return how much every output counts (items × models)."""
        counts = present.sum(axis=1, keepdims=True)
        if self.features == "output_mean":
            return np.asarray(present / np.maximum(counts, 1))
        if self.model is not None:
            if self.model not in data.models:
                raise UnknownNameError("model", self.model, data.models)
            return np.asarray(present * (np.array(data.models) == self.model), np.float64)
        position = rng.uniforms(data.keys, seed, "output of kmeans")[:, None] * counts
        # The n-th of the outputs that are there.
        return np.asarray(present & (np.cumsum(present, axis=1) == np.floor(position) + 1), np.float64)
