from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals.continuous import ContinuousIntegral
from benchmarks.irt_intervals.integral import ScaleFrame
from sparingly.base.arrays import Floats
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.fit import climb_normals
from sparingly.published.irt.model import Priors, Responses, as_responses
from tests.benchmarks.irt_intervals.brute import brute
from tests.published.irt.simulated import simulate, with_gaps

PRIORS = Priors()
MODELS, STEP = 5, 0.02


@pytest.fixture(scope="module", params=[0.1, 0.25])
def fitted(request: pytest.FixtureRequest) -> tuple[Responses, ContinuousIntegral, Shared]:
    # An item whose curve may rise or fall has two tops, of which nodes see one; there is none among these.
    drawn = simulate(PRIORS, 7, MODELS, 4, noise=request.param)
    responses = as_responses(with_gaps(drawn.scores, 0.1, 2), "continuous", scale=False)
    found = climb_normals(responses, PRIORS)
    shared = Shared(drawn.truth.ability, np.zeros(MODELS), np.log(request.param))
    return responses, ContinuousIntegral(responses, found.states, PRIORS), shared


def log_likelihood(responses: Responses, shared: Shared, change: Floats) -> float:
    ability = shared.ability + change[:MODELS]
    return brute(responses, PRIORS, ability, float(np.exp(shared.log_noise + change[MODELS]))).value


def test_value_and_moments_are_those_of_a_dense_grid(
    fitted: tuple[Responses, ContinuousIntegral, Shared],
) -> None:
    responses, integral, shared = fitted
    totals, moments = integral.at(shared, integral.start())
    expected = brute(responses, PRIORS, shared.ability, float(np.exp(shared.log_noise)))
    assert totals.value == pytest.approx(expected.value, abs=0.02 * 7)
    assert (np.abs(moments.mean - expected.mean) < 0.05 * np.sqrt(expected.variance)).all()
    np.testing.assert_allclose(np.sqrt(moments.variance), np.sqrt(expected.variance), rtol=0.05)


def test_derivatives_are_those_of_a_dense_grid(fitted: tuple[Responses, ContinuousIntegral, Shared]) -> None:
    responses, integral, shared = fitted
    totals, _ = integral.at(shared, integral.start())
    size = MODELS + 1
    moves = STEP * np.eye(size)
    middle = log_likelihood(responses, shared, np.zeros(size))
    up, down = (
        np.array([log_likelihood(responses, shared, sign * move) for move in moves]) for sign in (1, -1)
    )
    curvature = np.diag((2 * middle - up - down) / STEP**2)
    for one in range(size):
        for other in range(one):
            both = log_likelihood(responses, shared, moves[one] + moves[other])
            second = -(both - up[one] - up[other] + middle) / STEP**2
            third = -(
                log_likelihood(responses, shared, -moves[one] - moves[other])
                - down[one]
                - down[other]
                + middle
            )
            curvature[one, other] = curvature[other, one] = 0.5 * (second + third / STEP**2)
    slope = (up - down) / (2 * STEP)
    curvature[:MODELS, :MODELS] += ScaleFrame.from_abilities(shared.ability).bent(slope[:MODELS])
    # In units of how far a step would go: some of the derivatives are a hundred times the others.
    scale = np.sqrt(np.diag(curvature) + 1.0)
    np.testing.assert_allclose(totals.slope / scale, slope / scale, atol=0.05)
    np.testing.assert_allclose(
        totals.curvature / np.outer(scale, scale), curvature / np.outer(scale, scale), atol=0.03
    )


def test_items_follow_abilities_and_noise(fitted: tuple[Responses, ContinuousIntegral, Shared]) -> None:
    responses, integral, shared = fitted
    _, moments = integral.at(shared, integral.start())
    sds = np.sqrt(moments.variance)
    for place in range(MODELS + 1):
        change = np.zeros(MODELS + 1)
        change[place] = 0.05
        up, down = (
            brute(
                responses,
                PRIORS,
                shared.ability + sign * change[:MODELS],
                float(np.exp(shared.log_noise + sign * change[MODELS])),
            ).mean
            for sign in (1, -1)
        )
        np.testing.assert_allclose(moments.follow[:, place] / sds, (up - down) / 0.1 / sds, atol=0.12)


def test_narrow_posteriors_are_found_wherever_the_whole_scale_lies() -> None:
    # Scores of almost no noise say everything but the origin and the unit, and the value must not depend on
    # where nodes happen to be: shifted and stretched together, only the priors see the difference.
    drawn = simulate(PRIORS, 60, 8, 5, noise=0.01)
    responses = as_responses(drawn.scores, "continuous", scale=False)
    found = climb_normals(responses, PRIORS)
    integral = ContinuousIntegral(responses, found.states, PRIORS)
    shared = Shared(found.shared.ability, np.zeros(8), found.shared.log_noise)
    totals, moments = integral.at(shared, integral.start())
    frame = ScaleFrame.from_abilities(shared.ability)
    for change in (0.02 * np.ones(8), 0.02 * frame.offsets):
        step = np.append(change, 0.0)
        places = integral.start()
        places = type(places)(moments.moved(step), places.slopes, np.sqrt(moments.variance[2]))
        there, _ = integral.at(Shared(shared.ability + change, np.zeros(8), shared.log_noise), places)
        assert there.slope @ step - totals.slope @ step == pytest.approx(
            -step @ totals.curvature @ step + step[:8] @ frame.bent(totals.slope[:8]) @ step[:8], abs=0.05
        )
