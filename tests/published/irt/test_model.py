from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.published.irt.model import (
    BINARY,
    CONTINUOUS,
    IrtFit,
    Parameters,
    Priors,
    default_priors,
    expit,
)

NAN = np.nan


def made(*values: float) -> Parameters:
    return Parameters(*(np.array([value, NAN]) for value in values))


FIT = IrtFit(
    "continuous",
    "variational",
    made(2.0, 0.5, 0.0, 1.0),
    noise=0.1,
    objective=-3.0,
    priors=Priors(),
    sds=made(0.1, 0.1, 0.1, 0.1),
    centres=made(2.1, 0.4, 0.1, 1.1),
    spreads=made(0.2, 0.3, 0.4, 0.05),
)


def test_curves_by_hand() -> None:
    curves = FIT.curves(np.array([0.5, 1.0, 99.0]))
    # c = 1/2: a quarter at the difficulty, a half of σ(1) one half above it, and a half at the top.
    np.testing.assert_allclose(curves[0], [0.25, 0.5 / (1 + np.exp(-1.0)), 0.5])
    assert np.isnan(curves[1]).all()
    assert FIT.predicted()[0, 0] == curves[0, 1]
    assert FIT.feasibility[0] == 0.5


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_intervals_are_normal_ones_about_the_corrected_means(level: float) -> None:
    low, high = FIT.intervals(level)
    expected = stats.norm.interval(level, 2.1, 0.2)
    assert (low.discrimination[0], high.discrimination[0]) == pytest.approx(expected)
    assert high.ability[0] - low.ability[0] == pytest.approx(2 * stats.norm.ppf(0.5 + level / 2) * 0.05)
    assert np.isnan(low.difficulty[1])


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 90.0])
def test_a_level_is_a_probability(level: float) -> None:
    with pytest.raises(UsageError, match="lies between 0 and 1"):
        FIT.intervals(level)


def test_a_fit_of_points_has_no_intervals() -> None:
    fit = IrtFit("binary", "map", made(1.0, 1.0, 1.0, 1.0), None, 0.0, Priors())
    with pytest.raises(UsageError, match="Use fit=variational"):
        fit.intervals()


def test_expit_of_any_number() -> None:
    np.testing.assert_allclose(expit(np.array([-1e4, 0.0, 1e4])), [0.0, 0.5, 1.0])


def test_priors_of_both_forms() -> None:
    assert default_priors("continuous") is CONTINUOUS
    assert default_priors("binary") is BINARY
    # The scale is that of difficulties in both, and curves rise unless scores say otherwise.
    for priors in (CONTINUOUS, BINARY):
        assert priors.difficulty == priors.ability == (0.0, 1.0)
        assert priors.discrimination[0] > 0
        np.testing.assert_array_equal(
            priors.item_means[:, 0],
            [priors.logit_feasibility[0], priors.discrimination[0], priors.difficulty[0]],
        )
        np.testing.assert_array_equal(
            priors.item_sds[:, 0],
            [priors.logit_feasibility[1], priors.discrimination[1], priors.difficulty[1]],
        )
