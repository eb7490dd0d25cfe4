from __future__ import annotations

import numpy as np

import sparingly
from tests.choose.design.draws_data import COUNT, made


def test_every_item_is_as_likely() -> None:
    chosen = sparingly.select(made(), "uniform", "25%", seed=2)
    assert len(chosen) == COUNT // 4
    assert set(chosen.probability if chosen.probability is not None else ()) == {0.25}
    assert chosen.reason == "drawn uniformly"


def test_the_order_is_random_so_that_a_part_is_a_random_part() -> None:
    firsts = [sparingly.select(made(), "uniform", "100%", seed=seed).items[0] for seed in range(30)]
    assert len(set(firsts)) > 10


def test_under_a_cost_dear_and_cheap_items_have_their_share() -> None:
    data = made()
    costs = np.asarray(data.columns["cost"], np.float64)
    means = [
        costs[data.positions(sparingly.select(data, "uniform", "cost:150", seed=seed).items)].mean()
        for seed in range(40)
    ]
    assert abs(np.mean(means) - costs.mean()) < 0.1
    assert np.std(means) < 0.5 * costs.std() / np.sqrt(20)
