"""Simulations: what was drawn from the model is found again, and intervals hold it as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.signals.irt import CONTINUOUS, Priors, fit_irt
from sparingly.signals.irt.model import Method, Parameters
from sparingly.signals.irt.priors import Response
from tests.signals.irt.simulated import simulate

pytestmark = pytest.mark.statistics
Floats = NDArray[np.float64]
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
    method: Method, response: Response, priors: Priors, least: dict[str, float]
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


@pytest.mark.parametrize(("response", "priors"), [("continuous", CONTINUOUS), ("binary", STEEP)])
def test_intervals_hold_the_truth_as_often_as_they_say(response: Response, priors: Priors) -> None:
    """Nine out of ten, or a little less; errors of abilities are shared, so they need many simulations."""
    held: dict[str, list[float]] = {"discrimination": [], "difficulty": [], "ability": []}
    for seed in range(100, 116):
        drawn = simulate(priors, 300, 20, seed, response)
        fit = fit_irt(
            drawn.scores,
            response=response,
            priors=priors,
            threshold=0.5 if response == "binary" else None,
            scale=False,
        )
        low, high = (each(end) for end in fit.intervals(0.9))
        for name, shares in held.items():
            truth = each(drawn.truth)[name]
            shares.append(float(np.mean((low[name] <= truth) & (truth <= high[name]))))
    means = {name: float(np.mean(shares)) for name, shares in held.items()}
    assert all(0.80 <= mean <= 0.97 for mean in means.values()), means


def test_more_scores_make_the_fit_surer() -> None:
    few, many = (fit_irt(simulate(CONTINUOUS, 100, models, 1).scores, scale=False) for models in (6, 40))
    assert few.spreads is not None
    assert many.spreads is not None
    for name in ("discrimination", "difficulty"):
        assert each(many.spreads)[name].mean() < 0.8 * each(few.spreads)[name].mean()
