from __future__ import annotations

import numpy as np
import pytest

from sparingly.published.irt import fisher_information
from sparingly.published.irt.model import Form, IrtFit, Parameters, Priors, Response, expit, item_information

STEP = 1e-4


def made(response: Response) -> IrtFit:
    drawn = np.random.default_rng(1)
    found = Parameters(
        discrimination=drawn.normal(1.0, 1.0, 8),
        difficulty=drawn.normal(size=8),
        logit_feasibility=drawn.normal(1.0, 1.0, 8),
        ability=np.array([-1.3, np.nan, 0.2, 0.9]),
    )
    return IrtFit(response, "map", found, 0.15 if response == "continuous" else None, 0.0, Priors())


def test_published_by_hand() -> None:
    found = Parameters(np.array([2.0]), np.array([0.5]), np.array([0.0]), np.array([0.5, 1.5]))
    fit = IrtFit("continuous", "map", found, 0.1, 0.0, Priors())
    # σ = 1/2 at the difficulty, 4·1/4; and σ(2) one above it.
    expected = 1.0 + 4.0 * expit(np.array(2.0)) * expit(np.array(-2.0))
    np.testing.assert_allclose(fisher_information(fit), [expected])


def test_published_is_the_printed_formula() -> None:
    fit = made("continuous")
    slope, difficulty = fit.discrimination, fit.difficulty
    for ability in (-1.3, 0.2, 0.9):
        # Equation 15 as printed.
        printed = slope**2 * np.exp(slope * (ability + difficulty))
        printed /= (np.exp(slope * difficulty) + np.exp(slope * ability)) ** 2
        np.testing.assert_allclose(item_information(fit, ability), printed)


def test_published_is_minus_the_second_derivative_of_the_log_response() -> None:
    fit = made("continuous")
    low, middle, high = (np.log(fit.curves(np.array([0.4 + move]))[:, 0]) for move in (-STEP, 0.0, STEP))
    second = -(low - 2.0 * middle + high) / STEP**2
    np.testing.assert_allclose(item_information(fit, 0.4), second, atol=1e-5)


def test_exact_continuous_is_the_squared_slope_over_the_noise() -> None:
    fit = made("continuous")
    assert fit.noise is not None
    low, high = (fit.curves(np.array([0.4 + move]))[:, 0] for move in (-STEP, STEP))
    slope = (high - low) / (2 * STEP)
    np.testing.assert_allclose(item_information(fit, 0.4, "exact"), (slope / fit.noise) ** 2, rtol=1e-5)


def test_exact_binary_is_the_expected_square_of_the_score() -> None:
    fit = made("binary")
    low, middle, high = (fit.curves(np.array([0.4 + move]))[:, 0] for move in (-STEP, 0.0, STEP))
    successes = (np.log(high) - np.log(low)) / (2 * STEP)
    failures = (np.log1p(-high) - np.log1p(-low)) / (2 * STEP)
    expected = middle * successes**2 + (1 - middle) * failures**2
    np.testing.assert_allclose(item_information(fit, 0.4, "exact"), expected, rtol=1e-5)


@pytest.mark.parametrize("response", ["continuous", "binary"])
@pytest.mark.parametrize("form", ["published", "exact"])
def test_information_is_summed_over_models_that_have_an_ability(response: Response, form: Form) -> None:
    fit = made(response)
    parts = [item_information(fit, ability, form) for ability in (-1.3, 0.2, 0.9)]
    np.testing.assert_allclose(fisher_information(fit, form), np.sum(parts, axis=0))


def test_information_is_finite_and_positive_far_from_every_item() -> None:
    found = Parameters(
        np.array([50.0, -50.0]), np.array([9.0, 9.0]), np.array([40.0, 40.0]), np.array([-30.0, 30.0])
    )
    for response, noise in (("continuous", 0.1), ("binary", None)):
        fit = IrtFit(response, "map", found, noise, 0.0, Priors())  # type: ignore[arg-type]
        for form in ("published", "exact"):
            information = fisher_information(fit, form)
            assert np.isfinite(information).all()
            assert (information >= 0).all()
