from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage

from sparingly.base.arrays import Ints
from sparingly.published import linkage as module
from sparingly.published.linkage import (
    Linkage,
    LinkageKind,
    chain,
    cosine_linkage,
    distance_matrix,
    join_linkages,
    ward_linkage,
)


def points(count: int, dimensions: int = 6, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, dimensions))


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def same_clusters(one: Ints, other: NDArray[np.integer[Any]]) -> bool:
    both = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(both) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize("count", [2, 3, 17, 120])
def test_ward_is_scipys(count: int) -> None:
    ours, theirs = ward_linkage(points(count)), scipy_linkage(points(count), "ward")
    np.testing.assert_allclose(ours.heights, theirs[:, 2], rtol=1e-4)
    for clusters in range(1, count + 1):
        assert same_clusters(ours.cut(clusters), fcluster(theirs, clusters, "maxclust"))


@pytest.mark.parametrize("count", [2, 3, 17, 120])
def test_average_cosine_is_scipys(count: int) -> None:
    ours = cosine_linkage(unit(points(count)))
    theirs = scipy_linkage(points(count), "average", "cosine")
    np.testing.assert_allclose(ours.heights, theirs[:, 2], rtol=1e-4)
    for clusters in range(1, count + 1):
        assert same_clusters(ours.cut(clusters), fcluster(theirs, clusters, "maxclust"))


@pytest.mark.parametrize("kind", ["ward", "average"])
@given(st.integers(2, 40), st.integers(0, 10**6))
def test_moving_clusters_together_changes_nothing(kind: LinkageKind, count: int, seed: int) -> None:
    # Whole numbers: many ties, whose order must be kept.
    drawn = np.random.default_rng(seed).integers(0, 4, (count, 2)).astype(np.float64)
    moved = chain(distance_matrix(drawn, "ward"), np.ones(count), kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._ActiveClusters, "without_gone", lambda left, path: (left, path))
        stayed = chain(distance_matrix(drawn, "ward"), np.ones(count), kind)
    np.testing.assert_array_equal(moved.merges, stayed.merges)
    np.testing.assert_array_equal(moved.heights, stayed.heights)


def test_a_point_that_stands_for_many_is_many_equal_points() -> None:
    sizes = np.array([5, 1, 3, 2, 1, 7, 4, 1])
    few = points(8)
    weighted, repeated = (
        ward_linkage(few, sizes.astype(np.float64)),
        ward_linkage(np.repeat(few, sizes, axis=0)),
    )
    np.testing.assert_allclose(weighted.heights, repeated.heights[-7:], rtol=1e-4)
    assert not repeated.heights[:-7].any()
    for clusters in range(1, 9):
        assert same_clusters(np.repeat(weighted.cut(clusters), sizes), repeated.cut(clusters))


def test_means_of_unit_vectors_keep_the_mean_cosine() -> None:
    groups = np.repeat(np.arange(6), 4)
    many = unit(points(6)[groups] + 0.05 * points(24, seed=1))
    means = np.array([many[groups == group].mean(axis=0) for group in range(6)])
    whole = cosine_linkage(many)
    np.testing.assert_allclose(cosine_linkage(means, np.full(6, 4.0)).heights, whole.heights[-5:], rtol=1e-4)


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_any_cut_has_exactly_as_many_clusters(count: int, seed: int) -> None:
    # Whole numbers in few dimensions: many ties and equal points.
    drawn = np.random.default_rng(seed).integers(0, 3, (count, 2)).astype(np.float64)
    tree = ward_linkage(drawn)
    assert len(tree) == count
    assert (np.diff(tree.heights) >= 0).all()
    before = tree.cut(1)
    for clusters in range(1, count + 1):
        labels = tree.cut(clusters)
        assert sorted(set(labels.tolist())) == list(range(clusters))
        firsts = [int(np.argmax(labels == label)) for label in range(clusters)]
        assert firsts == sorted(firsts), "numbered by their first points"
        assert len(set(zip(before.tolist(), labels.tolist(), strict=True))) == clusters, "cuts are nested"
        before = labels


def test_cuts_by_hand() -> None:
    tree = ward_linkage(np.array([[0.0], [10.0], [0.1], [10.3], [30.0]]))
    assert tree.cut(2).tolist() == [0, 0, 0, 0, 1]
    assert tree.cut(3).tolist() == [0, 1, 0, 1, 2]
    assert tree.cut(5).tolist() == [0, 1, 2, 3, 4]
    assert tree.merges[:2].tolist() == [[0, 2], [1, 3]]


def test_equal_points_are_at_exactly_no_distance() -> None:
    many = np.repeat(points(5, 40) * 1e3, 3, axis=0)
    squares = distance_matrix(many, "ward")
    same = np.repeat(np.arange(5), 3)[:, None] == np.repeat(np.arange(5), 3)
    assert not squares[same].any()
    assert (squares[~same] > 0).all()


def test_distances_of_blocks_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = distance_matrix(points(23), "ward")
    monkeypatch.setattr(module, "_BLOCK", 5)
    blocks = distance_matrix(points(23), "ward")
    np.testing.assert_allclose(blocks, whole, atol=1e-5)
    np.testing.assert_array_equal(blocks, blocks.T)


def test_linkages_of_parts_are_joined() -> None:
    near = np.concatenate([points(7), 100 + points(5, seed=1), 1000 + points(1, seed=2)])
    order = np.random.default_rng(3).permutation(13)
    places = np.argsort(order)
    parts = [places[:7], places[7:12], places[12:]]
    inside = [ward_linkage(near[order][rows]) for rows in parts]
    means = np.array([near[order][rows].mean(axis=0) for rows in parts])
    tree = join_linkages(parts, inside, ward_linkage(means, np.array([7.0, 5.0, 1.0])))
    whole = ward_linkage(near[order])
    np.testing.assert_allclose(tree.heights, whole.heights, rtol=1e-3)
    for clusters in range(1, 14):
        np.testing.assert_array_equal(tree.cut(clusters), whole.cut(clusters))


def test_a_merge_is_never_below_those_inside_it() -> None:
    inside = Linkage(np.array([[0, 1]]), np.array([5.0]))
    tree = join_linkages(
        [np.array([0, 1]), np.array([2])],
        [inside, _one_point()],
        Linkage(np.array([[0, 1]]), np.array([1.0])),
    )
    assert tree.heights.tolist() == [5.0, 5.0]
    assert tree.cut(2).tolist() == [0, 0, 1]


def _one_point() -> Linkage:
    return Linkage(np.empty((0, 2), np.int64), np.empty(0))
