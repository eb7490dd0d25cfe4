"""Active testing is unbiased although it draws by what it has learned."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.run.rounds.replay import replay
from tests.run.rounds.test_active_testing import made

RUNS = 120


@pytest.mark.statistics
def test_the_scores_are_unbiased_and_their_errors_not_far_off() -> None:
    data, scores = made(100)
    errors, told = [], []
    for seed in range(RUNS):
        look = list(replay(data, "active_testing:rounds=3,pilot=0.5", 60, truth="y", seed=seed))[-1]
        found = look.strategy.estimate(look.state)
        errors.append(found.scores - scores.mean(axis=0))
        told.append(found.standard_errors)
    spread = np.std(errors, axis=0, ddof=1)
    assert (np.abs(np.mean(errors, axis=0)) < 4.0 * spread / np.sqrt(RUNS)).all()
    # The spread of 120 runs is known to about 7 %.
    ratio = np.mean(told, axis=0) / spread
    assert (ratio > 0.7).all()
    assert (ratio < 1.4).all()
