from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.choose.design import clusters
from sparingly.choose.design.clusters import cluster_means, kmeans, micro_clusters, nearest_centres, numbered


def blobs(count: int, clusters: int, spread: float = 0.05) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    drawn = np.random.default_rng(1)
    middles, labels = drawn.normal(size=(clusters, 5)), drawn.integers(clusters, size=count)
    return middles[labels] + spread * drawn.normal(size=(count, 5)), labels


def within(points: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(((points - cluster_means(points, labels)[labels]) ** 2).sum())


def test_clear_clusters_are_found() -> None:
    points, labels = blobs(400, 8)
    found = kmeans(points, 8, rng.generator(0, "test"))
    np.testing.assert_array_equal(found, numbered(labels))


def test_nothing_can_be_moved_to_a_nearer_centre() -> None:
    points, _ = blobs(300, 5, spread=1.0)
    found = kmeans(points, 12, rng.generator(3, "test"))
    np.testing.assert_array_equal(found, nearest_centres(points, cluster_means(points, found)))


def test_about_as_tight_as_scipys() -> None:
    from scipy.cluster.vq import kmeans2

    points, _ = blobs(300, 5, spread=1.0)
    theirs = [kmeans2(points, 12, minit="++", rng=seed)[1].astype(np.int64) for seed in range(10)]
    ours = [kmeans(points, 12, rng.generator(seed, "test")) for seed in range(10)]
    tight, known = (np.mean([within(points, one) for one in found]) for found in (ours, theirs))
    assert tight <= 1.01 * known


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 10**6))
def test_equal_points_share_a_cluster(count: int, clusters: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 2, (count, 2)).astype(np.float64)
    labels = kmeans(points, clusters, rng.generator(seed, "test"))
    distinct = len(np.unique(points, axis=0))
    if clusters >= count:
        assert labels.tolist() == list(range(count))
    else:
        assert labels.max() + 1 == min(clusters, distinct)
        for label in range(labels.max() + 1):
            assert clusters < distinct or len(np.unique(points[labels == label], axis=0)) == 1


def test_same_generator_same_clusters() -> None:
    points, _ = blobs(200, 5, spread=1.0)
    one, other = (kmeans(points, 9, rng.generator(5, "test")) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    points, _ = blobs(50, 4)
    whole = nearest_centres(points, points[:7])
    distances = ((points[:, None] - points[None, :7]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(whole, distances.argmin(axis=1))
    monkeypatch.setattr(clusters, "_BLOCK_CELLS", 20)
    np.testing.assert_array_equal(nearest_centres(points, points[:7]), whole)


def test_means_by_hand() -> None:
    points = np.array([[0.0], [2.0], [10.0]])
    labels = np.array([1, 1, 0])
    assert cluster_means(points, labels).tolist() == [[10.0], [1.0]]
    assert cluster_means(points, labels, np.array([[5.0], [5.0], [7.0]])).tolist() == [[10.0], [1.0], [7.0]]


def test_numbers_go_by_first_points() -> None:
    assert numbered(np.array([7, 2, 7, 9, 2])).tolist() == [0, 1, 0, 2, 1]


def test_micro_clusters_are_many_and_tight() -> None:
    points, _ = blobs(3000, 30)
    keys = rng.keys_of([str(place) for place in range(3000)])
    labels = micro_clusters(points, keys, 300)
    assert 200 < labels.max() < 400
    assert within(points, labels) < within(points, kmeans(points, 30, rng.generator(0, "test")))
    assert micro_clusters(np.ones((50, 2)), keys[:50], 10).max() == 0
    assert micro_clusters(points[:5], keys[:5], 1).shape == (5,)
