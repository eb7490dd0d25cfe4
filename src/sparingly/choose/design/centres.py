"""k-means on plain arrays: centres, and the nearest centre of every point."""

from __future__ import annotations

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints

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
    found = [_settled(points, count, generator) for _ in range(runs)]
    spreads = [_spread(points, labels) for labels in found] if runs > 1 else [0.0]
    return numbered(found[int(np.argmin(spreads))])


def _spread(points: Floats, labels: Ints) -> float:
    """Return the sum of squares inside clusters, rounded so that its last bits choose nothing."""
    gaps = points - cluster_means(points, labels)[labels]
    return float(f"{np.einsum('ij,ij->', gaps, gaps):.9g}")


def _settled(points: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Return clusters from one draw of starts."""
    centres = points[_starts(points, count, generator)]
    labels = nearest_centres(points, centres)
    for _ in range(_MOST_ROUNDS):
        centres = cluster_means(points, labels, centres)
        moved = nearest_centres(points, centres)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def _starts(points: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Draw starts by their squared distance to those before, the best of several tries each.

    "Greedy" k-means++ (Arthur and Vassilvitskii 2007): 2 + ln k tries, of which the one that leaves the
    smallest sum of squares is kept.
    """
    lengths = np.einsum("ij,ij->i", points, points)
    equal = _EQUAL * float(lengths.max(initial=0.0))
    tries = 2 + int(np.log(count))
    chosen = [int(generator.integers(len(points)))]
    left = np.full((len(points), 1), np.inf)
    drawn = np.array(chosen)
    while True:
        squares = points @ points[drawn].T
        squares *= -2.0
        squares += lengths[:, None]
        squares += lengths[drawn]
        squares[squares <= equal] = 0.0
        np.minimum(squares, left, out=squares)
        sums = squares.sum(axis=0)
        best = int(sums.argmin())
        chosen[-1] = int(drawn[best])
        left = squares[:, best : best + 1].copy()
        if len(chosen) == count or sums[best] == 0.0:
            return np.array(chosen)
        reach = np.cumsum(left)
        drawn = np.searchsorted(reach, generator.random(tries) * reach[-1], "right")
        drawn = np.minimum(drawn, len(points) - 1)
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
    used = np.flatnonzero(sizes)
    means = np.zeros((count, points.shape[1])) if otherwise is None else otherwise.copy()
    starts = (np.cumsum(sizes) - sizes)[used]
    means[used] = np.add.reduceat(points[order], starts, axis=0) / sizes[used, None]
    return means


def numbered(labels: Ints) -> Ints:
    """Number clusters 0, 1 … by their first points, leaving out those without any."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def micro_clusters(points: Floats, keys: rng.Keys, count: int, rounds: int = 5) -> Ints:
    """Return about ``count`` tight clusters of very many points.

    Starts are drawn in few rounds, every point by itself with a chance that follows its squared distance to
    the starts so far (k-means||, Bahmani et al. 2012), and settle in two of Lloyd's rounds. Draws hang on
    the keys of the points.
    """
    left = np.full(len(points), 1.0)
    centres = points[:0]
    for step in range(rounds):
        chances = count / rounds * left / max(float(left.sum()), np.finfo(float).tiny)
        fresh = points[rng.uniforms(keys, step, "micro clusters") < chances]
        if len(fresh):
            squares = _squares_to_nearest(points, fresh)
            left = squares if not len(centres) else np.minimum(left, squares)
            centres = np.concatenate([centres, fresh])
    if not len(centres):
        centres = points[:1]
    labels = nearest_centres(points, centres)
    for _ in range(2):
        labels = numbered(labels)
        labels = nearest_centres(points, cluster_means(points, labels))
    return numbered(labels)


def _squares_to_nearest(points: Floats, centres: Floats) -> Floats:
    gaps = points - centres[nearest_centres(points, centres)]
    return np.asarray(np.einsum("ij,ij->i", gaps, gaps))
