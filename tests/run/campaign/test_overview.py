from __future__ import annotations

import json

from sparingly.run.campaign.progress import overview
from tests.run.campaign.made import answer_all, begin, made_set, row


def test_every_round_and_every_rater(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        one, two, *_ = campaign.questions()
        campaign.record([row(one, 10, "ann", seconds=10), row(two, 20, "ben", seconds=5)])
        campaign.record([row(one, 12, "ann", seconds=4), row(one, 60, "ben")])
        found = overview(campaign)
        assert [(each.number, each.asked, each.answered) for each in found.rounds] == [(1, 12, 2)]
        ann, ben = found.raters
        assert (ann.answers, ann.corrections, ann.seconds, ann.without_time) == (1, 1, 14, 0)
        assert (ben.answers, ben.corrections, ben.seconds, ben.without_time) == (2, 0, 5, 1)
        assert ben.by_round == {("data", 1): 2}
        assert (found.cost.answers, found.cost.seconds, found.cost.seconds_per_answer) == (4, 19, 19 / 3)
        assert found.seq == campaign.last_seq() == campaign.status().last_seq
        json.dumps(found.to_dict(), allow_nan=False)


def test_the_counts_are_those_of_the_status(where: str) -> None:
    sets = {"one": made_set(), "other": made_set(8, prefix="more")}
    with begin(where, sets, budget={"one": 8, "other": 4}) as campaign:
        for _ in range(2):
            campaign.next()
            campaign.record([row(one, 50, data=one.data) for one in campaign.questions()[::2]])
            campaign.record([row(one, 50, data=one.data) for one in campaign.questions()])
        campaign.next()
        campaign.withdraw("Beech", "one")
        found, status = overview(campaign), campaign.status()
        for part in status.sets:
            rounds = [one for one in found.rounds if one.data == part.data]
            assert sum(one.asked for one in rounds) == part.asked
            assert sum(one.asked - one.answered for one in rounds) == part.outstanding
        assert found.finished == {one.data: one.finished for one in status.sets if one.finished}
        assert found.finished


def test_where_it_is_paused_and_closed(where: str) -> None:
    with begin(where) as campaign:
        campaign.pause("lunch")
        found = overview(campaign)
        assert found.pause is not None
        assert (found.pause.reason, found.closed, found.rounds) == ("lunch", False, ())
        assert found.cost.seconds_per_answer is None
        campaign.close()
        assert overview(campaign).closed


def test_several_aspects_are_several_answers(where: str) -> None:
    scales = {"overall": (0, 100), "fluency": (0, 100)}
    with begin(where, aspects=scales, aspect="overall") as campaign:
        campaign.next()
        one = campaign.questions()[0]
        campaign.record([row(one, 10, aspect="fluency")])
        (first,) = overview(campaign).rounds
        assert (first.asked, first.answered) == (24, 1)


def test_a_full_round_is_full(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        answer_all(campaign)
        assert overview(campaign).rounds[0].share == 1.0
