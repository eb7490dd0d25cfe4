"""Depths of models: the best division of labels on small cases, and what always holds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from sparingly.infer.expect.expect import Expected
from sparingly.run.rounds.auto import depths, fold_chances, fold_depths, worth_for


def left(worth: list[float], deep: tuple[int, ...]) -> float:
    return sum(own / count for own, count in zip(worth, deep, strict=True))


@pytest.mark.parametrize(
    ("worth", "cells", "items"),
    [
        ([9.0, 4.0, 1.0], 12, 10),
        ([9.0, 4.0, 1.0], 12, 5),
        ([1.0, 1.0, 1.0], 9, 10),
        ([16.0, 1.0], 10, 20),
        ([16.0, 1.0], 10, 7),
        ([4.0, 4.0, 1.0, 1.0], 12, 6),
    ],
)
def test_labels_are_divided_in_the_best_way(worth: list[float], cells: int, items: int) -> None:
    found = depths(np.ones(len(worth), np.int64), np.array(worth), cells, items, 1e-6)
    every = (one for one in product(range(1, items + 1), repeat=len(worth)) if sum(one) <= cells)
    assert left(worth, tuple(found.tolist())) == pytest.approx(min(left(worth, one) for one in every))


@settings(max_examples=80, deadline=None)
@given(some.data())
def test_what_always_holds(draw: some.DataObject) -> None:
    items, models = draw.draw(some.integers(1, 40)), draw.draw(some.integers(2, 6))
    current = np.array(draw.draw(some.lists(some.integers(0, items), min_size=models, max_size=models)))
    worth = np.array(draw.draw(some.lists(some.floats(0, 100), min_size=models, max_size=models)))
    floor = draw.draw(some.floats(0.05, 1.0))
    cells = int(current.sum()) + draw.draw(some.integers(0, 100))
    found = depths(current, worth, cells, items, floor)
    assert found.sum() <= cells
    assert ((found >= current) & (found <= items)).all()
    more = depths(current, worth, cells + models, items, floor)
    assert (more >= found).all()
    # No more is left over than ties can leave.
    assert cells - found.sum() < models or (found == items).all()
    fresh = depths(np.zeros(models, np.int64), worth, cells, items, floor)
    assert (fresh >= np.floor(floor * fresh.max() - 1e-6)).all()


def test_without_any_worth_all_go_equally_deep() -> None:
    assert depths(np.zeros(4, np.int64), np.zeros(4), 26, 50, 0.1).tolist() == [6, 6, 6, 6]


def mean_variance(deep: NDArray[np.int64], items: int) -> float:
    return float((1.0 / deep - 1.0 / items).mean())


@settings(max_examples=80, deadline=None)
@given(some.data())
def test_unequal_depths_raise_the_variance_of_scores_by_no_more_than_is_allowed(
    draw: some.DataObject,
) -> None:
    models, items = draw.draw(some.integers(2, 6)), 200
    worth = np.array(draw.draw(some.lists(some.floats(0.0, 100), min_size=models, max_size=models)))
    inflation = draw.draw(some.sampled_from([0.0, 0.03, 0.05, 0.2]))
    cells = draw.draw(some.integers(5, 100)) * models
    found = depths(np.full(models, 5), worth, cells, items, 0.1, inflation)
    equal = cells / models
    # Up to models − 1 labels are left over, since depths are whole numbers.
    assert mean_variance(found, items) <= (1.0 + inflation) / (1.0 - 1.0 / equal) * (1 / equal - 1 / items)
    free = depths(np.full(models, 5), worth, cells, items, 0.1)
    assert (
        left(worth.tolist(), tuple(free)) <= left(worth.tolist(), tuple(found)) * (1.0 + 2.0 / equal) + 1e-9
    )
    if inflation == 0.0:
        assert np.ptp(found) == 0


def test_a_price_on_the_variance_of_scores_draws_depths_together() -> None:
    worth, start = np.array([25.0, 1.0, 1.0, 1.0]), np.ones(4, np.int64)
    # By the ranking alone 5 : 1 : 1 : 1, with 1.6 times the variance of equal depths: 2·(1/5 + 3)/4.
    assert depths(start, worth, 80, 10**6, 0.01).tolist() == [50, 10, 10, 10]
    found = depths(start, worth, 80, 10**6, 0.01, 0.05)
    assert 1.03 < mean_variance(found, 10**6) * found.mean() <= 1.05
    assert found[0] > found[1] == found[2] == found[3]


def test_depths_that_are_too_far_apart_already_are_drawn_together() -> None:
    found = depths(np.array([40, 5, 5]), np.array([100.0, 1.0, 1.0]), 70, 500, 0.1, 0.05)
    assert found.tolist() == [40, 15, 15]


def expected(worth: NDArray[np.float64], scores: list[float]) -> Expected:
    models = len(scores)
    nothing = np.zeros(models * (models - 1) // 2)
    names = tuple("abcdef"[:models])
    return Expected(
        models=names, scores=np.array(scores), p_values=nothing, z=nothing, spread=nothing,
        labels=np.ones(models), worth=worth, within=0.0, trust=0.0, kept=0.0,
    )  # fmt: skip


def test_worth_adds_up_over_the_pairs_that_matter() -> None:
    # Pairs in order: ab, ac, bc.
    held = expected(np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]), [0.0, 1.0, 3.0])
    assert worth_for("ranking", held).tolist() == [5.0, 18.0, 40.0]
    assert worth_for("best", held).tolist() == [4.0, 16.0, 40.0]
    assert worth_for("scores", held).tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=60, deadline=None)
@given(some.data())
def test_folds_spend_what_one_would(draw: some.DataObject) -> None:
    folds, models, size = (draw.draw(some.integers(1, 5)), draw.draw(some.integers(2, 6)), 12)
    current = np.full((folds, models), 2)
    worth = [
        np.array(draw.draw(some.lists(some.floats(0.01, 100), min_size=models, max_size=models)))
        for _ in range(folds)
    ]
    cells, start = draw.draw(some.integers(0, 150)), draw.draw(some.integers(0, folds - 1))
    found = fold_depths(current, worth, cells, np.full(folds, size), 0.1, start=start)
    spent = int(found.sum() - current.sum())
    assert spent <= cells
    assert ((found >= current) & (found <= size)).all()
    # No more is left over than ties in the last fold can leave.
    assert cells - spent < models or (found[(start - 1) % folds] == size).all()


def test_chances_in_folds() -> None:
    fold = np.array([0, 1, 0, 1, 0])
    answered = np.array([[True, True], [True, False], [False, True], [True, False], [False, True]])
    # The first model: 1 of 3 and 2 of 2. The second: 3 of 3, and nothing of the other fold.
    right = [[1 / 3, 3 / 5], [1.0, 1.0], [1.0, 3 / 5], [1.0, 1.0], [1.0, 3 / 5]]
    np.testing.assert_allclose(fold_chances(answered, fold, 2), right)


def test_the_last_round_can_see_to_a_least_depth() -> None:
    current, worth = np.full((2, 3), 2), [np.array([100.0, 1.0, 1.0])] * 2
    sizes = np.full(2, 50)
    without, found = (fold_depths(current, worth, 30, sizes, 0.1, minimum=least) for least in (0, 5))
    assert without.min() < 5 == found.min()
    assert found.sum() - current.sum() <= 30
    # Where the cells do not allow it, they go where they are worth most.
    few = [fold_depths(current, worth, 6, sizes, 0.1, minimum=least).tolist() for least in (0, 5)]
    assert few[0] == few[1]


def test_a_fold_that_was_left_behind_catches_up() -> None:
    # With fewer new cells than models, one fold alone would stay at its one item for ever.
    depth, worth = np.ones((4, 6), np.int64), [np.array([3.0, 1.0, 2.0, 2.0, 1.0, 1.0])] * 4
    for turn in range(7):
        depth = fold_depths(depth, worth, 17, np.full(4, 15), 0.1, inflation=0.05, start=turn % 4)
    assert np.ptp(depth.sum(axis=1)) <= 6


def test_what_is_worth_nothing_is_left_where_asked() -> None:
    current, worth = np.zeros(3, np.int64), np.array([1.0, 1.0, 0.0])
    assert depths(current, worth, 30, 10, 0.1).tolist() == [10, 10, 10]
    assert depths(current, worth, 30, 10, 0.1, thrifty=True).tolist() == [10, 10, 1]
