"""Votes over steps, and when a comparison of two models stops."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.ashury.sets import LEAST, MOST, RISKS, Test, Voters, by_lead, by_test
from sparingly.published.diffuse_iterative import Step


def test_votes_follow_the_steps() -> None:
    outcome = np.array([1.0, -1.0, 0.0, 1.0, 1.0])
    voters = Voters.of([Step(None, (0, 1)), Step(1, (2, 3)), Step(None, (4,))])
    assert voters.spent.tolist() == [2, 4, 5]
    assert voters.running(np.ones(5)).tolist() == [2, 3, 4]
    assert voters.running(outcome > 0).tolist() == [1, 2, 3]
    assert voters.running(outcome < 0).tolist() == [1, 0, 0]
    assert voters.running(outcome).tolist() == [0, 2, 3]


def test_a_clear_lead_stops_at_once_and_a_tie_never() -> None:
    count = np.arange(LEAST, 31, dtype=np.float64)
    labels, sign = by_lead(500, count, count, count, 0 * count)
    assert labels[RISKS.index(0.2)] == LEAST
    assert set(sign) == {1.0}
    labels, sign = by_lead(500, count, count, 0 * count, 0 * count)
    assert set(labels) == {30.0}
    assert set(sign) == {0.0}


def test_the_stop_is_that_of_the_paper() -> None:
    # Eight of ten labels out of 500 items: sf(7, 500, 250, 10) = 0.0529 (App. A.3).
    ten, eight, two = (np.array([float(value)]) for value in (10, 8, 2))
    labels, sign = by_lead(500, ten, ten, two, eight)
    assert sign[RISKS.index(0.07)] == -1.0
    assert sign[RISKS.index(0.05)] == 0.0
    assert labels[RISKS.index(0.07)] == 10.0


@pytest.mark.parametrize("kind", ["group", "anytime"])
def test_valid_tests_err_no_more_often_than_they_say(kind: Test) -> None:
    drawn = np.random.default_rng(1)
    wrong = np.zeros(len(RISKS))
    for _ in range(300):
        wrong += by_test(2000, drawn.choice([-1.0, 1.0], MOST), kind)[1] != 0
    # Were the models equal, any answer would be wrong.
    rates, slack = wrong / 300, 3 * np.sqrt(np.array(RISKS) / 300)
    assert (rates <= np.array(RISKS) + slack).all()
