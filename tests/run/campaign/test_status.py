from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from tests.run.campaign.made import answer_all, begin, made_set, row


def test_any_past_state_and_estimate_can_be_seen_again(where: str) -> None:
    data = made_set(40)
    with begin(where, data, budget=40, size=20) as campaign:
        seen = {}
        campaign.next()
        for question in campaign.questions()[:6]:
            campaign.record([row(question, 50)])
            now = campaign.status()
            seen[now.seq] = (now.sets, campaign.data().aspects["overall"].copy())
        answer_all(campaign, data)
        at = campaign.status().last_seq
        first = campaign.estimate(interval="none")
        campaign.next()
        answer_all(campaign, data, "bob")
        for seq, (sets, scores) in seen.items():
            then = campaign.status(seq)
            assert then.sets == sets
            assert (then.seq, then.last_seq) == (seq, campaign.status().last_seq)
            assert np.array_equal(campaign.data(at=seq).aspects["overall"], scores, equal_nan=True)
        assert campaign.estimate(at=at, interval="none").scores.tolist() == first.scores.tolist()
        assert campaign.estimate(interval="none").n == 40


@pytest.mark.parametrize("seq", [0, -1, 99])
def test_a_number_that_is_not_there(where: str, seq: int) -> None:
    with begin(where) as campaign, pytest.raises(UsageError, match=f"There is no entry {seq} in the journal"):
        campaign.status(seq)


def test_nothing_to_estimate_from(where: str) -> None:
    with begin(where) as campaign, pytest.raises(UsageError, match="has no round yet"):
        campaign.estimate()


def test_a_round_that_nobody_has_answered_is_not_missing_by_chance(where: str) -> None:
    data = made_set(40)
    with begin(where, data, budget=40, size=20) as campaign:
        campaign.next()
        answer_all(campaign, data)
        before = campaign.estimate(interval="none")
        campaign.next()
        after = campaign.estimate(interval="none")
        assert after.notes == before.notes
        assert after.scores.tolist() == before.scores.tolist()


def test_a_notebook_shows_where_it_stands(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        shown = campaign._repr_html_()
        assert "12 of 24" in shown
        assert "uniform" in repr(campaign)


def test_answers_leave_as_they_came(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        campaign.record([row(question, 50, comment="so so", seconds=3), row(question, 60, client="x")])
        rows = campaign.ratings()
        assert [(one["score"], one["comment"], one["seconds"], one["client"]) for one in rows] == [
            (50.0, "so so", 3.0, ""),
            (60.0, None, None, "x"),
        ]
        assert [one["corrects"] for one in rows] == [None, rows[0]["seq"]]
        assert len(campaign.ratings(at=rows[0]["seq"])) == 1


def test_an_interval_that_needs_a_scale_takes_that_of_the_campaign(where: str) -> None:
    data = made_set(40)
    with begin(where, data, budget=20, size=20) as campaign:
        campaign.next()
        answer_all(campaign, data)
        asked: dict[str, Any] = {"estimator": "mean", "interval": "betting", "target": "population"}
        found, wanted = campaign.estimate(**asked), campaign.estimate(**asked, scale=(0, 100))
        assert set(found.intervals) == {"betting"}
        assert np.allclose(found.low, wanted.low)
