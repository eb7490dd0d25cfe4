"""Numbers far from the rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.base.stats.moments import outlier_p_values


def test_is_the_two_sample_t_test_of_one_against_the_others() -> None:
    values = np.array([1.0, 2.0, 1.5, 0.7, 9.0])
    found = outlier_p_values(values, np.zeros(5))
    for place in range(5):
        others = np.delete(values, place)
        t = (values[place] - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / 4))
        assert found[place] == pytest.approx(2 * stats.t.sf(abs(t), 3))


def test_sides() -> None:
    values, errors = np.array([1.0, 2.0, 1.5, 0.7, 9.0]), np.zeros(5)
    low, high = (outlier_p_values(values, errors, side) for side in ("low", "high"))
    assert low + high == pytest.approx(np.ones(5))
    assert high[4] < 0.01 < low[4]


def test_what_is_known_badly_is_no_outlier() -> None:
    values = np.array([1.0, 1.1, 0.9, 1.05, 4.0])
    sure = outlier_p_values(values, np.full(5, 0.01))[4]
    unsure = outlier_p_values(values, np.array([0.01, 0.01, 0.01, 0.01, 3.0]))[4]
    assert sure < 0.001
    assert unsure > 0.2


def test_noise_of_the_others_counts() -> None:
    values = np.array([1.0, 1.0, 1.0, 1.0, 1.5])
    assert outlier_p_values(values, np.zeros(5))[4] == 0.0
    assert outlier_p_values(values, np.full(5, 0.5))[4] > 0.3


def test_three_are_too_few_and_missing_ones_do_not_count() -> None:
    assert np.isnan(outlier_p_values(np.array([1.0, 2.0, np.nan, 90.0]), np.zeros(4))).all()


def test_errs_as_rarely_as_it_says() -> None:
    random = np.random.default_rng(0)
    found = np.array([outlier_p_values(random.normal(size=6), np.zeros(6)) for _ in range(2000)])
    assert (found < 0.05).mean() == pytest.approx(0.05, abs=0.01)
