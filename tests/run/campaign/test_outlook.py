from __future__ import annotations

import json

from sparingly.data.selection import Selection
from sparingly.run.rounds.strategy import Finished
from tests.run.campaign.made import MODELS, answer_all, begin, made_set


def test_a_preview_is_the_round_that_is_drawn_then_and_draws_nothing(where: str) -> None:
    data = made_set(40)
    with begin(where, data, strategy="waves", budget=30, size=10) as campaign:
        for _ in range(2):
            before = campaign.status().last_seq
            told, seen = campaign.outlook(), campaign.preview()
            assert campaign.status().last_seq == before
            step = campaign.next()[0]
            assert isinstance(seen, Selection)
            assert step.selection is not None
            assert list(seen.items) == list(step.selection.items)
            assert [one.item for one in told.items] == list(step.selection.items)
            assert [one.probability for one in told.items] == [row.probability for row in step.selection]
            assert (told.number, told.outputs) == (step.number, step.outstanding)
            answer_all(campaign, data)


def test_how_many_rounds_the_budget_leaves(where: str) -> None:
    with begin(where) as campaign:
        assert campaign.outlook().when == "The budget leaves 24 of 24, which is 2 more rounds of this size."
        campaign.next()
        told = campaign.outlook()
        assert (told.number, told.waiting, told.rounds_left) == (2, 12, 1)
        assert told.when.endswith("which is 1 more round of this size.")
        json.dumps(told.to_dict(), allow_nan=False)


def test_when_it_is_over(where: str) -> None:
    with begin(where) as campaign:
        for _ in range(2):
            campaign.next()
            answer_all(campaign)
        told = campaign.outlook()
        assert (told.items, told.outputs, told.rounds_left) == ((), 0, 0)
        assert told.finished == "every chosen item was judged or assigned."
        assert told.when == "It would stop now: every chosen item was judged or assigned."
        campaign.next()
        assert isinstance(campaign.preview(), Finished)
        assert campaign.outlook().finished == told.finished


def test_rules_to_stop_are_asked_only_when_a_round_is_in(where: str) -> None:
    data = made_set(40)
    with begin(where, data, budget=40, size=20, stop="width_reached:w=1000") as campaign:
        campaign.next()
        answer_all(campaign, data)
        assert campaign.outlook().finished is not None
        campaign.add_models(made_set(40, (*MODELS, "Dogwood")))
        told = campaign.outlook()
        assert (told.waiting, told.finished) == (20, None)
        assert "It stops earlier when a rule says so: width_reached" in told.when
