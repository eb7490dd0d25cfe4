from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.infer.plan.pilot import TAUS, Pilot, pilot_of
from tests.infer.plan.sets import drawn_pilot, made_set, uneven_set


def known(data: sparingly.EvalSet, n: int, seed: int = 0, *, for_differences: bool = False) -> Pilot:
    pilot = drawn_pilot(data, n, seed)
    return pilot_of(data, pilot, "people", for_differences=for_differences, seed=seed)


@pytest.mark.parametrize("for_differences", [False, True])
def test_unequal_probabilities_are_earned_where_the_metric_tells_the_size_of_residuals(
    for_differences: bool,
) -> None:
    told = known(uneven_set(), 100, for_differences=for_differences).unequal
    assert told is not None
    assert told.trial is not None
    assert told.earned
    assert told.trial.utility == "metric_avg:metric=good"
    assert told.trial.tau in TAUS
    assert told.scores < 0.8
    assert told.differences < 0.8


def test_they_are_not_where_residuals_are_all_alike() -> None:
    for seed in range(4):
        told = known(made_set(seed=seed), 60, seed).unequal
        assert told is not None
        assert not told.earned
        assert told.scores == pytest.approx(1.0, abs=0.03)


def test_metrics_that_are_the_same_everywhere_cannot_be_tried() -> None:
    data = made_set(sources=[f"{'word ' * (place % 7)}end" for place in range(400)])
    held = data.with_metric("good", np.ones((400, 4))).with_metric("weak", np.zeros((400, 4)))
    told = known(held, 60).unequal
    assert told is not None
    assert told.trial is None
    assert not told.earned
