from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.irt_intervals.continuous import ridge
from sparingly.base.arrays import Floats
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.model import Priors, as_responses, expit
from tests.published.irt.simulated import simulate, with_gaps

ITEMS, MODELS, NOISE = 6, 7, 0.1


def test_it_is_where_a_general_optimiser_ends() -> None:
    priors = Priors()
    drawn = simulate(priors, ITEMS, MODELS, 3)
    scores = with_gaps(drawn.scores, 0.2, 4)
    responses = as_responses(scores, "continuous", scale=False)
    shared = Shared(drawn.truth.ability, np.zeros(MODELS), np.log(NOISE))
    difficulty = drawn.truth.difficulty + np.array([[-0.4], [0.0], [0.3]])
    start = np.broadcast_to(np.array([2.5, 1.0])[:, None, None], (2, *difficulty.shape))
    found, width = ridge(responses, difficulty, start, shared, priors)
    assert (start == np.array([2.5, 1.0])[:, None, None]).all()
    for node, item in np.ndindex(difficulty.shape):
        known = ~np.isnan(scores[item])

        def objective(values: Floats, node: int = node, item: int = item, known: Floats = known) -> float:
            distance = drawn.truth.ability[known] - difficulty[node, item]
            curve = expit(values[:1]) * expit(values[1] * distance)
            away = (values - [2.5, 1.0]) / [1.0, 0.75]
            return float(0.5 * (((scores[item, known] - curve) / NOISE) ** 2).sum() + 0.5 * away @ away)

        best = minimize(objective, [2.5, 1.0])
        assert objective(np.array([best.x[0], found[node, item]])) <= best.fun + 1e-2
        assert found[node, item] == pytest.approx(best.x[1], abs=0.05 * float(width[node, item]))
        # The expected curvature is that of the optimiser where residuals are small, and near it elsewhere.
        variance = np.asarray(best.hess_inv)[1, 1]
        assert width[node, item] == pytest.approx(float(np.sqrt(variance)), rel=0.4)
