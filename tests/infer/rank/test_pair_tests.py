from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

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
    np.testing.assert_allclose((found.worse + found.worse.T)[off], 1.0)


def test_models_that_never_differ_or_never_meet() -> None:
    same = np.array([[1.0, 1.0, np.nan], [2.0, 2.0, np.nan], [np.nan, np.nan, 5.0]])
    keys = rng.keys_of(["a", "b", "c"])
    for found in (permutation_tests(same, keys), wilcoxon_tests(same)):
        assert found.two_sided[0, 1] == 1.0
        assert np.isnan(found.worse[0, 2])
        assert np.isnan(found.corrected[2, 1])
    sure = t_tests(np.array([1.0, 1.0, 2.0]), np.zeros((3, 3)))
    assert sure.two_sided[0, 1] == 1.0
    assert sure.two_sided[0, 2] == 0.0


def test_correction_counts_every_pair_once(scores: np.ndarray) -> None:
    found = t_tests(scores.mean(axis=0), np.cov(scores.T) / 60, degrees=59)
    smallest = np.nanmin(found.two_sided)
    assert np.nanmin(found.corrected) == pytest.approx(6 * smallest)
    np.testing.assert_array_equal(found.corrected, found.corrected.T)
