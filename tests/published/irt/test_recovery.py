"""Simulations: what was drawn from the model is found again (intervals: ``tests/statistics``)."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.published.irt import CONTINUOUS, Priors, fit_irt
from sparingly.published.irt.model import FitMethod, Parameters, Response
from tests.published.irt.simulated import simulate

pytestmark = pytest.mark.statistics
# Success and failure of steep items, as thresholds make them, with a feasibility near 1.
STEEP = Priors(discrimination=(1.5, 0.75))


def each(parameters: Parameters) -> dict[str, Floats]:
    return vars(parameters)


@pytest.mark.parametrize("method", ["map", "variational"])
@pytest.mark.parametrize(
    ("response", "priors", "least"),
    [
        ("continuous", CONTINUOUS, {"discrimination": 0.88, "difficulty": 0.82, "ability": 0.99}),
        ("binary", STEEP, {"discrimination": 0.5, "difficulty": 0.72, "ability": 0.97}),
    ],
)
def test_parameters_are_recovered(
    method: FitMethod, response: Response, priors: Priors, least: dict[str, float]
) -> None:
    found: dict[str, list[float]] = {name: [] for name in least}
    for seed in range(4):
        drawn = simulate(priors, 300, 20, seed, response)
        fit = fit_irt(
            drawn.scores,
            method=method,
            response=response,
            priors=priors,
            threshold=0.5 if response == "binary" else None,
            scale=False,
        )
        for name, correlations in found.items():
            correlations.append(np.corrcoef(each(fit.estimates)[name], each(drawn.truth)[name])[0, 1])
    means = {name: float(np.mean(correlations)) for name, correlations in found.items()}
    assert all(means[name] > bound for name, bound in least.items()), means
