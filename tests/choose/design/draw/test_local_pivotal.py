from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.choose.design.draws import draw_local_pivotal
from tests.choose.design.draw.samples import SEEDS, chances


@given(values=chances(), seed=SEEDS, dimensions=st.integers(1, 4), grid=st.booleans())
def test_exactly_as_many_as_they_add_up_to(
    values: NDArray[np.float64], seed: int, dimensions: int, grid: bool
) -> None:
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(len(values), dimensions))
    points = np.round(points) if grid else points
    taken = draw_local_pivotal(values, points, generator)
    assert taken.sum() == round(values.sum())
    assert taken[values == 1.0].all()


@given(values=chances(), seed=SEEDS, steps=st.booleans())
def test_the_cost_is_off_by_less_than_costs_differ(
    values: NDArray[np.float64], seed: int, steps: bool
) -> None:
    generator = np.random.default_rng(seed)
    costs = generator.gamma(0.5, size=len(values))
    costs = np.ceil(costs) if steps else costs
    taken = draw_local_pivotal(values, generator.normal(size=(len(values), 2)), generator, costs)
    assert taken.sum() == round(values.sum())
    assert abs(costs[taken].sum() - costs @ values) <= np.ptp(costs) + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_of_every_pair_of_twins_one_is_taken(seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = np.repeat(generator.normal(size=(40, 3)), 2, axis=0)
    taken = draw_local_pivotal(np.full(80, 0.5), places, generator)
    assert (taken[::2] ^ taken[1::2]).all()


def test_units_at_one_place_meet_at_random() -> None:
    first = {
        tuple(
            np.flatnonzero(draw_local_pivotal(np.full(6, 0.5), np.zeros((6, 2)), np.random.default_rng(seed)))
        )
        for seed in range(60)
    }
    assert len(first) > 10


def test_a_line_whose_gaps_grow_is_drawn_to_its_end() -> None:
    # Every unit's nearest is the one before it: only one pair at a time is mutual.
    places = np.cumsum(1.1 ** np.arange(60.0))[:, None]
    for costs in (None, np.arange(60.0)):
        assert draw_local_pivotal(np.full(60, 0.25), places, np.random.default_rng(0), costs).sum() == 15


def test_scale_does_not_matter() -> None:
    points = np.random.default_rng(0).normal(size=(50, 2))
    one, other = (
        draw_local_pivotal(np.full(50, 0.2), points * scale, np.random.default_rng(3)) for scale in (1.0, 1e9)
    )
    assert (one == other).all()
