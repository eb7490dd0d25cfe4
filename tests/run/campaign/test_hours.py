from __future__ import annotations

import csv
import io
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.known import KnownAnswer, KnownAnswers, KnownKind
from sparingly.run.campaign.progress import HOURS_COLUMNS, hours_table
from sparingly.run.campaign.release import bundle_files
from sparingly.run.forms.answer import Answer
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


def test_work_between_two_entries_belongs_to_the_first(where: str) -> None:
    now = [NOON]
    with begin(where, clock=lambda: now[0]) as campaign:
        campaign.next()
        one, two, three = campaign.questions()[:3]
        campaign.record([row(one, 10, "ann", seconds=30)])
        known = KnownAnswers(campaign.database, campaign.name, lambda: now[0])
        kinds: tuple[KnownKind, ...] = ("tutorial", "passed", "control")
        for minute, kind in enumerate(kinds, 1):
            now[0] = NOON.replace(minute=minute)
            known.save("ann", kind, [KnownAnswer("known", "sample", "overall", 1, 1, True, 200.0 * minute)])
            if kind == "tutorial":
                campaign.skip([two], "ben", "knowledge")
        # Nothing has followed the last entry, of which all is: the tutorial with all its tries is one sum.
        seq = campaign.last_seq()
        assert campaign.hours(seq) == campaign.hours()
        hours = list(csv.DictReader(io.StringIO(bundle_files(campaign)["hours.csv"].decode())))
        assert [(one["rater"], float(one["seconds"])) for one in hours] == [("ann", 1030)]
        now[0] = NOON.replace(minute=9)
        skipped = Answer("ann", three.item, math.nan, three.model, skip="knowledge", seconds=5.0)
        assert campaign.record([skipped]).new == 1
        assert [campaign.hours(at)[0].seconds for at in (seq - 1, seq, seq + 1)] == [30, 1030, 1035]
