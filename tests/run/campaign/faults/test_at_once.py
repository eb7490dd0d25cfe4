"""Several processes at once: no answer is lost or doubled, and a round is drawn once."""

from __future__ import annotations

import pytest

from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.faults.child import draw_at_once, post_at_once
from tests.run.campaign.faults.processes import run_at_once
from tests.run.campaign.made import begin, row

pytestmark = pytest.mark.journey


def test_processes_that_draw_at_once_get_one_round(where: str) -> None:
    begin(where).disconnect()
    said = run_at_once(draw_at_once, [(where,)] * 4)
    assert len({(number, tuple(items)) for number, items, _ in said}) == 1
    assert sum(new for _, _, new in said) == 1
    with Campaign(where) as campaign:
        assert campaign.status().sets[0].rounds == 1
        assert campaign.verify().ok


def test_processes_that_send_at_once_lose_and_double_nothing(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        questions = campaign.questions()
    own = [[row(one, place, f"rater {place}") for one in questions] for place in range(3)]
    # Everyone also sends the same answers of one rater, as a client that was cut off would.
    shared = [row(one, 50, "shared", client=one.item) for one in questions]
    said = run_at_once(post_at_once, [(where, [*mine, *shared]) for mine in own])
    count = len(questions)
    assert [sum(one[place] for one in said) for place in range(3)] == [4 * count, 0, 2 * count]
    with Campaign(where) as campaign:
        rows = campaign.ratings()
        assert len(rows) == 4 * count
        assert [one["seq"] for one in rows] == list(range(3, 3 + 4 * count))
        assert campaign.verify().ok
