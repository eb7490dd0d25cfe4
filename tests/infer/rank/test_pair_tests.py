from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr

from sparingly.base import rng
from sparingly.infer.rank.pair_tests import permutation_tests, t_tests, wilcoxon_tests


@pytest.fixture
def scores() -> np.ndarray:
    generator = np.random.default_rng(3)
    hardness, noise = generator.normal(size=(60, 1)), generator.normal(size=(60, 4))
    return np.asarray(np.array([0.0, 0.3, 0.9, 0.0]) + hardness + noise)


def test_t_equals_the_paired_t_test(scores: np.ndarray) -> None:
    found = t_tests(scores.mean(axis=0), np.cov(scores.T) / 60, degrees=59)
    for one in range(4):
        for other in range(4):
            if one != other:
                exact = stats.ttest_rel(scores[:, one], scores[:, other], alternative="less").pvalue
                assert found.worse[one, other] == pytest.approx(exact)
    assert found.two_sided[0, 2] == pytest.approx(stats.ttest_rel(scores[:, 0], scores[:, 2]).pvalue)
    assert np.isnan(np.diag(found.worse)).all()


def test_wilcoxon_equals_scipy(scores: np.ndarray) -> None:
    found = wilcoxon_tests(scores)
    for one, other in [(0, 2), (2, 0), (1, 3)]:
        exact = stats.wilcoxon(scores[:, one], scores[:, other], alternative="less", method="approx").pvalue
        assert found.worse[one, other] == pytest.approx(exact)


def test_permutation_is_near_the_t_test_and_sums_to_one(scores: np.ndarray) -> None:
    keys = rng.keys_of([f"i{place}" for place in range(60)])
    found = permutation_tests(scores, keys, flips=5000)
    near = t_tests(scores.mean(axis=0), np.cov(scores.T) / 60, degrees=59)
    np.testing.assert_allclose(found.worse, near.worse, atol=0.03)
    off = ~np.eye(4, dtype=bool)
    # But for the least that so many flips support.
    np.testing.assert_allclose((found.worse + found.worse.T)[off], 1.0, atol=1 / 5000)


def test_models_that_never_differ_or_never_meet() -> None:
    same = np.array([[1.0, 1.0, np.nan], [2.0, 2.0, np.nan], [np.nan, np.nan, 5.0]])
    keys = rng.keys_of(["a", "b", "c"])
    for found in (permutation_tests(same, keys), wilcoxon_tests(same)):
        assert found.two_sided[0, 1] == 1.0
        assert np.isnan(found.worse[0, 2])
        assert np.isnan(found.two_sided[2, 1])
    sure = t_tests(np.array([1.0, 1.0, 2.0]), np.zeros((3, 3)))
    assert sure.two_sided[0, 1] == 1.0
    assert sure.two_sided[0, 2] == 0.0


def test_no_p_value_is_smaller_than_so_many_units_support(scores: np.ndarray) -> None:
    far = np.array([0.0, 100.0, 200.0])
    found = t_tests(far, np.eye(3), degrees=9)
    # As if one more unit had shown the opposite: t = n/2.
    assert found.two_sided[0, 2] == pytest.approx(2 * stdtr(9, -5.0))
    assert t_tests(far, np.eye(3)).two_sided[0, 2] < 1e-300
    keys = rng.keys_of([f"i{place}" for place in range(60)])
    apart = scores + np.array([0.0, 0.0, 0.0, 50.0])
    assert permutation_tests(apart, keys, flips=1000).two_sided[0, 3] == pytest.approx(2 / 1001)
    assert permutation_tests(apart[:10], keys[:10]).two_sided[0, 3] == 2.0**-9


def test_rounding_is_no_error_and_proves_nothing() -> None:
    # The same difference on every item, in numbers that binary cannot hold.
    scores = np.array([[0.1, 0.3], [0.2, 0.4], [0.7, 0.9], [1.1, 1.3]]) + 1e6
    means, covariance = scores.mean(axis=0), np.cov(scores.T) / 4
    assert t_tests(means, covariance, 3.0, certain=False).two_sided[0, 1] == 1.0
    constant = np.full((10, 2), [0.1, 0.7]) + np.random.default_rng(0).normal(0, 1e-17, (10, 2))
    means, covariance = constant.mean(axis=0), np.cov(constant.T) / 10
    assert t_tests(means, covariance, 9.0, certain=False).two_sided[0, 1] == 1.0
    assert t_tests(means, covariance, certain=True).two_sided[0, 1] == 0.0


def test_an_unknown_error_is_no_test() -> None:
    found = t_tests(np.array([1.0, 2.0, 9.0]), np.diag([0.1, 0.1, np.nan]), 20.0)
    assert np.isnan(found.two_sided[[0, 1], 2]).all()
    assert found.two_sided[0, 1] < 1


def test_where_a_rank_test_contradicts_the_means_nothing_is_decided() -> None:
    # Nine small wins and one large loss: the typical difference and the mean disagree.
    apart = np.array([*np.linspace(1.0, 1.4, 19), -90.0])
    scores = np.column_stack([apart, np.zeros(20)])
    tests = wilcoxon_tests(scores)
    means = scores.mean(axis=0)
    assert means[0] < means[1]
    assert tests.two_sided[0, 1] < 0.01
    assert tests.agreeing(means)[0, 1] == 1.0
    assert tests.agreeing(-means)[0, 1] == tests.two_sided[0, 1]


def test_models_judged_on_everything_are_told_apart_whatever_few_units_support() -> None:
    # Ten units of the third model cannot support p < .0004 for it; the first two are known.
    scores, covariance = np.array([0.3, 0.2, 0.0]), np.diag([0.0, 0.0, 0.01])
    given = np.array([[np.nan, 0.0, 1e-9], [0.0, np.nan, 0.03], [1e-9, 0.03, np.nan]])
    found = t_tests(scores, covariance, degrees=9, certain=False, two_sided=given)
    assert found.two_sided[0, 1] == 0.0
    assert found.two_sided[0, 2] == pytest.approx(2 * stdtr(9, -5.0))
    assert found.two_sided[1, 2] == pytest.approx(0.03)
