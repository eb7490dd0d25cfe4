from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.choose.design.draws import draw_cube, draw_pivotal, null_directions
from tests.choose.design.draw.samples import SEEDS, chances


@given(values=chances(), seed=SEEDS, count=st.integers(0, 6))
def test_exactly_as_many_as_they_add_up_to(values: Floats, seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    variables = generator.normal(size=(len(values), count))
    taken = draw_cube(values, variables, generator)
    assert taken.sum() == round(values.sum())
    assert taken[values == 1.0].all()


@given(values=chances(), seed=SEEDS, steps=st.booleans())
def test_the_cost_is_off_by_less_than_costs_differ(values: Floats, seed: int, steps: bool) -> None:
    generator = np.random.default_rng(seed)
    costs = generator.gamma(0.5, size=len(values))
    costs = np.ceil(costs) if steps else costs
    taken = draw_cube(values, generator.normal(size=(len(values), 3)), generator, costs)
    assert taken.sum() == round(values.sum())
    assert abs(costs[taken].sum() - costs @ values) <= np.ptp(costs) + 1e-9


def totals(values: Floats, taken: NDArray[np.bool_], variables: Floats) -> Floats:
    return np.asarray((variables[taken] / values[taken, None]).sum(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_groups_get_exactly_their_share(seed: int) -> None:
    # Whole expected numbers in every group can be met without an error, and are.
    generator = np.random.default_rng(seed)
    groups = np.repeat(np.eye(4), [20, 40, 60, 80], axis=0)
    taken = draw_cube(np.full(200, 0.1), groups, generator)
    assert (groups[taken].sum(axis=0) == [2, 4, 6, 8]).all()


def test_totals_are_matched_up_to_the_landing() -> None:
    generator = np.random.default_rng(0)
    values = np.clip(generator.gamma(4.0, size=2000) / 40, 0.02, 0.9)
    values *= 200 / values.sum()
    variables = generator.normal(size=(2000, 8)) + 3.0

    def errors(draw: Callable[[], NDArray[np.bool_]]) -> float:
        found = [totals(values, draw(), variables) / variables.sum(axis=0) - 1 for _ in range(20)]
        return float(np.sqrt(np.mean(np.square(found))))

    plain = errors(lambda: draw_pivotal(values, generator))
    balanced = errors(lambda: draw_cube(values, variables, generator))
    assert plain > 0.03
    assert balanced < 0.3 * plain


def test_variables_that_follow_from_others_do_no_harm() -> None:
    generator = np.random.default_rng(0)
    one = generator.normal(size=(300, 2)) + 5.0
    variables = np.column_stack([one, one.sum(axis=1), np.zeros(300), np.ones(300), one])
    values = np.full(300, 0.2)
    taken = draw_cube(values, variables, generator)
    assert taken.sum() == 60
    assert np.abs(totals(values, taken, one) / one.sum(axis=0) - 1).max() < 0.02


def test_more_variables_than_units() -> None:
    generator = np.random.default_rng(0)
    assert draw_cube(np.full(10, 0.3), generator.normal(size=(10, 40)), generator).sum() == 3
    assert draw_cube(np.array([1.0, 0.0]), np.ones((2, 3)), generator).tolist() == [True, False]


def test_directions_change_no_condition() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(7, 6, 5))
    rows[3, :, 4] = rows[3, :, 0] - 2 * rows[3, :, 1]
    rows[4, :, 2] = 0.0
    directions, share = null_directions(rows, generator)
    assert np.abs(np.einsum("gu,guc->gc", directions, rows)).max() < 1e-11
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, atol=1e-9)
    assert (share > 1e-4).all()
    none = null_directions(generator.normal(size=(1, 5, 5)), generator)[1]
    assert none[0] < 1e-5, "five conditions leave five units no way to move"
