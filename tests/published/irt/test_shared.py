from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.published.irt.abilities import Shared, SharedObjective, newton_step
from sparingly.published.irt.items import ItemPoints, PointItems, local_at
from sparingly.published.irt.model import (
    CONTINUOUS,
    Priors,
    Response,
    Responses,
    as_responses,
    default_priors,
)
from tests.published.irt.simulated import simulate, with_gaps

ITEMS, MODELS = 6, 4


def made(response: Response) -> tuple[Responses, Priors, ItemPoints, Shared]:
    drawn = simulate(Priors(), ITEMS, MODELS, 3, response)
    responses = as_responses(with_gaps(drawn.scores, 0.1, 1), response, 0.5, scale=False)
    truth = drawn.truth
    values = np.stack([truth.logit_feasibility, truth.discrimination, truth.difficulty])
    return (
        responses,
        default_priors(response),
        ItemPoints(values, np.zeros(ITEMS)),
        Shared(truth.ability, np.zeros(MODELS), np.log(0.1)),
    )


def objective(vector: Floats, responses: Responses, priors: Priors, noisy: bool) -> float:
    """The whole objective as a plain function of all its numbers."""
    values = vector[: 3 * ITEMS].reshape(3, ITEMS)
    ability, rest = vector[3 * ITEMS : 3 * ITEMS + MODELS], vector[3 * ITEMS + MODELS :]
    log_noise = rest[0] if noisy else 0.0
    local = local_at(responses, values, Shared(ability, np.zeros(MODELS), log_noise))
    away = ((values - priors.item_means) / priors.item_sds) ** 2
    total = 0.5 * away.sum() + 0.5 * (ability**2).sum() - local.value.sum()
    if noisy:
        total += priors.noise_weight * (log_noise + 0.5 * priors.noise**2 * np.exp(-2 * log_noise))
    return float(total)


def numerical_hessian(vector: Floats, *rest: object) -> tuple[Floats, Floats]:
    size, step = len(vector), 1e-4
    moves = step * np.eye(size)
    value = {
        (row, column, one, other): objective(vector + one * moves[row] + other * moves[column], *rest)  # type: ignore[arg-type]
        for row in range(size)
        for column in range(row + 1)
        for one in (1, -1)
        for other in (1, -1)
    }
    matrix = np.empty((size, size))
    for row in range(size):
        for column in range(row + 1):
            signs = sum(one * other * value[row, column, one, other] for one in (1, -1) for other in (1, -1))
            matrix[row, column] = matrix[column, row] = signs / (4 * step * step)
    gradient = np.array(
        [(value[row, row, 1, 1] - value[row, row, -1, -1]) / (4 * step) for row in range(size)]
    )
    return matrix, gradient


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_eliminating_the_items_is_solving_the_whole_system(response: Response) -> None:
    responses, priors, points, shared = made(response)
    items = PointItems(priors)
    # Towards the optimum of the items, where their blocks are positive and nothing is replaced.
    points, _ = items.improve(responses, points, shared, 30, 0.0)
    _, sums = items.improve(responses, points, shared, 0, 0.0)
    sums = SharedObjective(responses, priors, uncertain=False).with_priors(sums, shared)
    noisy = response == "continuous"
    vector = np.concatenate([points.values.ravel(), shared.ability, [shared.log_noise] if noisy else []])
    hessian, gradient = numerical_hessian(vector, responses, priors, noisy)
    whole = np.linalg.solve(hessian, -gradient)[3 * ITEMS :]
    eliminated = np.linalg.solve(sums.curvature, sums.slope)
    np.testing.assert_allclose(eliminated, whole, rtol=2e-3, atol=1e-5)
    assert sums.objective == pytest.approx(objective(vector, responses, priors, noisy))
    inverse = np.linalg.inv(hessian)[3 * ITEMS :, 3 * ITEMS :]
    np.testing.assert_allclose(np.linalg.inv(sums.curvature), inverse, rtol=2e-3, atol=1e-6)


def test_sums_over_blocks_are_the_sums_over_all_items() -> None:
    responses, priors, points, shared = made("continuous")
    items = PointItems(priors)
    _, whole = items.improve(responses, points, shared, 2, 0.0)
    parts = [
        items.improve(block, points.take(slice(start, start + 4)), shared, 2, 0.0)[1]
        for start, block in zip((0, 4), responses.blocks(4), strict=True)
    ]
    together = parts[0] + parts[1]
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(together, name), value, rtol=1e-9, atol=1e-9, err_msg=name)


def test_a_step_is_bounded_and_goes_downhill_where_the_objective_bends_down() -> None:
    responses, _, points, shared = made("continuous")
    _, sums = PointItems(CONTINUOUS).improve(responses, points, shared, 0, 0.0)
    bent = type(sums)(0.0, -np.eye(5), np.eye(5), np.array([9.0, -1e-3, 0.0, 0.0, 0.0]))
    step = newton_step(bent, 0.0)
    assert np.abs(step).max() == pytest.approx(0.7)
    assert step[0] > 0 > step[1]
    assert np.abs(newton_step(sums, 1e3)).max() < np.abs(newton_step(sums, 0.0)).max()
