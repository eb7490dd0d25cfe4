from __future__ import annotations

import numpy as np
from hypothesis import given
from numpy.typing import NDArray

from sparingly.choose.design.draws import draw_systematic
from tests.choose.design.draw.samples import SEEDS, chances


class Fixed:
    """A generator whose one number is known."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


def test_by_hand() -> None:
    values, order = np.array([0.5, 0.25, 0.75, 0.5]), np.arange(4)
    # Running sums .5, .75, 1.5, 2: the grid −u, 1 − u, 2 − u passes them where the whole part grows.
    taken = [
        draw_systematic(values, Fixed(start), order).tolist()  # type: ignore[arg-type]
        for start in (0.1, 0.3, 0.6)
    ]
    assert taken == [
        [False, False, True, True],
        [False, True, False, True],
        [True, False, True, False],
    ]


@given(values=chances(), seed=SEEDS)
def test_exactly_as_many_as_they_add_up_to(values: NDArray[np.float64], seed: int) -> None:
    taken = draw_systematic(values, np.random.default_rng(seed))
    assert taken.sum() == round(values.sum())
    assert taken[values == 1.0].all()


@given(values=chances(), seed=SEEDS)
def test_every_stretch_of_the_list_gets_its_share(values: NDArray[np.float64], seed: int) -> None:
    taken = draw_systematic(values, np.random.default_rng(seed), np.arange(len(values)))
    assert np.abs(np.cumsum(taken) - np.cumsum(values)).max() < 1 + 1e-9


def test_sums_that_are_not_whole_are_rounded_at_random() -> None:
    values = np.full(5, 0.5)
    counts = {int(draw_systematic(values, np.random.default_rng(seed)).sum()) for seed in range(30)}
    assert counts == {2, 3}


def test_nothing_to_draw() -> None:
    generator = np.random.default_rng(0)
    assert draw_systematic(np.array([1.0, 0.0]), generator).tolist() == [True, False]
    assert draw_systematic(np.array([]), generator).tolist() == []
