from __future__ import annotations

import numpy as np
import pytest

from sparingly.published.irt.abilities import SharedObjective
from sparingly.published.irt.fit import ClimbPatience, climb, moment_start
from sparingly.published.irt.items import PointItems
from sparingly.published.irt.model import CONTINUOUS, Response, as_responses, default_priors
from tests.published.irt.simulated import simulate


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_more_rounds_never_end_lower(response: Response) -> None:
    priors = default_priors(response)
    responses = as_responses(simulate(CONTINUOUS, 60, 6, 1, response).scores, response, 0.5, scale=False)
    start, shared = moment_start(responses, priors)
    objective = SharedObjective(responses, priors, uncertain=False)
    reached = [
        climb(
            PointItems(priors), [responses], [start], shared, objective, ClimbPatience(rounds, 2, 1e-6, 0.0)
        ).sums.objective
        for rounds in (0, 1, 2, 4, 8, 16)
    ]
    assert (np.diff(reached) <= 1e-8).all()
    assert reached[-1] < reached[0] - 1.0


def test_it_stops_when_nothing_is_gained() -> None:
    responses = as_responses(simulate(CONTINUOUS, 60, 6, 1).scores, "continuous")
    start, shared = moment_start(responses, CONTINUOUS)
    objective = SharedObjective(responses, CONTINUOUS, uncertain=False)
    found = climb(
        PointItems(CONTINUOUS), [responses], [start], shared, objective, ClimbPatience(500, 3, 1e-6, 1e-9)
    )
    assert found.rounds < 60
    assert np.abs(found.sums.slope).max() < 1e-2
