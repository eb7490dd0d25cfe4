from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as TheirRidge

from sparingly.base.arrays import Floats
from sparingly.signals.predict.regressors import PRIOR_LABELS, RidgeFit, fit_ridge


def problem(
    items: int = 14, models: int = 3, features: int = 5, seed: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Features, scores and weights, with some cells that nobody judged."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(items, models, features))
    y = x @ draw.normal(size=features) + np.arange(models) + draw.normal(size=(items, models))
    weights = draw.uniform(0.5, 2.0, size=y.shape) * (draw.uniform(size=y.shape) > 0.2)
    return x, np.where(weights > 0, y, np.nan), weights


def design(x: Floats) -> Floats:
    """A column of ones, one column per model, then the features; one row per cell."""
    items, models, features = x.shape
    each = np.broadcast_to(np.eye(models), (items, models, models))
    ones = np.ones((items, models, 1))
    return np.concatenate([ones, each, x], axis=2).reshape(-1, 1 + models + features)


def hat_by_hand(x: Floats, weights: Floats, penalty: float) -> Floats:
    """From scores to fitted scores of all cells, by the penalised normal equations written out."""
    columns, w = design(x), weights.ravel()
    models, features = x.shape[1:]
    penalties = np.diag([0.0] + [PRIOR_LABELS] * models + [penalty] * features)
    return np.asarray(
        columns @ np.linalg.solve(columns.T @ (w[:, None] * columns) + penalties, columns.T * w)
    )


def mixture(fit: RidgeFit, one: Floats | float, other: Floats | float) -> Floats:
    """What two penalties, the second infinite, give together."""
    return np.asarray(fit.shares[0] * np.asarray(one) + fit.shares[1] * np.asarray(other))


@pytest.mark.parametrize("penalty", [0.01, 1.0, 50.0])
def test_is_the_penalised_least_squares_fit(penalty: float) -> None:
    x, y, weights = problem()
    fit = fit_ridge(x, y, weights, penalties=(penalty,), relative=False)
    scores = np.nan_to_num(y).ravel()
    expected = mixture(fit, hat_by_hand(x, weights, penalty) @ scores, hat_by_hand(x, weights, 1e12) @ scores)
    assert 0.0 < fit.shares[1] < 1.0
    assert fit.predict(x).ravel() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_with_one_model_is_scikit_learns_ridge(penalty: float) -> None:
    x, _, weights = problem(items=30, models=1)
    y = np.sin(np.arange(30.0))[:, None] + x[:, :, 0]
    weights += 0.1
    theirs = TheirRidge(alpha=penalty).fit(x[:, 0], y[:, 0], sample_weight=weights[:, 0])
    ours = fit_ridge(x, y, weights, penalties=(penalty,), relative=False)
    assert ours.coefficients == pytest.approx(ours.shares[0] * theirs.coef_)
    assert (weights * (y - ours.predict(x))).sum() == pytest.approx(0.0, abs=1e-9)


def test_left_out_residuals_are_those_of_a_fit_without_the_item() -> None:
    x, y, weights = problem(items=9)
    fit = fit_ridge(x, y, weights, penalties=(2.0,), relative=False)
    scores = np.nan_to_num(y)
    for item in range(len(y)):
        others = weights.copy()
        others[item] = 0.0
        found = mixture(
            fit, *(hat_by_hand(x, others, penalty) @ scores.ravel() for penalty in (2.0, 1e12))
        ).reshape(y.shape)
        judged = weights[item] > 0
        assert fit.left_out[item][judged] == pytest.approx((scores - found)[item][judged], abs=1e-6)
        assert not fit.left_out[item][~judged].any()


def test_parameters_are_the_trace_of_the_hat_matrix() -> None:
    x, y, weights = problem()
    fit = fit_ridge(x, y, weights, penalties=(2.0,), relative=False)
    traces = [np.trace(hat_by_hand(x, weights, penalty)) for penalty in (2.0, 1e12)]
    assert fit.parameters == pytest.approx(float(mixture(fit, *traces)), abs=1e-6)


def test_best_penalty_of_a_clear_case_takes_part_most() -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(60, 4, 6))
    y = x @ np.arange(6.0)
    fit = fit_ridge(x, y, np.ones(y.shape))
    assert int(np.argmax(fit.shares)) == 0
    assert fit.coefficients == pytest.approx(np.arange(6.0), abs=0.05)


def test_features_that_say_nothing_are_hardly_believed() -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=(30, 4, 20))
    y = draw.normal(size=(30, 4)) + 3.0 * draw.normal(size=(30, 1))
    fit = fit_ridge(x, y, np.ones(y.shape))
    assert np.std(x @ fit.coefficients) < 0.25 * np.std(y)


def test_difference_between_models_is_no_slope() -> None:
    """A metric that only follows which model wrote the output must not look like a good one."""
    draw = np.random.default_rng(3)
    of_model = np.arange(4.0)
    x = (of_model + 0.1 * draw.normal(size=(50, 4)))[:, :, None]
    y = 5.0 * of_model + draw.normal(size=(50, 4))
    fit = fit_ridge(x, y, np.ones(y.shape))
    assert np.abs(fit.coefficients * 0.1).max() < 0.5
    assert fit.predict(x).mean(axis=0) == pytest.approx(y.mean(axis=0), abs=0.2)


def test_constant_scores_are_predicted() -> None:
    x = np.random.default_rng(4).normal(size=(8, 2, 3))
    fit = fit_ridge(x, np.full((8, 2), 7.0), np.ones((8, 2)))
    assert fit.predict(x) == pytest.approx(np.full((8, 2), 7.0))
    assert fit.left_out == pytest.approx(np.zeros((8, 2)), abs=1e-9)


def test_more_features_than_labels() -> None:
    draw = np.random.default_rng(5)
    x = draw.normal(size=(6, 2, 40))
    fit = fit_ridge(x, x[:, :, 0], np.ones((6, 2)))
    assert np.isfinite(fit.coefficients).all()
    assert fit.parameters <= 12.0 + 1e-9
