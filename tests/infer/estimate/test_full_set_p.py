from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.full_set_p import full_set_p_values


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
