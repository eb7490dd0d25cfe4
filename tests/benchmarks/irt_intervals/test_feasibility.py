from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals.continuous import over_feasibility
from sparingly.published.irt.model import expit

# Σσ²/s² and the c at which the likelihood is highest: much noise and hardly any, c within and beyond 0 and 1.
SQUARES = np.array([[2.0, 2.0, 40.0], [40.0, 5e3, 5e3], [5e4, 5e4, 5e4]])
BEST = np.array([[0.5, 1.4, -0.2], [0.9, 0.6, 0.99], [0.3, 0.95, 1.02]])


@pytest.mark.parametrize("prior", [(2.5, 1.0), (1.0, 1.5)])
def test_integral_and_means_are_those_of_a_fine_sum(prior: tuple[float, float]) -> None:
    found = over_feasibility(SQUARES, SQUARES * BEST, prior)
    logits = prior[0] + prior[1] * np.linspace(-9, 9, 200001)[:, None, None]
    heights = expit(logits)
    logs = heights * SQUARES * BEST - 0.5 * heights**2 * SQUARES
    logs -= 0.5 * ((logits - prior[0]) / prior[1]) ** 2
    largest = logs.max(axis=0)
    shares = np.exp(logs - largest)
    total = shares.sum(axis=0)
    step = 18.0 / 200000
    np.testing.assert_allclose(found.log, largest + np.log(total * step) - 0.5 * np.log(2 * np.pi), atol=1e-2)
    shares /= total
    for power, value in enumerate(found.powers, start=1):
        np.testing.assert_allclose(value, (shares * heights**power).sum(axis=0), rtol=5e-3)
    mean = (shares * logits).sum(axis=0)
    sd = np.sqrt((shares * (logits - mean) ** 2).sum(axis=0))
    assert (np.abs(found.logit[0] - mean) < 0.02 * sd).all()
    np.testing.assert_allclose(np.sqrt(found.logit[1] - found.logit[0] ** 2), sd, rtol=2e-2)
    for power, value in enumerate(found.cross, start=1):
        covariance = (shares * (logits - mean) * heights**power).sum(axis=0)
        ours = value - found.logit[0] * found.powers[power - 1]
        np.testing.assert_allclose(ours, covariance, rtol=5e-2)
