from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.choose.design.clusters import cluster_means
from sparingly.published.linkage import EXACT_ITEMS, linkage_of


def keys(count: int) -> rng.Keys:
    return rng.keys_of([f"item {place}" for place in range(count)])


def blobs(count: int, clusters: int, dimensions: int = 20, spread: float = 0.3) -> Floats:
    drawn = np.random.default_rng(4)
    centres = drawn.normal(size=(clusters, dimensions))
    return np.asarray(
        centres[drawn.integers(clusters, size=count)] + spread * drawn.normal(size=(count, dimensions))
    )


def within(points: Floats, labels: NDArray[np.int64]) -> float:
    """The sum of squares inside clusters, which Ward's linkage keeps small."""
    return float(((points - cluster_means(points, labels)[labels]) ** 2).sum())


def rand_index(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The share of pairs of points on which two clusterings agree, corrected for chance."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    both, rows, columns = (
        (counts * (counts - 1) / 2).sum() for counts in (table, table.sum(0), table.sum(1))
    )
    chance = rows * columns / (len(one) * (len(one) - 1) / 2)
    return float((both - chance) / ((rows + columns) / 2 - chance))


@pytest.mark.parametrize("kind", ["ward", "cosine"])
def test_where_there_are_clusters_both_forms_find_them(kind: str) -> None:
    points = blobs(1500, 40)
    if kind == "cosine":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    exact = linkage_of(points, keys(1500), kind)  # type: ignore[arg-type]
    staged = linkage_of(points, keys(1500), kind, exact=700, micro=300)  # type: ignore[arg-type]
    assert rand_index(exact.cut(40), staged.cut(40)) > 0.98
    for clusters in (1, 7, 100, 1000, 1500):
        assert staged.cut(clusters).max() == clusters - 1


@pytest.mark.parametrize("dimensions", [20, 600])
def test_without_clusters_the_two_forms_are_about_as_tight(dimensions: int) -> None:
    points = np.random.default_rng(5).normal(size=(1500, dimensions)) / (1 + np.arange(dimensions))
    exact = linkage_of(points, keys(1500), "ward")
    staged = linkage_of(points, keys(1500), "ward", exact=700, micro=300)
    for clusters in (5, 20, 50, 200):
        assert within(points, staged.cut(clusters)) < 1.12 * within(points, exact.cut(clusters))


def test_mostly_equal_points_are_no_trouble() -> None:
    points = np.zeros((900, 3))
    points[:100] = np.random.default_rng(6).normal(size=(100, 3))
    staged = linkage_of(points, keys(900), "ward", exact=300, micro=60)
    labels = staged.cut(50)
    assert labels.max() == 49
    assert len(set(labels[100:].tolist())) == 1
    alike = linkage_of(points[100:], keys(800), "ward", exact=300, micro=60)
    assert not alike.heights.any()
    assert alike.cut(17).max() == 16


def test_order_of_points_changes_nothing() -> None:
    points, ids = blobs(900, 20), keys(900)
    order = np.random.default_rng(7).permutation(900)
    forth = linkage_of(points, ids, "ward", exact=300, micro=90).cut(20)
    back = linkage_of(points[order], ids[order], "ward", exact=300, micro=90).cut(20)
    assert rand_index(forth[order], back) > 0.999


def test_the_limit_is_the_documented_one() -> None:
    assert EXACT_ITEMS == 20_000
