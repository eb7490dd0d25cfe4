from __future__ import annotations

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.campaign.history import paused_at
from tests.run.campaign.made import answer_all, begin, row


def test_nobody_is_handed_anything_while_it_is_paused(where: str) -> None:
    with begin(where) as campaign:
        first = campaign.next()[0]
        campaign.pause("holidays")
        answer_all(campaign)
        assert campaign.status().paused
        step = campaign.next()[0]
        assert (step.number, step.new, step.finished) == (first.number, False, None)
        assert campaign.run(lambda question: 50.0) == 0
        campaign.resume()
        assert not campaign.status().paused
        assert campaign.next()[0].new
        assert campaign.verify().ok


def test_a_judge_stops_asking_in_the_middle_of_a_round(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        campaign.pause()
        assert campaign.run(lambda question: 50.0) == 0
        assert len(campaign.questions()) == 12
        campaign.resume()
        assert campaign.run(lambda question: 50.0) == 24


def test_before_the_first_round_nothing_is_drawn(where: str) -> None:
    with begin(where) as campaign:
        campaign.pause()
        step = campaign.next()[0]
        assert (step.number, step.selection) == (0, None)


def test_answers_are_still_taken(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        campaign.pause()
        assert campaign.record([row(campaign.questions()[0], 70)]).new == 1


def test_any_past_state_can_be_seen_again(where: str) -> None:
    with begin(where) as campaign:
        at = campaign.pause("one reason")
        campaign.resume()
        with campaign.database.reading() as connection:
            assert paused_at(connection, campaign.name, at - 1) is None
            then = paused_at(connection, campaign.name, at)
            assert then is not None
            assert (then.seq, then.reason) == (at, "one reason")
            assert paused_at(connection, campaign.name) is None
        assert campaign.status(at).paused


def test_what_is_so_already_is_refused(where: str) -> None:
    with begin(where) as campaign:
        with pytest.raises(UsageError, match="is not paused"):
            campaign.resume()
        campaign.pause()
        with pytest.raises(UsageError, match="is paused already"):
            campaign.pause()
        campaign.close()
        with pytest.raises(UsageError, match="is closed"):
            campaign.resume()
