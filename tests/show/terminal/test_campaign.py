from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.run.campaign.answers import Acknowledgement, RecordedCounts
from sparingly.run.campaign.rounds import NextStep
from sparingly.run.rounds.strategy import Finished
from sparingly.run.verification import Verification
from sparingly.show.terminal.campaign import (
    show_campaign_verification,
    show_recorded,
    show_status,
    show_steps,
)
from tests.run.campaign.made import answer_all, begin


def test_many_refusals_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = RecordedCounts()
    for line in range(25):
        recorded.add(Acknowledgement(line, "refused", sentence=f"No. {line}"))
    show_recorded(recorded)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0 new, 0 corrections, 0 there already, 25 refused"
    assert lines[-1] == "- … and 5 more"
    assert len(lines) == 22


def test_steps_that_end(capsys: pytest.CaptureFixture[str]) -> None:
    ended = NextStep("de", 2, None, False, 3, Finished("Ash is the best model."))
    show_steps((ended, NextStep("uk", 0, None, False, 0)), "form.csv")
    assert capsys.readouterr().out.splitlines() == [
        "de: finished: Ash is the best model. 3 answers are still to come.",
        "uk: no round was drawn: the campaign is closed or paused",
        "written: form.csv",
    ]


def test_a_status_and_its_verification(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with begin(str(tmp_path / "c.db"), stop="budget_spent") as campaign:
        campaign.next()
        answer_all(campaign)
        campaign.close()
        status = campaign.status(14)
        show_status(status, verbose=True)
        show_status(campaign.status())
        show_campaign_verification(Verification(("The entry 3 was changed.",)), status)
    text = capsys.readouterr().out
    assert "campaign (overall, at entry 14 of 15): " in text
    assert "campaign (overall, closed): 12 answers so far, 0 to come in this round" in text
    assert "stop: budget_spent" in text
    assert "NOT verified\n- The entry 3 was changed.\n" in text
