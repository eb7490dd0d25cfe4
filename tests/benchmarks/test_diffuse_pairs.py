from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import diffuse_pairs
from _diffuse_runs import (
    BUDGETS,
    LEAST,
    MOST,
    RISKS,
    Ends,
    _by_lead,
    _by_test,
    _hits,
    _votes,
)
from sparingly.choose.design.split_tree import Step


def test_votes_follow_the_steps() -> None:
    outcome = np.array([1.0, -1.0, 0.0, 1.0, 1.0])
    spent, judged, wins, losses = _votes(outcome, [Step(None, (0, 1)), Step(1, (2, 3)), Step(None, (4,))])
    assert spent.tolist() == [2, 4, 5]
    assert judged.tolist() == [2, 3, 4]
    assert wins.tolist() == [1, 2, 3]
    assert losses.tolist() == [1, 0, 0]


def test_a_clear_lead_stops_at_once_and_a_tie_never() -> None:
    count = np.arange(LEAST, 31)
    labels, sign = _by_lead(500, count, count, count, 0 * count)
    assert labels[RISKS.index(0.2)] == LEAST
    assert set(sign) == {1.0}
    labels, sign = _by_lead(500, count, count, 0 * count, 0 * count)
    assert set(labels) == {30.0}
    assert set(sign) == {0.0}


@pytest.mark.parametrize("kind", ["group", "anytime"])
def test_valid_tests_err_no_more_often_than_they_say(kind: str) -> None:
    drawn = np.random.default_rng(1)
    wrong = np.zeros(len(RISKS))
    for _ in range(300):
        wrong += _by_test(2000, drawn.choice([-1.0, 1.0], MOST), kind)[1] != 0
    # Were the models equal, any answer would be wrong.
    rates, slack = wrong / 300, 3 * np.sqrt(np.array(RISKS) / 300)
    assert (rates <= np.array(RISKS) + slack).all()


def test_curves_of_sets_that_are_used_up_keep_their_answer() -> None:
    assert _hits(np.arange(1.0, 8.0), 1.0).tolist() == [1.0] * len(BUDGETS)
    assert _hits(-np.arange(1.0, 8.0), 1.0).sum() == 0


def test_runs_end_in_one_of_three_ways() -> None:
    ends = Ends()
    ends.add(np.full(len(RISKS), 7.0), np.ones(len(RISKS)), 0.25)
    ends.add(np.full(len(RISKS), 9.0), -np.ones(len(RISKS)), 0.5)
    ends.add(np.full(len(RISKS), 9.0), np.zeros(len(RISKS)), -0.5)
    assert ends.runs == 3
    assert ends.ended[0].tolist() == [1, 1, 1]
    assert ends.distance[0].tolist() == [0.25, 0.5, 0.5]
    assert ends.labels[0] == 25


def test_every_table_of_the_page_has_its_place() -> None:
    page = (Path(diffuse_pairs.__file__).parent.parent / "docs" / "pairs.md").read_text(encoding="utf-8")
    for name in ("pairs-curves", "iterative-2", "iterative-1", "pairs-matched"):
        assert f"<!-- table: {name} -->" in page
