from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.best_calibration import chance_of_better
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.bradley_terry import bradley_terry
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.full_set_p import EffectPrior
from sparingly.infer.rank.rank import chance_of_best, joint_of, rank_estimates, rank_strengths


def test_two_models_by_numerical_integration() -> None:
    # One contrast with error variance 1 and known scale: δ² = 2·τ², in units of √(100·error variance).
    chance = chance_of_best(np.array([1.0, 0.0]), 0.5 * np.eye(2), draws=200_000)
    step = np.linspace(-3, 3, 61)
    spread = (0.5 * np.exp(0.8 * step)) ** 2 * 100 * 0.5
    apart = np.linspace(-80, 80, 16_001)
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
        for prior in (EffectPrior(), EffectPrior(prior_units=1e-9))
    )
    assert shrunk == pytest.approx(plain, abs=0.005)
    blind = chance_of_best(scores, covariance, degrees=9, units=10.0)
    assert np.abs(blind - shrunk).max() > 0.01


def test_a_ranking_knows_how_deep_each_model_was_judged() -> None:
    scores = np.random.default_rng(1).normal(size=(200, 4)) + np.array([0.0, 0.1, 0.2, 0.0])
    scores[50:, 2:] = np.nan
    found = estimate_scores(scores, size=800, target="population")
    joint = joint_of(found)
    assert joint.units is not None
    assert joint.units.tolist() == [200.0, 200.0, 50.0, 50.0]
    assert joint.of_models(np.array([3, 0])).units == pytest.approx([50.0, 200.0])
    ranking = {one.model: one.chance_of_best for one in rank_estimates(found, found).models}
    by_depth = chance_of_best(
        found.scores, found.covariance, degrees=found.freedom, units=np.array([200.0, 200.0, 50.0, 50.0])
    )
    assert [ranking[name] for name in found.models] == pytest.approx(by_depth.tolist())


def test_chances_to_be_better_by_numerical_integration() -> None:
    # Three pairs, of which two are alike: δ is weighed by all of them, as two observations.
    scores, covariance = np.array([0.3, 0.0, 0.0]), 0.01 * np.eye(3)
    chance = chance_of_better(scores, covariance, degrees=math.inf, units=50)
    seen = np.array([0.3, 0.3, 0.0]) / np.sqrt(0.02)
    steps = np.linspace(-3, 3, 2001)
    room = (0.5 * np.exp(0.8 * steps)) ** 2 * 50
    likely = np.asarray(stats.norm.logpdf(seen, scale=np.sqrt(1 + room)[:, None])).mean(axis=1) * 2
    weight = np.exp(likely - 0.5 * steps**2)
    expected = weight @ stats.norm.cdf(np.sqrt(room / (1 + room)) * seen[0]) / weight.sum()
    assert chance[0, 1] == pytest.approx(expected, abs=5e-4)
    assert chance[0, 1] < stats.norm.cdf(seen[0])
    assert chance[1, 2] == pytest.approx(0.5)
    off = ~np.eye(3, dtype=bool)
    assert (chance + chance.T)[off] == pytest.approx(1.0)
    assert np.isnan(np.diag(chance)).all()


def test_two_models_have_the_same_chance_either_way() -> None:
    scores, covariance = np.array([1.0, 0.0]), np.array([[0.4, 0.1], [0.1, 0.2]])
    best = chance_of_best(scores, covariance, degrees=12, draws=200_000)
    assert chance_of_better(scores, covariance, degrees=12)[0, 1] == pytest.approx(best[0], abs=0.01)


def test_what_says_nothing_has_no_chance() -> None:
    scores, covariance = np.array([1.0, 0.5, np.nan]), np.ones((3, 3))
    assert np.isnan(chance_of_better(scores, covariance, degrees=9)).all()


def test_a_model_that_won_every_comparison_leaves_no_chance_to_the_others() -> None:
    scores = np.random.default_rng(0).normal(size=(30, 3)) + np.array([10.0, 0.0, 0.0])
    data = EvalSet.from_arrays([f"{row:02d}" for row in range(30)], ["a", "b", "c"], aspects={"y": scores})
    strengths = bradley_terry(data.with_preferences_from("y"))
    ranking = rank_strengths(strengths, aspect="y", target="population", alpha=0.05)
    assert [one.chance_of_best for one in ranking.models] == [None, None]
    assert "a: won every comparison, so not ranked." in ranking.notes
    assert not any("not judged" in note for note in ranking.notes)
