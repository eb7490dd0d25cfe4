from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.run.campaign.access import Access, AuditEntry
from sparingly.run.campaign.progress import overview
from sparingly.show.web.organiser_views import duration, fixed, log_rows, moment, rater_rows
from tests.run.campaign.made import begin, row


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (0, "0 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_times_are_in_utc() -> None:
    assert moment("2026-11-06T03:05:09.5+02:00") == "6 Nov 2026, 01:05 UTC"


def test_numbers() -> None:
    assert [fixed(0.12345), fixed(0.5, "+.2f"), fixed(float("nan"))] == ["0.12", "+0.50", "-"]


def test_letters_that_hide_are_seen_in_the_log() -> None:
    deed = AuditEntry("2026-11-06T03:05:09+00:00", "rater \u202eevil", "came in", {"a": "\x1b[2J", "b": ""})
    ((_, who, _, detail),) = log_rows([deed])
    assert "\u202e" not in who
    assert "\x1b" not in detail
    assert "b:" not in detail


def test_who_was_invited_and_who_answered(tmp_path: Path) -> None:
    with begin(str(tmp_path / "c.db")) as campaign:
        campaign.next()
        access = Access(campaign.database, campaign.name)
        for name in ("ann", "cy", "dee"):
            access.invite("rater", name)
        access.invite("organiser")
        access.retire("dee")
        one = campaign.questions()[0]
        campaign.record([row(one, 1, "ann", seconds=30), row(one, 2, "bob")])
        rows = rater_rows(access.entries(), overview(campaign))
    assert [(each.rater, each.state, each.can_retire, each.answers) for each in rows] == [
        ("ann", "at work", True, 1),
        ("bob", "no link", False, 1),
        ("cy", "invited", True, 0),
        ("dee", "retired", False, 0),
    ]
    assert rows[0].rounds == (("round 1", 1),)
    assert (rows[0].mean_time, rows[1].mean_time) == ("30 s", "-")
