from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.irt_intervals import IntervalFit, fit_intervals
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.published.irt import CONTINUOUS, Priors, fit_irt
from sparingly.published.irt.model import Parameters, Response
from tests.published.irt.simulated import simulate, with_gaps

NAN = np.nan


def made(*values: float) -> Parameters:
    return Parameters(*(np.array([value, NAN]) for value in values))


FIT = IntervalFit(
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


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_the_fit_is_that_of_the_package_in_any_order(response: Response) -> None:
    scores = with_gaps(simulate(Priors(), 50, 6, 3).scores, 0.1, 4)
    rows, columns = np.random.default_rng(5).permutation(50), np.random.default_rng(6).permutation(6)
    fit = fit_intervals(scores, response=response)
    other = fit_intervals(scores[np.ix_(rows, columns)], response=response)
    for ours, theirs in zip(fit.intervals(), other.intervals(), strict=True):
        np.testing.assert_allclose(theirs.difficulty, ours.difficulty[rows], atol=1e-3)
        np.testing.assert_allclose(theirs.ability, ours.ability[columns], atol=1e-3)
    plain = fit_irt(scores, response=response)
    for name, values in vars(plain.estimates).items():
        np.testing.assert_array_equal(getattr(fit.estimates, name), values)
    assert (fit.objective, fit.noise) == (plain.objective, plain.noise)


@pytest.mark.parametrize("response", ["continuous", "binary"])
@pytest.mark.parametrize(
    "scores",
    [
        np.array([[0.5]]),
        np.array([[0.3], [0.7], [0.2]]),
        np.full((5, 4), 2.5),
        np.array([[1.0, NAN], [NAN, 1.0]]),
        np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]),
        np.array([[-1e9, 1e9], [0.0, 1e-9]]),
    ],
)
def test_tiny_and_odd_sets_have_intervals(response: Response, scores: Floats) -> None:
    low, high = fit_intervals(scores, response=response).intervals()
    assert all((getattr(low, name) < values).all() for name, values in vars(high).items())


def test_more_scores_make_the_fit_surer() -> None:
    few, many = (
        fit_intervals(simulate(CONTINUOUS, 100, models, 1).scores, scale=False) for models in (6, 40)
    )
    for name in ("discrimination", "difficulty"):
        assert vars(many.spreads)[name].mean() < 0.8 * vars(few.spreads)[name].mean()
