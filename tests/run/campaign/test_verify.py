from __future__ import annotations

import json

import pytest
from sqlalchemy import delete, select, update

from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, DATA_VERSIONS, EVENTS, RATINGS, ROUNDS
from sparingly.run.rounds.next_round import next_round
from tests.run.campaign.made import answer_all, begin, made_set


@pytest.fixture
def judged(where: str) -> Campaign:
    """A campaign of two rounds that learns."""
    data = made_set(20)
    campaign = begin(where, data, strategy="waves", budget=9, size=3)
    while campaign.next()[0].finished is None:
        answer_all(campaign, data)
    return campaign


def test_what_was_not_touched_is_verified(judged: Campaign) -> None:
    assert judged.verify().to_dict() == {"ok": True, "partial": False, "problems": [], "notes": []}
    judged.disconnect()


TAMPERED = {
    "a score": (update(RATINGS).where(RATINGS.c.seq == 5).values(score=1.0), "The entry 5 of the journal"),
    "an answer gone": (delete(RATINGS).where(RATINGS.c.seq == 5), "entries, and"),
    "an event": (update(EVENTS).where(EVENTS.c.seq == 1).values(at="2020"), "The entry 1 of the journal"),
    "the end": (update(CAMPAIGNS).values(head="0" * 32), "The end of the journal is not"),
    "the data": (update(DATA_VERSIONS).values(digest="0" * 16), "The data sets are not those"),
    "a round's number": (
        update(ROUNDS).where(ROUNDS.c.number == 2).values(as_of=1),
        "Round 2 of data is not the one",
    ),
}


@pytest.mark.parametrize("what", list(TAMPERED))
def test_what_was_changed_is_found(judged: Campaign, what: str) -> None:
    change, sentence = TAMPERED[what]
    with judged.database.writing() as connection:
        connection.execute(change)
    result = judged.verify()
    assert not result.ok
    assert any(sentence in problem for problem in result.problems), result.problems
    judged.disconnect()


def test_a_round_that_was_picked_by_hand_is_found_although_the_journal_is_sealed_again(where: str) -> None:
    """Somebody who writes a whole journal of his own is found by drawing the round again."""
    data = made_set(20)

    def lucky(*given: object, **settings: object) -> object:
        return next_round(*given, **{**settings, "seed": 4})  # type: ignore[arg-type]

    with begin(where, data, budget=9, size=3) as campaign:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sparingly.run.campaign.rounds.next_round", lucky)
            campaign.next()
        problems = campaign.verify().problems
        assert "Round 1 of data: the items are not those that follow from it." in problems
        assert "Round 1 of data: the seeds are not those that follow from it." in problems


def test_rounds_keep_what_they_were_made_with(judged: Campaign) -> None:
    with judged.database.reading() as connection:
        rows = connection.execute(select(ROUNDS).order_by(ROUNDS.c.number)).mappings().all()
        asked = connection.execute(select(ASKED.c.probability).where(ASKED.c.round == 1)).scalars().all()
    for number, held in enumerate(rows, 1):
        selection = json.loads(held["selection"])
        assert held["number"] == selection["signature"]["round"] == number
        assert (held["seed"], held["budget"], held["aspect"]) == (3, "9", "overall")
        assert held["strategy"].startswith("waves:")
        assert held["inputs"] == selection["signature"]["inputs"]
        assert held["as_of"] < held["seq"]
    assert asked
    assert all(chance is not None and 0 < chance <= 1 for chance in asked)
    judged.disconnect()
