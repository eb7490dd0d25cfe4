from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from sparingly.choose.design.draws import draw_pivotal
from tests.choose.design.draw.samples import SEEDS, chances


class Fixed:
    """A generator whose numbers are known."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = numbers

    def random(self, count: int) -> NDArray[np.float64]:
        return np.array([*self.numbers, *[0.0] * (count - len(self.numbers))])


@pytest.mark.parametrize(
    ("second", "third", "expected"),
    [
        # .5 meets .25: the second goes on with .75 when the draw is below 1/3.
        # .75 meets .25: the first is taken with probability .75, and the other goes on with nothing.
        (0.3, 0.7, [False, True, False]),
        (0.3, 0.8, [False, False, True]),
        (0.4, 0.7, [True, False, False]),
        (0.4, 0.8, [False, False, True]),
    ],
)
def test_by_hand(second: float, third: float, expected: list[bool]) -> None:
    values, draws = np.array([0.5, 0.25, 0.25]), Fixed(0.0, second, third)
    assert draw_pivotal(values, draws, np.arange(3)).tolist() == expected  # type: ignore[arg-type]


@given(values=chances(), seed=SEEDS)
def test_exactly_as_many_as_they_add_up_to(values: NDArray[np.float64], seed: int) -> None:
    taken = draw_pivotal(values, np.random.default_rng(seed))
    assert taken.sum() == round(values.sum())
    assert taken[values == 1.0].all()
    again = draw_pivotal(values, np.random.default_rng(seed))
    assert (again == taken).all()


@given(values=chances(), seed=SEEDS)
def test_every_beginning_of_the_list_gets_its_share(values: NDArray[np.float64], seed: int) -> None:
    taken = draw_pivotal(values, np.random.default_rng(seed), np.arange(len(values)))
    assert np.abs(np.cumsum(taken) - np.cumsum(values)).max() < 1 + 1e-9


@given(values=chances(), seed=SEEDS)
def test_along_the_costs_the_cost_is_off_by_less_than_costs_differ(
    values: NDArray[np.float64], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    costs = generator.gamma(0.5, size=len(values))
    taken = draw_pivotal(values, generator, np.argsort(-costs))
    assert abs(costs[taken].sum() - costs @ values) <= np.ptp(costs) + 1e-9


def test_sums_that_are_not_whole_are_rounded_at_random() -> None:
    counts = {int(draw_pivotal(np.full(5, 0.5), np.random.default_rng(seed)).sum()) for seed in range(30)}
    assert counts == {2, 3}


def test_zeros_ones_and_nothing() -> None:
    generator = np.random.default_rng(0)
    assert draw_pivotal(np.array([0.0, 1.0, 0.0, 1.0]), generator).tolist() == [False, True, False, True]
    assert draw_pivotal(np.array([]), generator).tolist() == []


def test_a_million_units() -> None:
    generator = np.random.default_rng(1)
    values = generator.random(1_000_000)
    values *= 200_000 / values.sum()
    assert draw_pivotal(values, generator).sum() == 200_000
