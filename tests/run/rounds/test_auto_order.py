"""The order of ``auto``: every beginning is a fair draw, and well spread."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.auto import spread_order


def made(points: Floats, documents: list[str] | None = None) -> EvalSet:
    ids = [f"i{row:03d}" for row in range(len(points))]
    columns = {} if documents is None else {"document": documents}
    return EvalSet.from_arrays(
        ids, ["a", "b"], metrics={"m": np.column_stack([points, points])}, columns=columns
    )


def places(data: EvalSet, seeds: int, spread: bool = True) -> NDArray[np.int64]:
    """Return seeds × items: where in the order each item stands."""
    return np.stack([np.argsort(spread_order(data, seed, spread=spread)) for seed in range(seeds)])


@pytest.mark.parametrize("items", [3, 7, 8])
def test_every_beginning_holds_every_item_by_chance_n_of_all(items: int) -> None:
    """Within 4.5 binomial errors for all items and all n, also of an item that lies apart."""
    points = np.arange(float(items))
    points[-1] = 50.0
    found, seeds = places(made(points), 1500), 1500
    for n in range(1, items):
        chance = n / items
        error = np.sqrt(chance * (1.0 - chance) / seeds)
        assert np.abs((found < n).mean(axis=0) - chance).max() < 4.5 * error


def test_it_is_an_order_of_all_items() -> None:
    found = places(made(np.random.default_rng(1).normal(size=41)), 5)
    assert (np.sort(found, axis=1) == np.arange(41)).all()
    assert len({tuple(row) for row in found}) == 5


def test_beginnings_are_spread_over_the_metrics() -> None:
    """Of a first quarter, the mean of what the order is spread over varies far less than by chance."""
    points = np.random.default_rng(2).normal(size=64)
    data = made(points)
    variances = [
        np.var([points[place < 16].mean() for place in places(data, 120, spread)]) for spread in (True, False)
    ]
    assert variances[0] < 0.2 * variances[1]
    plain = points.var(ddof=1) / 16 * 0.75
    assert variances[1] == pytest.approx(plain, rel=0.5)


def test_beginnings_are_spread_over_documents_alone_too() -> None:
    data = made(np.zeros(48), [f"d{row // 12}" for row in range(48)]).only(["column:document"])
    counts = [np.bincount(np.flatnonzero(place < 12) // 12, minlength=4) for place in places(data, 60)]
    assert np.var(counts, axis=0).mean() < 0.5 * 12 * 0.25 * 0.75


def test_the_order_of_the_file_does_not_matter() -> None:
    points = np.random.default_rng(3).normal(size=31)
    data, turn = made(points), np.random.default_rng(4).permutation(31)
    ids = [f"i{row:03d}" for row in turn]
    both = np.column_stack([points, points])
    shuffled = EvalSet.from_arrays(ids, ["b", "a"], metrics={"m": both[turn]})
    for seed in range(3):
        assert data.items[spread_order(data, seed)].tolist() == (
            shuffled.items[spread_order(shuffled, seed)].tolist()
        )


def test_labels_do_not_move_it() -> None:
    points = np.random.default_rng(5).normal(size=20)
    data = made(points)
    judged = data.with_aspect("y", np.random.default_rng(6).normal(size=(20, 2)))
    assert (spread_order(data, 3) == spread_order(judged.without_labels(), 3)).all()


def test_one_item_is_an_order() -> None:
    assert spread_order(made(np.zeros(1)), 0).tolist() == [0]
