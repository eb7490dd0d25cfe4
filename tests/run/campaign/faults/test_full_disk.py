"""A full disk: one sentence, nothing lost, and the campaign goes on when there is room again."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event

from sparingly.base.errors import DataError
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.faults.child import work_until_full
from tests.run.campaign.faults.processes import run_child
from tests.run.campaign.made import answer_all, begin, row

pytestmark = pytest.mark.journey


def check_goes_on(where: str, acknowledged: int) -> None:
    with Campaign(where) as campaign:
        assert len(campaign.ratings()) == acknowledged
        assert campaign.verify().ok
        assert answer_all(campaign) > 0
        assert campaign.next()[0].number == 2
        assert campaign.verify().ok


def test_no_more_pages(tmp_path: Path) -> None:
    where = str(tmp_path / "campaign.db")
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
    with Campaign(where) as campaign:
        campaign.database.engine.dispose()

        @event.listens_for(campaign.database.engine, "connect")
        def limit(connection: object, _: object) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[attr-defined]
            connection.execute(f"PRAGMA max_page_count={pages + 4}")  # type: ignore[attr-defined]

        acknowledged = 0
        sentence = ""
        while not sentence:
            try:
                campaign.record([row(question, 50, client=str(acknowledged), comment="many words " * 40)])
            except DataError as error:
                sentence = str(error)
            else:
                acknowledged += 1
        assert acknowledged > 0
        assert "is full" in sentence
        assert "Acknowledged answers are saved" in sentence
        assert "\n" not in sentence
    check_goes_on(where, acknowledged)


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    where = str(tmp_path / "campaign.db")
    with begin(where) as campaign:
        campaign.next()
    said, code = run_child(work_until_full, where, Path(where).stat().st_size + 20_000)
    assert code == 0
    *acknowledged, sentence = said
    assert acknowledged
    assert "Acknowledged answers are saved" in sentence
    check_goes_on(where, len(acknowledged))
