from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sparingly.base.arrays import Floats
from sparingly.signals.predict.regressors import PRIOR_LABELS, model_intercepts


def test_intercepts_minimise_what_they_say() -> None:
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(6, 3)) + np.array([0.0, 5.0, 1.0])
    weights = draw.uniform(0.0, 2.0, size=(6, 3))

    def loss(parameters: Floats) -> float:
        common, own = parameters[0], parameters[1:]
        return float((weights * (scores - common - own) ** 2).sum() + PRIOR_LABELS * (own**2).sum())

    best = minimize(loss, np.zeros(4), tol=1e-12).x
    assert model_intercepts(scores, weights) == pytest.approx(best[0] + best[1:], abs=1e-5)


def test_equal_models_have_the_mean() -> None:
    assert model_intercepts(np.full((4, 3), 2.5), np.ones((4, 3))) == pytest.approx(2.5)


def test_model_without_labels_has_the_common_intercept() -> None:
    scores = np.array([[1.0, 5.0, 0.0], [1.0, 5.0, 0.0]])
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    first, second, third = model_intercepts(scores, weights)
    assert third == pytest.approx(3.0)
    # Two labels against one label's worth of prior: two thirds of the way from the common intercept.
    assert (first, second) == pytest.approx((3.0 - 2.0 * 2 / 3, 3.0 + 2.0 * 2 / 3))
