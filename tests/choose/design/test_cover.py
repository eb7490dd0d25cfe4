from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.published.facility_location import greedy_cover


def ties(count: int) -> NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64)


def similarities(points: Floats) -> Floats:
    """1 − d²/C for all pairs, C four times the largest squared distance from the mean."""
    squares = ((points[:, None] - points[None, :]) ** 2).sum(axis=2)
    most = 4.0 * float(((points - points.mean(axis=0)) ** 2).sum(axis=1).max())
    return np.asarray(1.0 - squares / (most or 1.0))


def value(similar: Floats, chosen: tuple[int, ...]) -> float:
    return float(similar[:, list(chosen)].max(axis=1).sum()) if chosen else 0.0


def by_hand(points: Floats, count: int) -> tuple[list[int], list[float]]:
    """Every gain computed at every step; of equal ones the first point."""
    similar = similarities(points)
    chosen: tuple[int, ...] = ()
    gains: list[float] = []
    for _ in range(count):
        found = [
            -1.0 if row in chosen else value(similar, (*chosen, row)) - value(similar, chosen)
            for row in range(len(points))
        ]
        best = int(np.flatnonzero(np.array(found) >= max(found) - 1e-9 * len(points))[0])
        chosen, gains = (*chosen, best), [*gains, found[best]]
    return list(chosen), gains


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4), st.booleans())
def test_lazy_and_plain_greedy_choose_the_same(seed: int, items: int, width: int, on_grid: bool) -> None:
    drawn = np.random.default_rng(seed).normal(size=(items, width))
    # On a grid many points are equal, and many gains tie.
    points = drawn.round() if on_grid else drawn
    count = max(1, items // 2)
    order, gains = greedy_cover(points, count, ties(items))
    expected, added = by_hand(points, count)
    assert order.tolist() == expected
    np.testing.assert_allclose(gains, added, atol=1e-7)


def test_gains_shrink_and_a_small_choice_begins_a_large_one() -> None:
    points = np.random.default_rng(2).normal(size=(300, 5))
    order, gains = greedy_cover(points, 300, ties(300))
    assert sorted(order) == list(range(300))
    assert (np.diff(gains) <= 1e-9).all()
    assert greedy_cover(points, 40, ties(300))[0].tolist() == order[:40].tolist()


def test_it_reaches_the_share_of_the_best_that_greed_promises() -> None:
    for seed in range(5):
        points = np.random.default_rng(seed).normal(size=(12, 2))
        similar = similarities(points)
        best = max(value(similar, chosen) for chosen in combinations(range(12), 3))
        found = value(similar, tuple(greedy_cover(points, 3, ties(12))[0]))
        assert (1.0 - np.exp(-1.0)) * best <= found <= best + 1e-9


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).normal(size=(80, 3))
    whole = greedy_cover(points, 30, ties(80))
    monkeypatch.setattr("sparingly.published.facility_location._BLOCK_CELLS", 200)
    parts = greedy_cover(points, 30, ties(80))
    assert whole[0].tolist() == parts[0].tolist()


def test_equal_points_are_taken_by_their_ties() -> None:
    order, gains = greedy_cover(np.ones((5, 2)), 4, np.array([3, 0, 4, 1, 2], np.uint64))
    assert order.tolist() == [1, 3, 4, 0]
    assert gains.tolist() == [5.0, 0.0, 0.0, 0.0]
    assert not len(greedy_cover(np.ones((5, 2)), 0, ties(5))[0])


def test_apricot_chooses_the_same() -> None:
    """Facility location of apricot 0.6.1 by squared Euclidean distances, on these very points."""
    points = np.random.default_rng(0).normal(size=(300, 6))
    order, gains = greedy_cover(points, 10, ties(300))
    assert order.tolist() == [178, 256, 91, 286, 161, 46, 82, 219, 185, 257]
    theirs = [250.95843541, 152.42854782, 114.07461205, 102.23263949]
    np.testing.assert_allclose(gains[1:5] / gains[1], np.array(theirs) / theirs[0], rtol=1e-7)
