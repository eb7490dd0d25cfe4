"""The interval around random selection's mean curve holds the true mean as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.curve import random_curve

REPLICATES, RUNS, LONG_RUN = 300, 20, 3000
SIZES = [6, 15, 30]


@pytest.mark.statistics
def test_coverage_is_ninety_percent() -> None:
    data = sparingly.make_evalset(60, 5, texts=False, raters=0, seed=3)
    full = full_set(data, "overall", test="analytic")
    truth = random_curve(full, SIZES, range(10**6, 10**6 + LONG_RUN)).values
    held = np.zeros(len(SIZES))
    for replicate in range(REPLICATES):
        curve = random_curve(full, SIZES, range(replicate * RUNS, (replicate + 1) * RUNS))
        held += (curve.low <= truth) & (truth <= curve.high)
    # Four binomial standard errors: 4·√(.9·.1/300) = .07.
    np.testing.assert_allclose(held / REPLICATES, 0.9, atol=0.07)
