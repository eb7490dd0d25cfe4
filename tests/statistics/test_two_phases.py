"""A selection from a selection: its probabilities are what happens, also when both phases share a seed."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.data.evalset import EvalSet

SEEDS = 600


def two_domains() -> EvalSet:
    return EvalSet.from_arrays(
        items=[f"a{place:03d}" for place in range(100)] + [f"b{place:02d}" for place in range(20)],
        models=["m", "n"],
        columns={"domain": ["A"] * 100 + ["B"] * 20},
    )


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("first", "second"),
    [("random", "random"), ("random:balance=domain", "random"), ("random", "random:balance=domain")],
)
def test_frequencies_are_the_probabilities(first: str, second: str) -> None:
    data, drawn, claimed = two_domains(), np.zeros(120), np.zeros(120)
    for seed in range(SEEDS):
        pool = sparingly.select(data, first, 40, seed=seed)
        chosen = sparingly.select(data, second, 10, seed=seed, pool=pool)
        rows = data.positions(chosen.items)
        assert chosen.weight is not None
        drawn[rows] += 1
        claimed[rows] += chosen.weight
    # The weights of a group add up to its size on average (Horvitz and Thompson), and so does every item's.
    for group in (slice(0, 100), slice(100, 120)):
        size = group.stop - group.start
        error = 4 * claimed[group].std() / SEEDS / np.sqrt(size) + 0.02
        assert claimed[group].mean() / SEEDS == pytest.approx(1.0, abs=error)
    assert drawn[:100].std() < 3 * np.sqrt(drawn[:100].mean())


def test_the_second_phase_does_not_repeat_the_first_ones_draws() -> None:
    data = two_domains()
    pool = sparingly.select(data, "random", 60, seed=5)
    chosen = sparingly.select(data, "random", 30, seed=5, pool=pool)
    assert set(chosen.items) != set(pool.items[:30])
    assert sparingly.verify(chosen, data).ok
