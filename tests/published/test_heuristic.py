from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet


def made(count: int = 100) -> EvalSet:
    """Items whose number is the mean length of their outputs."""
    return EvalSet.from_arrays(
        [f"{place:03d}" for place in range(count)],
        ["x", "y"],
        outputs=[["a " * (place + 1), "a " * (place - 1)] for place in range(1, count + 1)],
    )


def extremes(items: np.ndarray) -> int:
    return sum(not 10 <= int(name) < 90 for name in items)


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_of_the_budget_goes_to_the_extremes(seed: int) -> None:
    chosen = select(made(), "heuristic", 30, seed=seed)
    assert extremes(chosen.items) == 3
    assert chosen.is_probability_sample
    for row in chosen:
        outer = not 10 <= int(row.item) < 90
        assert row.probability == pytest.approx(3 / 20 if outer else 27 / 80)
        assert ("shortest and longest" in row.reason) is outer


def test_parameters_set_who_is_extreme_and_how_many() -> None:
    chosen = select(made(), "heuristic:outer=0.3,share=0.5", 40)
    assert sum(not 30 <= int(name) < 70 for name in chosen.items) == 20
    assert chosen.weight is not None
    assert chosen.weight.sum() == pytest.approx(100)


def test_means_are_unbiased_by_the_weights() -> None:
    data, values = made(), np.arange(100.0)
    means = []
    for seed in range(400):
        chosen = select(data, "heuristic:share=0.3", 20, seed=seed)
        assert chosen.weight is not None
        means.append(float(chosen.weight @ values[data.positions(chosen.items)] / 100))
    assert np.mean(means) == pytest.approx(49.5, abs=float(4 * np.std(means) / 20))


def test_a_budget_that_leaves_a_part_out_has_no_probabilities() -> None:
    for method, budget, part in (("heuristic", 3, "extreme"), ("heuristic:share=1", 5, "other")):
        chosen = select(made(), method, budget)
        assert not chosen.is_probability_sample
        assert chosen.notes == (
            f"no {part} item fits into the budget, so no inclusion probabilities are given.",
        )


def test_what_one_part_cannot_take_goes_to_the_other() -> None:
    everything = select(made(), "heuristic:share=0", "100%")
    assert len(everything) == 100
    assert everything.probability is not None
    assert everything.probability == pytest.approx(1.0)
    assert extremes(select(made(), "heuristic:share=1", 50).items) == 20


def test_items_without_outputs_are_not_extreme() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c", "d"], ["x"], outputs=[["one"], [None], ["one two"], ["one two three"]]
    )
    assert select(data, "heuristic:outer=0.5,share=0", 1).items.tolist() == ["b"]


def test_wrong_use_is_named() -> None:
    for wrong in ("outer=0.6", "share=1.5"):
        with pytest.raises(UsageError, match=r"outer is a share of at most 0\.5"):
            select(made(), f"heuristic:{wrong}", 10)
    with pytest.raises(UsageError, match="at least"):
        select(made(), "heuristic:share=-0.1", 10)
    with pytest.raises(MissingDataError, match="need outputs"):
        select(EvalSet.from_arrays(["a"], ["x"]), "heuristic", 1)
