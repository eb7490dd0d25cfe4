from __future__ import annotations

import pytest
from sqlalchemy import select, update

from sparingly.base.errors import DataError, UnknownNameError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.journal import Journal, as_json, sealed, utc_now
from sparingly.run.campaign.tables import CAMPAIGNS, EVENTS
from tests.run.campaign.made import begin


def test_a_seal_depends_on_everything_before_it_and_on_no_order_of_keys() -> None:
    entry = {"seq": 1, "kind": "begun"}
    assert sealed("", entry) == sealed("", {"kind": "begun", "seq": 1, "digest": "ignored"})
    assert sealed("", entry) != sealed("0", entry)
    assert sealed("", entry) != sealed("", {**entry, "seq": 2})
    assert as_json({"b": "é", "a": [1.5]}) == '{"a":[1.5],"b":"\\u00e9"}'


def test_entries_are_numbered_and_sealed_in_order(where: str) -> None:
    with begin(where) as campaign:
        for _ in range(2):
            with campaign.database.writing() as connection:
                journal = Journal(connection, "campaign", utc_now)
                journal.event("noted", text="one")
                journal.event("noted", text="two")
                journal.finish()
        with campaign.database.reading() as connection:
            rows = connection.execute(select(EVENTS).order_by(EVENTS.c.seq)).mappings().all()
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5]
    head = ""
    for row in rows:
        head = sealed(head, dict(row))
        assert row["digest"] == head
        assert row["at"].endswith("+00:00")


def test_what_is_not_finished_is_not_there(where: str) -> None:
    class StopHereError(Exception):
        """Something that goes wrong."""

    def fail(campaign: Campaign) -> None:
        with campaign.database.writing() as connection:
            Journal(connection, "campaign", utc_now).event("noted")
            raise StopHereError

    with begin(where) as campaign:
        with pytest.raises(StopHereError):
            fail(campaign)
        assert campaign.status().last_seq == 1
        assert campaign.verify().ok


def test_a_journal_that_ends_elsewhere_is_refused_when_it_is_opened(where: str) -> None:
    with begin(where) as campaign, campaign.database.writing() as connection:
        connection.execute(update(CAMPAIGNS).values(last_seq=2))
    with pytest.raises(DataError, match="its journal should have 2 entries, and 1 are there"):
        Campaign(where)


def test_an_unknown_campaign(where: str) -> None:
    with (
        begin(where) as campaign,
        campaign.database.writing() as connection,
        pytest.raises(UnknownNameError, match="Did you mean campaign"),
    ):
        Journal(connection, "campain", utc_now)
