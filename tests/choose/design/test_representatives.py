from __future__ import annotations

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.choose.design.clusters import Points, choose_by_clusters, represent
from sparingly.data.evalset import EvalSet

# Two clusters on a line through (10, 0), and one far off.
VECTORS = np.array([[8.0, 0.0], [10.0, 1.0], [13.0, 0.0], [0.0, 5.0], [0.0, 5.5], [-20.0, 0.0]])
LABELS = np.array([0, 0, 0, 1, 1, 2])
KEYS = rng.keys_of([f"item {place}" for place in range(6)])


@pytest.mark.parametrize(
    ("how", "expected"), [("euclidean", {1, 5}), ("cosine", {5}), ("norm", {2, 4, 5}), ("random", {5})]
)
def test_representatives_by_hand(how: str, expected: set[int]) -> None:
    picked, stands_for = represent(VECTORS, LABELS, 3, how, KEYS, 0)  # type: ignore[arg-type]
    assert sorted(LABELS[picked].tolist()) == [0, 1, 2]
    assert stands_for.tolist() == [3.0, 2.0, 1.0]
    assert expected <= set(picked.tolist())
    if how == "cosine":
        # The mean of the first cluster is (31/3, 1/3): its angle is nearest to 0.
        assert picked[0] in (0, 2)


def test_ties_are_settled_by_the_seed() -> None:
    same, labels = np.ones((6, 2)), np.zeros(6, np.int64)
    picks = {int(represent(same, labels, 1, "cosine", KEYS, seed)[0][0]) for seed in range(30)}
    assert picks == set(range(6))


def test_large_clusters_of_equal_points_get_several() -> None:
    labels = np.array([0, 0, 0, 0, 0, 1])
    picked, stands_for = represent(np.ones((6, 2)), labels, 3, "euclidean", KEYS, 0)
    assert len(set(picked.tolist())) == 3
    assert sorted(stands_for.tolist()) == [1.0, 2.5, 2.5]
    everything, ones = represent(np.ones((6, 2)), labels, 6, "euclidean", KEYS, 0)
    assert sorted(everything.tolist()) == list(range(6))
    assert ones.tolist() == [1.0] * 6


def test_vectors_of_zero_have_no_direction() -> None:
    vectors = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    picked, _ = represent(vectors, np.array([0, 0, 0, 0, 1, 1]), 2, "cosine", KEYS, 0)
    assert sorted(picked.tolist())[0] in (1, 2)
    assert sorted(picked.tolist())[1] in (4, 5)


def test_items_without_a_vector_come_last() -> None:
    data = EvalSet.from_arrays([f"item {place}" for place in range(6)], ["m"])
    points = Points(VECTORS[:4], np.array([0, 1, 2, 5]), np.array([3, 4]))
    for count, weights in ((2, [3.0, 1.0]), (4, [1.0] * 4), (5, [1.0] * 5), (6, [1.0] * 6)):
        chosen = choose_by_clusters(
            data,
            points,
            count,
            lambda inside: np.array([0, 0, 0, 1]) if inside == 2 else np.arange(inside),
            representative="euclidean",
            weighted=True,
            seed=0,
        )
        assert chosen.cluster_weight is not None
        assert chosen.cluster_weight.tolist() == weights
        assert set(chosen.rows[:4].tolist()) <= {0, 1, 2, 5}
        assert set(chosen.rows[4:].tolist()) <= {3, 4}
        assert len(set(chosen.rows.tolist())) == count
        assert chosen.notes == ("2 of 6 items have no vector to be clustered by and come last.",)


def test_sets_without_any_vector_are_drawn_from() -> None:
    data = EvalSet.from_arrays([f"item {place}" for place in range(6)], ["m"])
    nothing = Points(np.empty((0, 2)), np.empty(0, np.int64), np.arange(6))
    chosen = choose_by_clusters(
        data,
        nothing,
        3,
        lambda inside: np.empty(0, np.int64),
        representative="cosine",
        weighted=False,
        seed=0,
    )
    assert len(set(chosen.rows.tolist())) == 3
    assert chosen.cluster_weight is None
