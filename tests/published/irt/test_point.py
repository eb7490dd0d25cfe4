from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.published.irt import abilities
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.items import ItemPoints, PointItems, local_at
from sparingly.published.irt.model import Priors, Response, Responses, as_responses, default_priors
from tests.published.irt.simulated import simulate, with_gaps

STEP = 1e-5


def made(response: Response, items: int = 12, models: int = 5) -> Responses:
    drawn = simulate(Priors(), items, models, 3, response)
    return as_responses(with_gaps(drawn.scores, 0.2, 4), response, 0.5, scale=False)


def some_point(items: int, models: int) -> tuple[Floats, Shared]:
    drawn = np.random.default_rng(5)
    values = drawn.normal([[1.5], [1.0], [0.0]], [[1.0], [0.8], [1.0]], (3, items))
    return values, Shared(drawn.normal(size=models), np.zeros(models), np.log(0.2))


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_derivatives_are_numerical_ones(response: Response) -> None:
    responses = made(response)
    values, shared = some_point(12, 5)
    local = local_at(responses, values, shared)
    entries = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 1): 3, (1, 2): 4, (2, 2): 5}
    for row in range(3):
        move = np.zeros((3, 1))
        move[row] = STEP
        up, down = (local_at(responses, values + sign * move, shared) for sign in (1, -1))
        np.testing.assert_allclose(local.slope[row], (up.value - down.value) / (2 * STEP), atol=1e-6)
        for column in range(row, 3):
            second = (down.slope - up.slope)[column] / (2 * STEP)
            np.testing.assert_allclose(local.curvature[entries[row, column]], second, atol=1e-5)
        mixed = (down.slope_ability - up.slope_ability) / (2 * STEP)
        np.testing.assert_allclose(local.cross[row], mixed, atol=1e-5)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_derivatives_by_ability_are_numerical_ones(response: Response) -> None:
    responses = made(response)
    values, shared = some_point(12, 5)
    local = local_at(responses, values, shared)
    for model in range(5):
        move = np.zeros(5)
        move[model] = STEP
        up, down = (
            local_at(
                responses, values, Shared(shared.ability + sign * move, shared.ability_sd, shared.log_noise)
            )
            for sign in (1, -1)
        )
        np.testing.assert_allclose(
            local.slope_ability[model], (up.value - down.value) / (2 * STEP), atol=1e-6
        )
        second = (down.slope_ability - up.slope_ability)[model] / (2 * STEP)
        np.testing.assert_allclose(-local.cross[2, model], second, atol=1e-5)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_expected_curvature_is_positive_anywhere(response: Response) -> None:
    values, shared = some_point(12, 5)
    local = local_at(made(response), 3.0 * values, shared, expected=True)
    precision = local.curvature.copy()
    precision[abilities.DIAGONAL] += 1e-6
    assert abilities.is_positive(precision, 1e-9).all()


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_no_step_makes_an_item_worse(response: Response) -> None:
    responses, priors = made(response), default_priors(response)
    values, shared = some_point(12, 5)
    items = PointItems(priors)
    state = ItemPoints(values, np.zeros(12))
    before = items.objectives(responses, state, shared)
    for _ in range(30):
        state, sums = items.improve(responses, state, shared, 1, 0.0)
        after = items.objectives(responses, state, shared)
        assert (after <= before + 1e-9).all()
        assert sums.objective == pytest.approx(after.sum())
        before = after
    # After thirty steps every item stands still: the slope of its objective is nothing.
    slope = (
        local_at(responses, state.values, shared).slope
        - (state.values - priors.item_means) / priors.item_sds**2
    )
    assert np.abs(slope).max() < 1e-6
