from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.arrays import estimate_scores
from sparingly.infer.estimate.full_set_p import (
    chance_full_set_shows,
    full_set_chances,
    full_set_p_values,
)


def test_it_is_the_z_test_that_the_whole_set_would_have() -> None:
    # d̂ = .1, s = 1, N = 400: z = 2.
    found = full_set_p_values(np.array([0.1, -0.1, 0.0]), np.ones(3), 400)
    assert found == pytest.approx([norm.sf(2), norm.cdf(2), 0.5])


def test_noise_is_shrunk_away() -> None:
    # mean d̂² = .01 = se²: nothing is left; with se² = .005 half of each difference is.
    d = np.array([0.1, -0.1])
    assert full_set_p_values(d, np.ones(2), 400, errors=np.full(2, 0.1)) == pytest.approx([0.5, 0.5])
    half = full_set_p_values(d, np.ones(2), 400, errors=np.full(2, np.sqrt(0.005)))
    assert half == pytest.approx([norm.sf(1), norm.cdf(1)])


def test_no_spread_and_no_difference() -> None:
    found = full_set_p_values(np.array([0.0, 1.0, np.nan]), np.array([0.0, 0.0, 1.0]), 10)
    assert found[:2].tolist() == [0.5, 0.0]
    assert np.isnan(found[2])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match="one deviation"):
        full_set_p_values(np.zeros(2), np.ones(3), 10)
    with pytest.raises(UsageError, match="one item or more"):
        full_set_p_values(np.zeros(2), np.ones(2), 0)


def test_a_fully_judged_set_shows_what_its_test_says() -> None:
    # Without error, z is what it is: beyond t's critical value of 1.984 (100 items) or not.
    z = np.array([1.9, 2.1, -2.1, 0.0])
    chance = chance_full_set_shows(z / 10.0, np.zeros(4), np.ones(4), 100, models=4)
    assert chance == pytest.approx([0.0, 1.0, 1.0, 0.0])


def test_the_chance_that_all_items_show_it_by_numerical_integration() -> None:
    size, seen, noise = 400, 2.5, 3.0
    chance = chance_full_set_shows(
        np.array([seen / 20.0]), np.array([np.sqrt(noise / size)]), np.ones(1), size, models=2
    )
    log_effect = np.linspace(-3, 3, 601)
    z = np.linspace(-60, 60, 24_001)
    room = (0.5 * np.exp(0.8 * log_effect)) ** 2 * size
    prior = np.exp(-0.5 * log_effect[:, None] ** 2) * stats.norm.pdf(z, scale=np.sqrt(room)[:, None])
    posterior = prior.sum(axis=0) * stats.norm.pdf(seen, z, np.sqrt(noise))
    expected = posterior[z > stats.t.ppf(0.975, size - 1)].sum() / posterior.sum()
    assert chance[0] == pytest.approx(expected, abs=0.005)


def test_noise_lowers_the_chance_and_more_items_raise_it() -> None:
    apart, spread = np.array([0.2, 0.2, 0.2]), np.ones(3)
    chance = chance_full_set_shows(apart, np.array([0.01, 0.1, 0.2]), spread, 400, models=3, degrees=30)
    assert chance[0] > chance[1] > chance[2] > 0.1
    # A set of twenty items does not show a fifth of a standard deviation, however sure the estimate.
    assert chance_full_set_shows(apart, np.full(3, 0.01), spread, 20, models=3).max() < 0.01


def test_the_same_difference_on_every_judged_item_says_nothing() -> None:
    chance = chance_full_set_shows(
        np.array([0.5, 0.5, np.nan]), np.array([0.0, 0.1, 0.1]), np.array([0.0, 1.0, 1.0]), 100, models=3
    )
    assert np.isnan(chance).tolist() == [True, False, True]


def test_chances_need_arrays_that_belong_together() -> None:
    with pytest.raises(UsageError, match="one error and one deviation"):
        chance_full_set_shows(np.zeros(2), np.ones(3), np.ones(2), 10, models=2)
    with pytest.raises(UsageError, match="two items and two models"):
        chance_full_set_shows(np.zeros(1), np.ones(1), np.ones(1), 1, models=2)


def test_chances_of_an_estimate_are_those_of_its_arrays() -> None:
    scores = np.random.default_rng(3).normal(size=(40, 3)) + np.array([0.0, 0.4, 0.1])
    found = estimate_scores(scores, size=600)
    assert found.pairs is not None
    square = full_set_chances(found.scores, found.pairs)
    apart = np.stack([scores[:, 0] - scores[:, 1], scores[:, 0] - scores[:, 2], scores[:, 1] - scores[:, 2]])
    spread = apart.std(axis=1, ddof=1)
    errors = spread * np.sqrt(1 / 40 - 1 / 600)
    by_hand = chance_full_set_shows(apart.mean(axis=1), errors, spread, 600, models=3, degrees=39)
    assert square[[0, 0, 1], [1, 2, 2]] == pytest.approx(by_hand)
    assert square[[1, 2, 2], [0, 0, 1]] == pytest.approx(by_hand)
    assert np.isnan(np.diag(square)).all()
    few = estimate_scores(scores[:9], size=600)
    assert few.pairs is not None
    assert np.isnan(full_set_chances(few.scores, few.pairs)).all()
