from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sparingly.published.irt import abilities
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.fit import ClimbPatience, climb_normals
from sparingly.published.irt.items import Normals
from sparingly.published.irt.model import Priors, Response, Responses, as_responses, default_priors
from tests.published.irt.simulated import simulate, with_gaps
from tests.published.irt.test_averaged import expected_log_likelihood


def bound(responses: Responses, state: Normals, shared: Shared, priors: Priors) -> float:
    """The evidence lower bound, by a fine rule and the textbook's divergence between normals."""
    total = expected_log_likelihood(responses, state, shared).sum()
    means, sds = priors.item_means[:, 0], priors.item_sds[:, 0]
    covariances = abilities.inverse(state.precision)
    upper = np.triu_indices(3)
    for place in range(responses.shape[1]):
        covariance = np.empty((3, 3))
        covariance[upper] = covariance.T[upper] = covariances[:, place]
        away = (state.mean[:, place] - means) / sds
        total -= (
            0.5
            * ((np.diag(covariance) / sds**2).sum() + away @ away - 3.0 - np.linalg.slogdet(covariance)[1])
            + np.log(sds).sum()
        )
    mean, sd = priors.ability
    away, width = (shared.ability - mean) / sd, shared.ability_sd / sd
    total -= (0.5 * (away**2 + width**2 - 1.0) - np.log(width)).sum()
    if responses.response == "continuous":
        noise = np.exp(shared.log_noise)
        total -= priors.noise_weight * (shared.log_noise + 0.5 * (priors.noise / noise) ** 2)
    return float(total)


@pytest.fixture(scope="module", params=["continuous", "binary"])
def settled(request: pytest.FixtureRequest) -> tuple[Responses, Priors, Normals, Shared, float]:
    response: Response = request.param
    # The priors of the continuous form serve both: their posteriors are smooth enough for a fine rule.
    priors = Priors()
    scores = with_gaps(simulate(priors, 12, 7, 2, response).scores, 0.1, 3)
    responses = as_responses(scores, response, 0.5, scale=False)
    found = climb_normals(responses, priors, ClimbPatience(rounds=80, steps=4, enough=1e-6, gain=1e-8))
    return responses, priors, found.states[0], found.shared, -found.sums.objective


def test_objective_is_the_evidence_lower_bound(
    settled: tuple[Responses, Priors, Normals, Shared, float],
) -> None:
    responses, priors, state, shared, value = settled
    # The thirteen nodes are worth a hundredth or so per item.
    assert value == pytest.approx(bound(responses, state, shared, priors), abs=0.02 * 12)


def test_neither_other_means_nor_other_sds_have_a_higher_bound(
    settled: tuple[Responses, Priors, Normals, Shared, float],
) -> None:
    responses, priors, state, shared, _ = settled
    best = bound(responses, state, shared, priors)
    sds = np.sqrt(abilities.inverse(state.precision)[abilities.DIAGONAL])
    spread = np.array([[2, 1, 1, 0, 0, 0], [0, 1, 0, 2, 1, 0], [0, 0, 1, 0, 1, 2]])
    for place, sign in product(range(3), (1.0, -1.0)):
        moved = state.mean.copy()
        moved[place] += sign * 0.3 * sds[place]
        assert bound(responses, Normals(moved, state.precision, state.damping), shared, priors) < best
        # Stretching one parameter by a factor multiplies its row and column of the covariance.
        wider = state.precision * np.exp(sign * 0.2 * spread[place])[:, None]
        assert bound(responses, Normals(state.mean, wider, state.damping), shared, priors) < best
    for sign in (1.0, -1.0):
        for other in (
            Shared(shared.ability + sign * 0.3 * shared.ability_sd, shared.ability_sd, shared.log_noise),
            Shared(shared.ability, shared.ability_sd * np.exp(sign * 0.2), shared.log_noise),
        ):
            assert bound(responses, state, other, priors) < best


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_the_usual_patience_comes_close_to_the_long_run(response: Response) -> None:
    priors = default_priors(response)
    scores = np.clip(simulate(Priors(), 120, 8, 5, response).scores, 0, 1)
    responses = as_responses(scores, response)
    usual = climb_normals(responses, priors)
    long = climb_normals(responses, priors, ClimbPatience(rounds=200, steps=4, enough=1e-6, gain=1e-8))
    # The bound is of the order of hundreds; an item may still gain a fiftieth of one.
    assert usual.sums.objective - long.sums.objective < 0.02 * 120
    assert np.corrcoef(usual.shared.ability, long.shared.ability)[0, 1] > 0.995
