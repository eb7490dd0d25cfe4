from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.infer.rank.best import chance_of_best


def test_chance_of_best() -> None:
    chance = chance_of_best(np.array([1.0, 0.0]), 0.5 * np.eye(2), draws=200_000)
    assert chance[0] == pytest.approx(stats.norm.cdf(1.0), abs=0.005)
    assert chance.sum() == pytest.approx(1)
    same = chance_of_best(np.array([1.0, 1.0, np.nan]), np.ones((3, 3)))
    assert same.tolist() == [0.5, 0.5, 0.0]
