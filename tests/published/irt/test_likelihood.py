from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.published.irt.items import likelihood_of
from sparingly.published.irt.model import Response, Responses, as_responses

STEP = 1e-5


def made(response: Response, models: int = 5) -> Responses:
    scores = np.random.default_rng(1).random((8, models))
    scores[2, 1] = scores[5] = np.nan
    scores[5, 0] = 0.4
    return as_responses(scores, response, 0.5, scale=False)


def test_continuous_is_the_normal_density() -> None:
    responses = made("continuous")
    assert responses.present is not None
    curve = np.random.default_rng(2).random(responses.shape)
    measured = likelihood_of(responses, np.log(0.3)).measure(curve, np.empty_like(curve))
    densities = stats.norm.logpdf(responses.values, curve, 0.3) * responses.present
    np.testing.assert_allclose(measured.value, densities.sum(axis=0))
    squares = (responses.values - curve) ** 2 * responses.present
    np.testing.assert_allclose(measured.squares, squares.sum(axis=0))


@pytest.mark.parametrize("models", [5, 40])
def test_binary_is_the_bernoulli_probability(models: int) -> None:
    responses = made("binary", models)
    assert responses.present is not None
    curve = np.random.default_rng(2).uniform(0.01, 0.99, responses.shape)
    measured = likelihood_of(responses, 0.0).measure(curve, np.empty_like(curve))
    chances = stats.bernoulli.logpmf(responses.values, curve) * responses.present
    np.testing.assert_allclose(measured.value, chances.sum(axis=0))
    assert not measured.squares.any()


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_derivatives_are_those_of_the_logarithm_of_the_curve(response: Response) -> None:
    responses = made(response)
    likelihood = likelihood_of(responses, np.log(0.3))
    curve = np.random.default_rng(3).uniform(0.05, 0.95, responses.shape)
    measured = likelihood.measure(curve, np.empty_like(curve))
    bend = likelihood.bend(curve, measured.pull)
    for model in range(responses.shape[0]):
        factor = np.ones((responses.shape[0], 1))
        factor[model] = np.exp(STEP)
        up, down = (
            likelihood.measure(moved, np.empty_like(curve)) for moved in (curve * factor, curve / factor)
        )
        np.testing.assert_allclose(measured.pull[model], (up.value - down.value) / (2 * STEP), atol=1e-7)
        np.testing.assert_allclose(bend[model], (down.pull - up.pull)[model] / (2 * STEP), atol=1e-6)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_expected_bend_is_the_mean_over_responses(response: Response) -> None:
    curve = np.full((1, 20_000), 0.3)
    drawn = np.random.default_rng(4)
    values = (
        drawn.normal(0.3, 0.2, curve.shape) if response == "continuous" else drawn.random(curve.shape) < 0.3
    )
    likelihood = likelihood_of(Responses(values.astype(np.float64), None, response), np.log(0.2))
    measured = likelihood.measure(curve, np.empty_like(curve))
    mean = likelihood.bend(curve, measured.pull).mean()
    assert mean == pytest.approx(likelihood.expected_bend(curve)[0, 0], rel=0.05)


def test_an_impossible_response_costs_a_finite_amount() -> None:
    responses = Responses(np.ones((2, 1)), None, "binary")
    measured = likelihood_of(responses, 0.0).measure(np.zeros((2, 1)), np.empty((2, 1)))
    assert np.isfinite(measured.value).all()
    assert np.isfinite(measured.pull).all()
