from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import DataError, UnknownNameError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.published.max_discrepancy import in_turn


def made(models: int, items: int = 20) -> EvalSet:
    scores = np.random.default_rng(5).normal(size=(items, models))
    return EvalSet.from_arrays(
        [f"i{row:02d}" for row in range(items)],
        [f"m{place}" for place in range(models)],
        metrics={"score": scores, "other": np.ones((items, models))},
        outputs=[
            ["same", "same" if row != 7 else "not at all"] + ["same"] * (models - 2) for row in range(items)
        ],
    )


def test_of_two_models_the_largest_differences_come_first() -> None:
    data = made(2)
    apart = np.abs(np.subtract(*data.metrics["score"].T))
    chosen = select(data, "max_discrepancy:space=metrics,diversity=0", 6)
    assert data.positions(chosen.items).tolist() == np.argsort(-apart)[:6].tolist()
    assert chosen.row(0).reason == "m0 and m1 differ most"


def test_outputs_that_differ_come_first() -> None:
    assert select(made(2), "max_discrepancy", 1).items[0] == "i07"


def test_pairs_take_turns() -> None:
    data = made(4)
    chosen = select(data, "max_discrepancy:space=metrics", 12, seed=2)
    reasons = [row.reason for row in chosen]
    assert len(set(reasons[:6])) == 6
    assert reasons[:6] == reasons[6:]
    other = [row.reason for row in select(data, "max_discrepancy:space=metrics", 12, seed=3)]
    assert other != reasons, "no pair is first by its name"


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 5), st.floats(0, 3))
def test_each_turn_takes_the_best_that_is_left(seed: int, items: int, pairs: int, diversity: float) -> None:
    draw = np.random.default_rng(seed)
    apart, points = draw.random((items, pairs)), draw.random((items, 2))
    order = in_turn(apart, points, items, diversity, np.arange(items, dtype=np.uint64))
    assert sorted(order) == list(range(items))
    for place, taken in enumerate(order):
        left, before = order[place:], points[order[:place]]
        near = [
            min((float(np.linalg.norm(points[row] - one)) for one in before), default=0.0) for row in left
        ]
        values = apart[left, place % pairs] + diversity * np.array(near)
        assert values[list(left).index(taken)] == pytest.approx(values.max(), abs=1e-8)


def test_a_pair_that_cannot_be_compared_loses_and_what_is_missing_is_named() -> None:
    scores = np.array([[0.0, np.nan], [0.0, 0.1], [0.0, 0.2]])
    data = EvalSet.from_arrays(["a", "b", "c"], ["m", "n"], metrics={"score": scores})
    chosen = select(data, "max_discrepancy:space=metrics,diversity=0", 3)
    assert chosen.items.tolist() == ["c", "b", "a"]
    with pytest.raises(UnknownNameError, match="metric"):
        select(data, "max_discrepancy:space=metrics,metrics=[x]", 1)
    with pytest.raises(DataError, match="compares models, and there are fewer than two"):
        select(data.take(models=["m"]), "max_discrepancy:space=metrics", 1)
