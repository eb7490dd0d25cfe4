from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from sparingly.base.arrays import Floats
from sparingly.published.irt import abilities
from sparingly.published.irt.abilities import Shared, cholesky, inverse
from sparingly.published.irt.items import NODES, WEIGHTS, NormalItems, Normals, likelihood_of, local_around
from sparingly.published.irt.model import Priors, Response, Responses, as_responses, default_priors, expit
from tests.published.irt.simulated import simulate, with_gaps

STEP = 1e-5
# (row, column) of the entries of a lower triangular root.
ENTRIES = ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2))


def root_of(state: Normals) -> Floats:
    """Return the lower triangular root of the covariance."""
    return cholesky(inverse(state.precision))


def made(response: Response, items: int = 9, models: int = 5) -> tuple[Responses, Normals, Shared]:
    drawn = simulate(Priors(), items, models, 3, response)
    responses = as_responses(with_gaps(drawn.scores, 0.2, 4), response, 0.5, scale=False)
    random = np.random.default_rng(5)
    mean = random.normal([[1.5], [1.0], [0.0]], [[0.5], [0.4], [0.5]], (3, items))
    factor = random.normal(size=(items, 3, 6))
    matrix = 2.0 * (factor @ factor.transpose(0, 2, 1)) + 4.0 * np.eye(3)
    upper = np.triu_indices(3)
    precision = np.ascontiguousarray(matrix[:, upper[0], upper[1]].T)
    shared = Shared(drawn.truth.ability, np.full(models, 0.1), np.log(0.2))
    return responses, Normals(mean, precision, np.zeros(items)), shared


def test_nodes_average_every_polynomial_of_the_fifth_degree_exactly() -> None:
    moments = {0: 1.0, 2: 1.0, 4: 3.0}
    for powers in product(range(6), repeat=3):
        if sum(powers) <= 5:
            expected = np.prod([moments.get(power, 0.0) for power in powers])
            found = WEIGHTS @ np.prod(NODES ** np.array(powers), axis=1)
            assert found == pytest.approx(expected, abs=1e-12), powers


def expected_log_likelihood(responses: Responses, state: Normals, shared: Shared) -> Floats:
    """The expectation by a product rule of seven nodes for every parameter and three for abilities."""
    fine, coarse = (
        list(zip(nodes, weights / weights.sum(), strict=True))
        for nodes, weights in (hermegauss(7), hermegauss(3))
    )
    root = root_of(state)
    likelihood = likelihood_of(responses, shared.log_noise)
    total = np.zeros(responses.shape[1])
    for (one, first), (two, second), (three, third), (four, fourth) in product(fine, fine, fine, coarse):
        logit = state.mean[0] + one * root[0]
        slope = state.mean[1] + one * root[1] + two * root[3]
        difficulty = state.mean[2] + one * root[2] + two * root[4] + three * root[5]
        # Abilities are independent, and the likelihood is a sum over models: one variable serves them all.
        ability = shared.ability + four * shared.ability_sd
        curve = expit(logit) * expit(slope * (ability[:, None] - difficulty))
        value = likelihood.measure(curve, np.empty_like(curve)).value
        total += first * second * third * fourth * value
    return total


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_expected_log_likelihood_is_that_of_a_fine_rule(response: Response) -> None:
    responses, state, shared = made(response)
    found = local_around(responses, state.mean, root_of(state), shared).value
    np.testing.assert_allclose(found, expected_log_likelihood(responses, state, shared), rtol=1e-3, atol=5e-3)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_slopes_are_the_derivatives_of_the_sum_over_nodes(response: Response) -> None:
    responses, state, shared = made(response)
    local = local_around(responses, state.mean, root_of(state), shared)
    for row in range(3):
        move = np.zeros((3, 1))
        move[row] = STEP
        moves = (state.mean + sign * move for sign in (1, -1))
        up, down = (local_around(responses, mean, root_of(state), shared) for mean in moves)
        np.testing.assert_allclose(local.slope[row], (up.value - down.value) / (2 * STEP), atol=1e-6)
    for model in range(5):
        ability = np.zeros(5)
        ability[model] = STEP
        up, down = (
            local_around(
                responses,
                state.mean,
                root_of(state),
                Shared(shared.ability + sign * ability, shared.ability_sd, shared.log_noise),
            )
            for sign in (1, -1)
        )
        np.testing.assert_allclose(
            local.slope_ability[model], (up.value - down.value) / (2 * STEP), atol=1e-6
        )


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_curvature_is_the_derivative_by_the_covariance(response: Response) -> None:
    responses, state, shared = made(response)
    root = root_of(state)
    local = local_around(responses, state.mean, root, shared)
    place = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 1): 3, (1, 2): 4, (2, 2): 5}
    symmetric = {key: local.curvature[value] for key, value in place.items()}
    symmetric |= {(column, row): value for (row, column), value in symmetric.items()}
    lower = {entry: root[index] for index, entry in enumerate(ENTRIES)}
    for index, (row, column) in enumerate(ENTRIES):
        move = np.zeros((6, 1))
        move[index] = STEP
        up, down = (local_around(responses, state.mean, root + sign * move, shared).value for sign in (1, -1))
        # The derivative of E[f(mean + root e)] by the root is E[f''] root, of which the lower part counts.
        expected = -sum(symmetric[row, inner] * lower.get((inner, column), 0.0) for inner in range(3))
        np.testing.assert_allclose((up - down) / (2 * STEP), expected, atol=2e-5)
    widened = Shared(shared.ability, shared.ability_sd + STEP, shared.log_noise)
    narrowed = Shared(shared.ability, shared.ability_sd - STEP, shared.log_noise)
    change = local_around(responses, state.mean, root, widened).value
    change -= local_around(responses, state.mean, root, narrowed).value
    np.testing.assert_allclose(
        change / (2 * STEP), (local.cross[2] * shared.ability_sd[:, None]).sum(axis=0), atol=1e-5
    )


def test_many_items_are_averaged_block_by_block() -> None:
    responses, state, shared = made("binary", items=2000, models=8)
    root = root_of(state)
    whole = local_around(responses, state.mean, root, shared)
    some = slice(700, 760)
    part = local_around(responses.take(some), state.mean[:, some], root[:, some], shared)
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(part, name), value[..., some], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_no_step_lowers_the_bound_of_an_item_and_many_reach_its_optimum(response: Response) -> None:
    responses, state, shared = made(response)
    priors = default_priors(response)
    items = NormalItems(priors)
    before = np.inf
    for _ in range(150):
        state, sums = items.improve(responses, state, shared, 1, 0.0)
        assert sums.objective <= before + 1e-6
        before = sums.objective
    local = local_around(responses, state.mean, root_of(state), shared)
    slope = local.slope - (state.mean - priors.item_means) / priors.item_sds**2
    wanted = local.curvature.copy()
    wanted[abilities.DIAGONAL] += priors.item_sds**-2.0
    sds = np.sqrt(abilities.inverse(state.precision)[abilities.DIAGONAL])
    # In units of the sds: the means stand still, and the precision is the curvature that it calls for.
    assert np.abs(slope * sds).max() < 0.02
    np.testing.assert_allclose(state.precision[abilities.DIAGONAL], wanted[abilities.DIAGONAL], rtol=0.03)
