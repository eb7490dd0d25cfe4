from __future__ import annotations

import pytest

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.run.campaign.access import Access, Audit, digest_of
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.rater_pages import Leases
from tests.run.campaign.made import begin


def test_links_open_until_they_are_retired(where: str) -> None:
    with begin(where) as campaign:
        access = Access(campaign.database, campaign.name)
        token, again = access.invite("rater", "anna"), access.invite("rater", "anna")
        boss = access.invite("organiser")
        assert len({token, again, boss}) == 3
        assert min(map(len, (token, again, boss))) >= 43
        for one, role, rater in ((token, "rater", "anna"), (boss, "organiser", "")):
            entry = access.open_to(digest_of(one))
            assert entry is not None
            assert (entry.role, entry.rater) == (role, rater)
        assert access.open_to(digest_of("guess")) is None
        assert access.retire("anna") == 2
        assert access.open_to(digest_of(token)) is None
        assert access.open_to(digest_of(boss)) is not None
        assert access.retire("anna") == 0
        new = access.invite("rater", "anna")
        assert access.open_to(digest_of(new)) is not None
        assert [one.rater for one in access.entries()].count("anna") == 3


def test_no_token_is_in_the_database(where: str) -> None:
    with begin(where) as campaign:
        access = Access(campaign.database, campaign.name)
        token = access.invite("rater", "anna")
        kept = repr(access.entries()) + repr(Audit(campaign.database, campaign.name).entries())
        assert token not in kept
        assert digest_of(token) in kept


def test_links_of_one_campaign_do_not_open_another(where: str) -> None:
    with begin(where, name="one") as one, begin(where, name="other") as other:
        token = Access(one.database, "one").invite("rater", "anna")
        assert Access(other.database, "other").open_to(digest_of(token)) is None


@pytest.mark.parametrize("name", ["", " ", " anna", "an\nna", "x" * 101, "\ud800"])
def test_names_that_are_none(where: str, name: str) -> None:
    with begin(where) as campaign, pytest.raises(UsageError, match="1 to 100 letters"):
        Access(campaign.database, campaign.name).invite("rater", name)


def test_an_unknown_rater_is_not_retired(where: str) -> None:
    with begin(where) as campaign:
        access = Access(campaign.database, campaign.name)
        access.invite("rater", "anna")
        with pytest.raises(UnknownNameError, match="Did you mean anna"):
            access.retire("ana")


def test_the_newest_deeds_come_first(where: str) -> None:
    begin(where).disconnect()
    database = Database(where)
    audit = Audit(database, "campaign")
    for count in range(5):
        audit.write("organiser", "counted", count=count)
    assert [entry.detail["count"] for entry in audit.entries(3)] == [4, 3, 2]
    database.close()


def test_what_a_retired_rater_was_at_is_free_for_others(where: str) -> None:
    with begin(where) as campaign:
        access, leases = Access(campaign.database, campaign.name), Leases(campaign.name)
        for name in ("anna", "ben"):
            access.invite("rater", name)
            with campaign.database.writing() as connection:
                leases.lend(connection, ("data", f"item of {name}"), name)
        access.retire("anna")
        with campaign.database.reading() as connection:
            assert {rater for rater, _ in leases.current(connection).values()} == {"ben"}


def test_links_of_the_organiser_are_taken_back_and_no_others(where: str) -> None:
    with begin(where) as campaign:
        access = Access(campaign.database, campaign.name)
        seen, also, decides, rater = (
            access.invite("organiser"),
            access.invite("organiser"),
            access.invite("rater", "reviewer: organiser"),
            access.invite("rater", "anna"),
        )
        leases = Leases(campaign.name)
        with campaign.database.writing() as connection:
            leases.lend(connection, ("data", "item"), "reviewer: organiser")
        assert access.retire_organiser() == 2
        assert [access.open_to(digest_of(one)) for one in (seen, also, decides)] == [None] * 3
        with campaign.database.reading() as connection:
            assert leases.current(connection) == {}
        assert access.open_to(digest_of(rater)) is not None
        assert access.open_to(digest_of(access.invite("organiser"))) is not None
        assert "organiser's links retired" in [
            entry.action for entry in Audit(campaign.database, campaign.name).entries()
        ]
