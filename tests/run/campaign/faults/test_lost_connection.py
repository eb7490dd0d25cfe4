"""A database that goes away: one sentence, and the next call finds everything that was acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import DataError, InputError
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import answer_all, begin, row
from tools.postgres_server import Server

pytestmark = pytest.mark.journey


def test_a_server_that_crashes_keeps_what_was_acknowledged(postgres: Server) -> None:
    where = postgres.new_address()
    with begin(where) as campaign:
        campaign.next()
        questions = campaign.questions()
        assert campaign.record([row(one, 50) for one in questions[:5]]).new == 5
        postgres.crash()
        try:
            with pytest.raises(DataError, match="Acknowledged answers are saved: try again") as complaint:
                campaign.record([row(questions[5], 50)])
            assert "\n" not in str(complaint.value)
        finally:
            postgres.start()
        assert len(campaign.ratings()) == 5
        assert answer_all(campaign) == len(questions) - 5
        assert campaign.verify().ok


def test_connections_that_are_cut_are_made_again(postgres: Server) -> None:
    where = postgres.new_address()
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        campaign.record([row(question, 50)])
        postgres.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )
        assert campaign.record([row(question, 60)]).correction == 1


def test_no_server_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gave an error") as complaint:
        Campaign(f"postgresql+psycopg://somebody@/nothing?host={tmp_path}")
    assert "\n" not in str(complaint.value)


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "campaign.db"
    begin(str(path)).disconnect()
    path.unlink()
    with pytest.raises(InputError, match="there is no such campaign"):
        Campaign(path)
    assert not path.exists()
