from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals.binary import BinaryIntegral
from benchmarks.irt_intervals.continuous import ContinuousIntegral
from benchmarks.irt_intervals.integral import Moments, Places
from benchmarks.irt_intervals.posterior import Posterior, posterior
from sparingly.base.arrays import Floats
from sparingly.published.irt.abilities import DIAGONAL, Shared, inverse
from sparingly.published.irt.fit import Climb, climb_normals
from sparingly.published.irt.items import Normals
from sparingly.published.irt.model import Priors, Response, Responses, as_responses
from tests.published.irt.simulated import simulate, with_gaps

ITEMS, MODELS, DRAWS = 30, 4, 400
GENTLE = Priors(discrimination=(1.5, 0.75))


def fitted(response: Response, noise: float = 0.1) -> tuple[Responses, Climb[Normals], Posterior]:
    drawn = simulate(GENTLE, ITEMS, MODELS, 2, response, noise)
    responses = as_responses(with_gaps(drawn.scores, 0.1, 3), response, 0.5, scale=False)
    normals = climb_normals(responses, GENTLE)
    return responses, normals, posterior(responses, normals, GENTLE)


def weighted_moments(values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    mean = np.tensordot(shares, values, 1)
    return mean, np.tensordot(shares, (values - mean) ** 2, 1)


@pytest.mark.parametrize(("response", "noise"), [("binary", 0.0), ("continuous", 0.2), ("continuous", 0.05)])
def test_means_and_sds_are_those_of_draws_from_the_posterior(response: Response, noise: float) -> None:
    """Abilities are drawn around what was found, and weighted by how likely the responses make them."""
    responses, normals, found = fitted(response, noise)
    integral: BinaryIntegral | ContinuousIntegral = BinaryIntegral(responses, GENTLE)
    places = integral.start()
    if response == "continuous":
        integral = ContinuousIntegral(responses, normals.states, GENTLE)
        # The draws are wider than each item's posterior at given abilities, and so must its nodes be.
        places = Places(found.mean, integral.start().slopes, found.sd[2])
    root = np.linalg.cholesky(found.covariance)
    steps = 1.2 * np.random.default_rng(5).standard_normal((DRAWS, MODELS))
    abilities = found.ability + steps @ root.T
    logs, parts = np.empty(DRAWS), list[Moments]()
    for place, ability in enumerate(abilities):
        totals, moments = integral.at(Shared(ability, np.zeros(MODELS), normals.shared.log_noise), places)
        parts.append(moments)
        logs[place] = (
            totals.value - 0.5 * ability @ ability + 0.5 * (steps[place] / 1.2) @ (steps[place] / 1.2)
        )
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    assert 1.0 / (shares @ shares) > 0.25 * DRAWS
    mean, variance = weighted_moments(abilities, shares)
    assert np.abs(found.ability - mean).max() < 0.3 * np.sqrt(variance).min()
    np.testing.assert_allclose(found.ability_sd, np.sqrt(variance), rtol=0.25)
    means = np.stack([part.mean[:, integral.rows] for part in parts])
    mean, between = weighted_moments(means, shares)
    within = np.tensordot(shares, np.stack([part.variance[:, integral.rows] for part in parts]), 1)
    sds = np.sqrt(within + between)
    assert np.quantile(np.abs(found.mean - mean) / sds, 0.95) < 0.15
    np.testing.assert_allclose(np.median(found.sd / sds, axis=1), 1.0, atol=0.06)


@pytest.mark.parametrize("response", ["binary", "continuous"])
def test_it_is_less_sure_than_the_fit(response: Response) -> None:
    _, normals, found = fitted(response)
    assert (found.ability_sd > normals.shared.ability_sd).all()
    sds = np.sqrt(inverse(normals.states[0].precision)[DIAGONAL])
    # Of difficulties most of all; feasibility is mostly prior, and hardly less sure than before.
    assert np.median(found.sd / sds, axis=1)[1:].min() > 1.01
    assert np.mean(found.sd[1:] > sds[1:]) > 0.95


def test_scores_of_hardly_any_noise_leave_the_origin_and_the_unit_to_the_priors() -> None:
    drawn = simulate(Priors(), 60, 10, 4, noise=0.003)
    responses = as_responses(drawn.scores, "continuous", scale=False)
    found = posterior(responses, climb_normals(responses, Priors()), Priors())
    bends, directions = np.linalg.eigh(found.covariance)
    away = found.ability - found.ability.mean()
    common = np.stack([np.ones(10) / np.sqrt(10.0), away / np.linalg.norm(away)])
    # Two directions are far wider than all others, and they are a shift and a stretch of all abilities.
    assert bends[-2] > 10.0 * bends[-3]
    assert np.linalg.svd(common @ directions[:, -2:])[1].min() > 0.99
    # 60 difficulties and 10 abilities with a standard deviation of 1 tell their common mean to 1/√70.
    shift = np.sqrt(np.ones(10) @ found.covariance @ np.ones(10)) / 10.0
    assert shift == pytest.approx(1.0 / np.sqrt(70.0), rel=0.4)


def test_one_model_and_models_that_are_all_the_same() -> None:
    for scores in (
        np.linspace(0.1, 0.9, 12)[:, None],
        np.repeat(np.linspace(0.1, 0.9, 12)[:, None], 4, axis=1),
    ):
        responses = as_responses(scores, "continuous")
        found = posterior(responses, climb_normals(responses, Priors()), Priors())
        assert np.isfinite(found.mean).all()
        assert (found.sd > 0.0).all()
        assert (found.ability_sd <= 2.0).all()
