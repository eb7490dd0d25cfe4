"""Curves that might have been: their spread is that of the curve itself."""

from __future__ import annotations

import numpy as np

from benchmarks.leaderboard.ranges import freedom_of, mean_draws, resample_moves
from benchmarks.leaderboard.results import SPA
from tests.benchmarks.leaderboard.arrays import runs_of

GENERATOR = np.random.default_rng


def test_draws_of_seeds_spread_as_the_mean_does() -> None:
    values = GENERATOR(1).normal(0.8, 0.05, (10, 2))
    draws = mean_draws(runs_of(values), SPA, GENERATOR(2), count=20_000)
    np.testing.assert_allclose(draws.mean(axis=0), values.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(draws.std(axis=0), values.std(axis=0, ddof=1) / np.sqrt(10), rtol=0.03)


def test_a_missing_cell_is_left_out_of_the_means() -> None:
    values = np.array([[0.5, 0.6], [np.nan, 0.6], [0.7, 0.6]])
    draws = mean_draws(runs_of(values), SPA, GENERATOR(2), count=5)
    assert not np.isnan(draws[:, 1]).any()
    np.testing.assert_allclose(runs_of(values).curve(SPA), [0.6, 0.6])


def test_draws_of_resamples_spread_as_the_jackknife_says() -> None:
    resampled = GENERATOR(1).normal(0.8, 0.05, (10, 2))
    draws = mean_draws(runs_of([0.9, 0.95], resampled=resampled), SPA, GENERATOR(2), count=20_000)
    np.testing.assert_allclose(draws.mean(axis=0), [0.9, 0.95], atol=3e-3)
    # Resamples hold 80 %: the variance is 0.8/0.2 = 4 times theirs.
    np.testing.assert_allclose(draws.std(axis=0), 2.0 * resampled.std(axis=0, ddof=1), rtol=0.03)


def test_a_resample_moves_the_curve_as_far_as_it_lies_off_their_mean() -> None:
    resampled = np.array([[0.6, 0.8], [0.8, 0.9], [0.7, 0.7]])
    moves = resample_moves(runs_of([0.9, 0.95], resampled=resampled), SPA)
    np.testing.assert_allclose(moves, [[-0.1, 0.0], [0.1, 0.1], [0.0, -0.1]], atol=1e-12)
    assert resample_moves(runs_of([0.9, 0.95]), SPA).shape == (0, 2)


def test_one_run_without_resamples_has_no_draws() -> None:
    assert np.isnan(mean_draws(runs_of([0.9, 0.95]), SPA, GENERATOR(2))).all()


def test_freedom_is_that_of_seeds_or_of_resamples() -> None:
    assert freedom_of(runs_of(np.full((10, 2), 0.5)), SPA) == 9.0
    assert freedom_of(runs_of([0.5, 0.5], resampled=np.full((6, 2), 0.5)), SPA) == 5.0
