from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.plan.pilot import plausible_scores


def test_what_is_certain_stays_as_it_is() -> None:
    scores = np.array([10.0, 0.0, 0.0, -10.0])
    for covariance in (np.zeros((4, 4)), np.full((4, 4), 1e6)):
        found = plausible_scores(scores, covariance, draws=50)
        np.testing.assert_allclose(found, np.broadcast_to(scores, (50, 4)), atol=1e-6)
    assert (plausible_scores(scores, np.zeros((4, 4)), draws=5)[:, 1] == 0.0).all()


def test_small_errors_leave_small_doubt() -> None:
    found = plausible_scores(np.array([10.0, 0.0, -10.0]), 0.01 * np.eye(3))
    np.testing.assert_allclose(found.mean(axis=0), [10.0, 0.0, -10.0], atol=0.02)
    # The error of a distance from the mean is 0.01·(1 − 1/3).
    np.testing.assert_allclose(found.std(axis=0), np.sqrt(0.01 * 2 / 3), rtol=0.1)


def test_differences_within_their_errors_shrink() -> None:
    found = plausible_scores(np.array([1.0, 0.0, -1.0]), 4.0 * np.eye(3), draws=20_000)
    apart = found[:, 0] - found[:, 2]
    assert 0.0 < apart.mean() < 1.0
    assert apart.std() > 0.5


def test_against_the_posterior_by_brute_force() -> None:
    """Two models: one distance d with the error e; its posterior over a fine grid of τ and d."""
    difference, error = 1.5, 1.0
    found = plausible_scores(np.array([difference, 0.0]), np.eye(2) * error**2, draws=100_000)
    # The distance along (1, −1)/√2.
    away = difference / np.sqrt(2)
    tau = np.linspace(0, 3 * np.sqrt(away**2 + error**2), 400)[1:, None]
    true = np.linspace(-8, 8, 1601)[None, :]
    density = np.exp(-0.5 * (true / tau) ** 2) / tau * np.exp(-0.5 * ((away - true) / error) ** 2)
    weight = density.sum(axis=0) / density.sum()
    mean, square = (weight * true[0]).sum(), (weight * true[0] ** 2).sum()
    drawn = (found[:, 0] - found[:, 1]) / np.sqrt(2)
    assert drawn.mean() == pytest.approx(mean, abs=0.03)
    assert drawn.var() == pytest.approx(square - mean**2, rel=0.06)


def test_models_with_like_outputs_are_not_torn_apart() -> None:
    """Two models err alike: their difference is known well, and is left as it is."""
    covariance = np.array([[20.0, 19.999, 0.0], [19.999, 20.0, 0.0], [0.0, 0.0, 20.0]])
    found = plausible_scores(np.array([10.0, 9.0, -10.0]), covariance)
    np.testing.assert_allclose(found[:, 0] - found[:, 1], 1.0, atol=0.25)
    assert (found[:, 0] - found[:, 2]).std() > 3.0


def test_one_model_stands_where_it_stands() -> None:
    assert plausible_scores(np.array([4.0]), np.ones((1, 1)), draws=3).tolist() == [[4.0]] * 3


def test_the_same_seed_gives_the_same_draws() -> None:
    scores = np.array([1.0, 0.5, 0.0])
    one, same, other = (plausible_scores(scores, np.eye(3), seed=seed, draws=9) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
