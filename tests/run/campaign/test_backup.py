"""Copies of campaigns, made while others write."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sparingly.base.errors import InputError
from sparingly.run.campaign.access import Access, digest_of
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import answer_all, begin, made_set


def test_a_copy_holds_one_state_while_others_write(where: str, tmp_path: Path) -> None:
    with begin(where, made_set(40), budget=40, size=40) as campaign:
        campaign.next()
        token = Access(campaign.database, campaign.name).invite("rater", "anna")
        asked = campaign.questions()
        over = threading.Event()

        def write() -> None:
            with Campaign(where) as other:
                for place, one in enumerate(asked):
                    row = {"rater": "anna", "item": one.item, "model": one.model, "score": place % 90}
                    other.record([row])
                    if over.is_set():
                        return

        writer = threading.Thread(target=write)
        writer.start()
        last = [campaign.back_up(tmp_path / f"copy-{number}.db") for number in range(5)]
        over.set()
        writer.join()
        rows = campaign.ratings()
    assert last == sorted(last)
    for number, seq in enumerate(last):
        with Campaign(tmp_path / f"copy-{number}.db") as copy:
            assert copy.last_seq() == seq
            assert copy.verify().ok
            assert copy.ratings() == [row for row in rows if row["seq"] <= seq]
            assert Access(copy.database, copy.name).open_to(digest_of(token)) is not None
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_copy_goes_on_as_the_campaign_would(tmp_path: Path) -> None:
    with begin(str(tmp_path / "live.db"), made_set(12), budget=8, size=4) as campaign:
        campaign.next()
        answer_all(campaign)
        campaign.back_up(tmp_path / "copy.db")
        (expected,) = campaign.next()
        with Campaign(tmp_path / "copy.db") as copy:
            (found,) = copy.next()
            assert (found.number, found.new) == (expected.number, expected.new)
            assert [one.item for one in copy.questions()] == [one.item for one in campaign.questions()]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "there.db").write_text("mine")
    with begin(str(tmp_path / "live.db")) as campaign:
        with pytest.raises(InputError, match="there is such a file already"):
            campaign.back_up(tmp_path / "there.db")
        with pytest.raises(InputError, match="folder"):
            campaign.back_up(tmp_path / "nowhere" / "copy.db")
    assert (tmp_path / "there.db").read_text() == "mine"
