from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.infer.rank.stability import standings

METHODS = ("random", "good", "bad")


def test_shares_of_first_and_second_places() -> None:
    scores = np.array([[0.5, 0.9, 0.1], [0.5, 0.5, 0.2], [0.8, 0.7, 0.1], [0.4, 0.6, 0.5]])
    random, good, bad = standings(METHODS, scores, "random")
    assert (random.first, good.first, bad.first) == (0.5, 0.75, 0.0)
    assert (random.first_or_second, good.first_or_second, bad.first_or_second) == (0.75, 1.0, 0.25)
    assert good.mean == pytest.approx(scores[:, 1].mean())


def test_wilcoxon_over_settings_equals_scipy() -> None:
    scores = np.random.default_rng(3).normal(size=(30, 3)) + np.array([0.0, 0.4, -0.4])
    for place, standing in enumerate(standings(METHODS, scores, "random")[1:], 1):
        expected = stats.wilcoxon(scores[:, place] - scores[:, 0], alternative="greater").pvalue
        assert standing.p_better == pytest.approx(expected, abs=1e-9)


def test_the_reference_is_not_better_than_itself() -> None:
    scores = np.random.default_rng(0).normal(size=(10, 3))
    assert standings(METHODS, scores, "random")[0].p_better == 1.0


def test_wrong_input_gets_a_sentence() -> None:
    with pytest.raises(UnknownNameError, match=r'no method "rnadom"\. Did you mean random'):
        standings(METHODS, np.zeros((2, 3)), "rnadom")
    with pytest.raises(UsageError, match="settings x 3 methods"):
        standings(METHODS, np.zeros((2, 2)), "random")
