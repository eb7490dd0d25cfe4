from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.infer.estimate.effect_prior import EffectPrior
from sparingly.infer.rank.best import chance_of_best


def test_two_models_by_numerical_integration() -> None:
    # One contrast with error variance 1 and known scale: δ² = 2·τ², in units of √(100·error variance).
    chance = chance_of_best(np.array([1.0, 0.0]), 0.5 * np.eye(2), draws=200_000)
    step = np.linspace(-3, 3, 601)
    spread = (0.5 * np.exp(0.8 * step)) ** 2 * 100 * 0.5
    apart = np.linspace(-80, 80, 32_001)
    prior = (np.exp(-0.5 * step**2)[:, None] * stats.norm.pdf(apart, scale=np.sqrt(2 * spread)[:, None])).sum(
        0
    )
    posterior = prior * stats.norm.pdf(1.0, apart, 1.0)
    expected = posterior[apart > 0].sum() / posterior.sum()
    assert chance[0] == pytest.approx(expected, abs=0.005)
    assert 0.5 < chance[0] < stats.norm.cdf(1.0)
    assert chance.sum() == pytest.approx(1)


def test_models_that_never_differ_share_and_those_behind_by_a_fixed_amount_have_none() -> None:
    same = chance_of_best(np.array([1.0, 1.0, np.nan]), np.ones((3, 3)))
    assert same.tolist() == [0.5, 0.5, 0.0]
    covariance = np.ones((3, 3)) + np.diag([0.0, 0.0, 1.0])
    chance = chance_of_best(np.array([1.0, 0.9, 1.0]), covariance, degrees=20)
    assert chance[1] == 0.0
    assert chance[0] == pytest.approx(0.5, abs=0.02)
    # Scores without any error are the truth.
    assert chance_of_best(np.array([0.3, 0.5, 0.5]), np.zeros((3, 3))).tolist() == [0.0, 0.5, 0.5]


def test_few_units_and_many_models_make_less_sure() -> None:
    lead = np.array([2.5, 0.0])
    few, many = (chance_of_best(lead, np.eye(2), degrees=free, units=30)[0] for free in (4, 400))
    assert few < many


def test_twenty_equal_models_on_twelve_items_have_no_likely_best() -> None:
    # The covariance has rank 11 of 20: taken as it is, it would make some model look certain.
    generator = np.random.default_rng(3)
    most = []
    for _ in range(40):
        noisy = generator.standard_normal((12, 20))
        chance = chance_of_best(noisy.mean(axis=0), np.cov(noisy.T) / 12, degrees=11, draws=2_000)
        assert chance.sum() == pytest.approx(1)
        most.append(chance.max())
    assert np.mean(most) < 0.25
    assert np.max(most) < 0.6


def test_unequal_depth_is_honoured() -> None:
    # The first model was judged on nearly everything, the others on few items.
    covariance = np.diag([1e-6, 1.0, 1.0, 1.0])
    sure = chance_of_best(np.array([0.0, -3.0, -3.0, -3.0]), covariance, degrees=10)
    assert sure[0] > 0.95


def test_scale_and_order_do_not_matter() -> None:
    generator = np.random.default_rng(0)
    root = generator.standard_normal((4, 6))
    scores, covariance = generator.standard_normal(4), root @ root.T / 6
    chance = chance_of_best(scores, covariance, degrees=9)
    assert chance_of_best(1e9 * scores + 5, 1e18 * covariance, degrees=9) == pytest.approx(chance, abs=1e-3)
    back = chance_of_best(scores[::-1], covariance[::-1, ::-1], degrees=9)[::-1]
    assert back == pytest.approx(chance, abs=0.02)


def test_models_that_were_judged_less_keep_their_larger_errors() -> None:
    # Errors of σ²/n_j are alike once depth is known, so that shrinking them to like errors changes nothing.
    depths = np.array([100.0, 100.0, 10.0, 10.0])
    scores, covariance = np.array([0.0, 0.1, 0.4, 0.0]), np.diag(1 / depths)
    shrunk, plain = (
        chance_of_best(scores, covariance, degrees=9, units=depths, prior=prior, draws=200_000)
        for prior in (EffectPrior(), EffectPrior(alike=1e-9))
    )
    assert shrunk == pytest.approx(plain, abs=0.005)
    blind = chance_of_best(scores, covariance, degrees=9, units=10.0)
    assert np.abs(blind - shrunk).max() > 0.01
