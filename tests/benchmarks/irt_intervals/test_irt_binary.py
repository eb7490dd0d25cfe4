from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals.binary import BinaryIntegral, grid_of
from benchmarks.irt_intervals.integral import ScaleFrame
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.model import BINARY, Priors, Responses, as_responses
from tests.benchmarks.irt_intervals.brute import brute
from tests.published.irt.simulated import simulate, with_gaps

MODELS, STEP = 5, 0.02
GENTLE = Priors(discrimination=(1.5, 0.75))
COUNTS = {GENTLE: (41, 51, 51), BINARY: (31, 101, 101)}


def answered(priors: Priors, gaps: float, items: int = 9, models: int = MODELS) -> tuple[Responses, Shared]:
    drawn = simulate(priors, items, models, 3, "binary")
    responses = as_responses(with_gaps(drawn.scores, gaps, 2), "binary", 0.5, scale=False)
    return responses, Shared(drawn.truth.ability, np.zeros(models), 0.0)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("priors", [GENTLE, BINARY])
def test_value_and_moments_are_those_of_a_dense_grid(priors: Priors, gaps: float) -> None:
    responses, shared = answered(priors, gaps)
    integral = BinaryIntegral(responses, priors)
    totals, moments = integral.at(shared, integral.start())
    expected = brute(responses, priors, shared.ability, counts=COUNTS[priors])
    assert totals.value == pytest.approx(expected.value, abs=0.005 * 9)
    sds = np.sqrt(expected.variance)
    assert (np.abs(moments.mean[:, integral.rows] - expected.mean) < 0.05 * sds).all()
    np.testing.assert_allclose(np.sqrt(moments.variance[:, integral.rows]), sds, rtol=0.05)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("priors", [GENTLE, BINARY])
def test_derivatives_are_those_of_the_sum_over_the_grid(priors: Priors, gaps: float) -> None:
    responses, shared = answered(priors, gaps, 40)
    integral = BinaryIntegral(responses, priors)
    totals, moments = integral.at(shared, integral.start())
    frame = ScaleFrame.from_abilities(shared.ability)
    plain = totals.curvature - frame.bent(totals.slope)
    for model in range(MODELS):
        change = np.zeros(MODELS)
        change[model] = STEP
        (up, further), (down, back) = (
            integral.at(Shared(shared.ability + sign * change, np.zeros(MODELS), 0.0), integral.start())
            for sign in (1, -1)
        )
        assert totals.slope[model] == pytest.approx((up.value - down.value) / (2 * STEP), abs=0.02)
        np.testing.assert_allclose(plain[model], (down.slope - up.slope) / (2 * STEP), atol=0.05)
        followed = (further.mean - back.mean) / (2 * STEP)
        np.testing.assert_allclose(moments.follow[:, model], followed, atol=0.02)


@pytest.mark.parametrize("priors", [GENTLE, BINARY])
def test_widening_is_how_second_derivatives_fall_when_abilities_stretch(priors: Priors) -> None:
    responses, shared = answered(priors, 0.0, 60, 6)
    integral = BinaryIntegral(responses, priors)
    totals, _ = integral.at(shared, integral.start())
    offsets = shared.ability - shared.ability.mean()
    logs = []
    for stretch in (-0.1, 0.1):
        ability = shared.ability + stretch * offsets
        there, _ = integral.at(Shared(ability, np.zeros(6), 0.0), integral.start())
        curvature = there.curvature - ScaleFrame.from_abilities(ability).bent(there.slope)
        logs.append(np.linalg.slogdet(curvature + np.eye(6))[1])
    # Per direction; the covariance of first derivatives, which also changes, is left out of the widening.
    assert totals.widening == pytest.approx(-0.5 * (logs[1] - logs[0]) / 0.2 / 6, abs=0.25)


def test_items_with_the_same_answers_share_their_posterior() -> None:
    responses, shared = answered(BINARY, 0.0, 200, 3)
    integral = BinaryIntegral(responses, BINARY)
    totals, moments = integral.at(shared, integral.start())
    assert moments.mean.shape[1] <= 8
    same = np.flatnonzero((responses.values == responses.values[:, :1]).all(axis=0))
    assert len(set(integral.rows[same])) == 1
    doubled = Responses(np.repeat(responses.values, 2, axis=1), None, "binary")
    twice = BinaryIntegral(doubled, BINARY)
    assert twice.at(shared, twice.start())[0].value == pytest.approx(2.0 * totals.value, rel=1e-5)


def test_more_models_have_a_finer_grid() -> None:
    few, many = (len(grid_of(BINARY, models).logs) for models in (14, 120))
    assert many > 2 * few
    assert np.exp(grid_of(BINARY, 14).logs).sum() == pytest.approx(1.0)
