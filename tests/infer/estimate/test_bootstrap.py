from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.infer.estimate.intervals import studentised_quantiles

ONE = np.zeros(60, np.int64)


def test_a_symmetric_shape_gives_the_quantiles_of_student() -> None:
    shape = stats.norm.ppf((np.arange(60) + 0.5) / 60)[:, None]
    low, high = studentised_quantiles(shape, ONE, 0.95, seed=1)
    assert low[0] == pytest.approx(-stats.t.ppf(0.975, 59), abs=0.15)
    assert high[0] == pytest.approx(stats.t.ppf(0.975, 59), abs=0.15)


def test_a_long_right_tail_gives_a_longer_right_side_of_the_interval() -> None:
    shape = stats.expon.ppf((np.arange(60) + 0.5) / 60)[:, None]
    low, high = studentised_quantiles(shape, ONE, 0.95, seed=1)
    # The interval is [μ̂ − high·se, μ̂ − low·se].
    assert -low[0] > high[0] + 0.3
    mirrored = studentised_quantiles(-shape, ONE, 0.95, seed=1)
    assert (mirrored[0][0], mirrored[1][0]) == pytest.approx((-high[0], -low[0]))


def test_scale_does_not_matter_and_the_seed_decides() -> None:
    shape = np.random.default_rng(0).exponential(size=(60, 2))
    first = studentised_quantiles(shape, ONE, 0.9, seed=3)
    again = studentised_quantiles(shape * 1e-6, ONE, 0.9, seed=3)
    assert np.allclose(first, again)
    other = studentised_quantiles(shape, ONE, 0.9, seed=4)
    assert not np.allclose(first, other)


def test_columns_do_not_depend_on_each_other() -> None:
    shape = np.random.default_rng(0).normal(size=(60, 3))
    together = studentised_quantiles(shape, ONE, 0.95, seed=3)
    alone = studentised_quantiles(shape[:, 1:2], ONE, 0.95, seed=3)
    assert together[0][1] == alone[0][0]


def test_strata_are_drawn_from_by_themselves() -> None:
    # What differs between strata only is no error: within each the units are equal but for a little.
    noise = np.random.default_rng(0).normal(size=60)
    strata = np.repeat([0, 1], 30)
    shape = (100.0 * strata + noise)[:, None]
    low, high = studentised_quantiles(shape, strata, 0.95, seed=1)
    assert 1.8 < high[0] < 2.3
    assert -2.3 < low[0] < -1.8


def test_too_few_units_that_differ_give_no_end() -> None:
    shape = np.zeros((60, 1))
    shape[0] = 1.0
    low, _ = studentised_quantiles(shape, ONE, 0.95, seed=1)
    assert np.isneginf(low[0])
