from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.ashury.sets import representatives
from sparingly.base import rng
from sparingly.choose.design.clusters import represent
from sparingly.published.diffuse_iterative import SplitTree
from sparingly.published.linkage import ward_linkage


def tree_of(points: int, seed: int = 0, dimensions: int = 4) -> SplitTree:
    vectors = np.random.default_rng(seed).normal(size=(points, dimensions))
    keys = rng.keys_of([f"i{place}" for place in range(points)])
    return SplitTree(ward_linkage(vectors), vectors, keys, seed)


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_first_picks_are_those_of_one_item_per_cluster(count: int) -> None:
    tree = tree_of(30)
    labels = tree.linkage.cut(count)
    picked, _ = represent(tree.vectors, labels, count, "cosine", tree.keys, tree.seed)
    assert sorted(tree.steps(count)[0].new_points) == sorted(picked.tolist())


@settings(max_examples=30)
@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 5))
def test_every_point_is_asked_for_once_and_the_vote_has_one_of_each_cluster(
    points: int, first: int, seed: int
) -> None:
    tree = tree_of(points, seed)
    steps = tree.steps(first)
    asked = [point for step in steps for point in step.new_points]
    assert len(asked) == len(set(asked))
    standing: set[int] = set()
    for place, step in enumerate(steps):
        if step.dropped is not None:
            standing.remove(step.dropped)
        standing |= set(step.new_points)
        count = min(first, points) + place
        labels = tree.linkage.cut(count)
        # As long as every cluster has a point that nobody asked for, each has exactly one in the vote.
        if len(step.new_points) == 2 or place == 0:
            assert len(standing) <= count
            assert len({int(labels[point]) for point in standing}) == len(standing)


def test_a_split_asks_for_two_new_points_and_drops_the_parents() -> None:
    steps = tree_of(60).steps(5)
    assert [len(step.new_points) for step in steps[:4]] == [5, 2, 2, 2]
    first = set(steps[0].new_points)
    assert steps[1].dropped in first
    assert not set(steps[1].new_points) & first


def test_equal_points_are_no_trouble() -> None:
    vectors = np.zeros((6, 3))
    tree = SplitTree(ward_linkage(vectors), vectors, rng.keys_of(list("abcdef")))
    assert sorted(point for step in tree.steps(2) for point in step.new_points) == list(range(6))


def test_representatives_of_ever_more_clusters_are_those_of_each_cut() -> None:
    tree = tree_of(40)
    standing: list[int] = []
    for count, (left, joined) in enumerate(representatives(tree, 12), start=1):
        if left is not None:
            standing.remove(left)
        standing += joined
        picked, _ = represent(tree.vectors, tree.linkage.cut(count), count, "cosine", tree.keys, tree.seed)
        assert sorted(standing) == sorted(picked.tolist())
    assert count == 12


def test_steps_end_where_enough_was_asked_for() -> None:
    tree = tree_of(40)
    some, every = tree.steps(5, 11), tree.steps(5)
    assert sum(len(step.new_points) for step in some) == 11
    assert some == every[: len(some)]
