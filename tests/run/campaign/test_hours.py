from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.progress import HOURS_COLUMNS, hours_table
from tests.run.campaign.made import begin, row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """Ann gave two answers and corrected one, Ben gave one without a time."""
    now = [NOON]
    begun = begin(str(tmp_path / "campaign.db"), clock=lambda: now[0])
    begun.next()
    one, two, three = begun.questions()[:3]
    begun.record([row(one, 10, "ann", seconds=30, client="1"), row(two, 20, "ann", seconds=60)])
    now[0] = NOON.replace(day=3)
    begun.record([row(one, 15, "ann", seconds=90, client="2"), row(three, 30, "ben")])
    return begun


def test_every_answer_counts_corrections_too(campaign: Campaign) -> None:
    ann, ben = campaign.hours()
    assert (ann.rater, ann.answers, ann.corrections, ann.without_time) == ("ann", 3, 1, 0)
    assert ann.seconds == 180
    assert ann.hours == 0.05
    assert ann.seconds_per_answer == 60
    assert (ann.days, ann.first[:10], ann.last[:10]) == (2, "2026-03-01", "2026-03-03")
    assert (ben.answers, ben.without_time, ben.seconds, ben.seconds_per_answer) == (1, 1, 0, None)
    campaign.disconnect()


def test_what_is_due_at_a_rate(campaign: Campaign) -> None:
    columns, rows = hours_table(campaign.hours(), 20.0)
    assert columns == (*HOURS_COLUMNS, "rate", "amount")
    assert [one["amount"] for one in rows] == [1.0, 0.0]
    assert set(rows[0]) == set(columns)
    assert hours_table(campaign.hours())[0] == HOURS_COLUMNS
    with pytest.raises(UsageError, match="0 or more, not -1"):
        hours_table(campaign.hours(), -1)
    campaign.disconnect()


def test_nobody_has_worked_yet(tmp_path: Path) -> None:
    with begin(str(tmp_path / "campaign.db")) as begun:
        assert begun.hours() == ()


def test_hours_at_an_earlier_entry(campaign: Campaign) -> None:
    assert [one.rater for one in campaign.hours(at=4)] == ["ann"]
    campaign.disconnect()
