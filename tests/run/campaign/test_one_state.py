"""Whatever is read of a campaign speaks of one state of it, while others write all the time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from sparingly.base.errors import DataError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.rater_pages import PageBoard
from sparingly.run.campaign.release import bundle_files, release_files
from sparingly.run.exchange.tasks import make_campaign_tasks
from sparingly.show.report.evidence import ReportRequest, from_campaign
from tests.run.campaign.made import answer_all, begin, made_set, row
from tools.postgres_server import Server

MODELS = ("Ash", "Beech", "Cedar", "Dogwood")


class Meddler:
    """Another process: it answers, draws rounds and withdraws a model whenever it is let."""

    def __init__(self, where: str) -> None:
        self.campaign, self.entries, self._busy = Campaign(where), 0, False

    def act(self) -> None:
        """Add an entry: an answer of somebody new, now and then a round, once the loss of a model."""
        if self._busy:
            return
        self._busy = True
        try:
            self.entries += 1
            if self.entries == 3:
                self.campaign.withdraw("Dogwood")
            elif self.entries % 4 == 0 and self.entries < 20:
                self.campaign.next(early=True)
            else:
                self._answer()
        finally:
            self._busy = False

    def _answer(self) -> None:
        first = self.campaign.rounds()[-1].items[0]
        about = {"item": first, "model": "Ash", "rater": f"rater {self.entries}"}
        assert self.campaign.record([{**about, "score": float(self.entries % 100)}]).new == 1


@pytest.fixture
def meddler(where: str) -> Iterator[Meddler]:
    with begin(where, made_set(24, MODELS), budget=24) as campaign:
        campaign.next()
        answer_all(campaign, made_set(24, MODELS))
        campaign.next()
        open_questions = campaign.questions()
        campaign.record([row(one, 50.0) for one in open_questions[: len(open_questions) // 2]])
    other = Meddler(where)
    yield other
    other.campaign.disconnect()


@contextmanager
def after_every_statement(act: Callable[[], None]) -> Iterator[None]:
    """Let somebody act after every statement of every read."""

    def executed(connection: Connection, *_: Any) -> None:
        if not connection.get_execution_options().get("sparingly_writes", False):
            act()

    event.listen(Engine, "after_cursor_execute", executed)
    try:
        yield
    finally:
        event.remove(Engine, "after_cursor_execute", executed)


@contextmanager
def before_every_read(act: Callable[[], None]) -> Iterator[None]:
    """Let somebody act before every transaction that reads, which either database allows."""
    reading = Database.reading

    @contextmanager
    def later(self: Database) -> Iterator[Connection]:
        act()
        with reading(self) as connection:
            yield connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "reading", later)
        yield


@pytest.fixture
def disturbed(where: str, meddler: Meddler) -> Callable[[], Any]:
    """Others act after every statement on a server, and between transactions on a file, which they lock."""
    return lambda: (
        before_every_read(meddler.act) if where.startswith("/") else after_every_statement(meddler.act)
    )


def test_a_campaign_is_opened_and_verified(
    where: str, meddler: Meddler, disturbed: Callable[[], Any]
) -> None:
    with disturbed():
        for _ in range(3):
            with Campaign(where) as campaign:
                assert campaign.verify().problems == ()
    assert meddler.entries > 20


def test_the_status_is_that_of_its_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found = campaign.status()
        assert found.sets == campaign.status(found.seq).sets
        assert meddler.entries >= 1


def test_the_overview_counts_what_the_journal_has(
    where: str, meddler: Meddler, disturbed: Callable[[], Any]
) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found = campaign.overview()
        assert found.cost.answers == len(campaign.ratings(at=found.seq))
        assert len(found.rounds) == len(campaign.rounds(at=found.seq))


def test_the_board_follows(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        board = PageBoard(campaign.database, campaign.settings)
        with disturbed():
            for _ in range(8):
                board.refresh()
        board.refresh()
        fresh = PageBoard(campaign.database, campaign.settings)
        fresh.refresh()
        assert (board.seq, board.pages, board.answered_count) == (
            fresh.seq,
            fresh.pages,
            fresh.answered_count,
        )


def test_everything_is_of_one_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found = bundle_files(campaign)
        seq = json.loads(found["overview.json"])["seq"]
        answers = list(csv.DictReader(io.StringIO(found["answers.csv"].decode("utf-8-sig"))))
        assert len(answers) == len(campaign.ratings(at=seq))
        assert len(found["events.jsonl"].splitlines()) + len(answers) == seq
        drawn = [name for name in found if name.startswith("rounds/")]
        assert len(drawn) == len(campaign.rounds(at=seq))
        assert (b'"Dogwood": {' in found["data/data.jsonl"]) == ("Dogwood" in campaign.data(at=seq).models)
        hours = list(csv.DictReader(io.StringIO(found["hours.csv"].decode("utf-8-sig"))))
        assert sum(int(one["answers"]) for one in hours) == len(answers)


def test_a_release_is_of_one_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found, _, answers = release_files(
                campaign, licence="CC0", title=None, comments=False, texts=True, seed=1
            )
        rows = list(csv.DictReader(io.StringIO(found["ratings.csv"].decode("utf-8-sig"))))
        manifest = json.loads(found["release.json"])
        drawn = [name for name in found if name.startswith("rounds/")]
        seqs = [number for number in range(1, campaign.status().seq + 1)
                if len(campaign.ratings(at=number)) == len(rows)]  # fmt: skip
        assert len(rows) == answers == manifest["answers"]
        assert len(drawn) in {len(campaign.rounds(at=number)) for number in seqs}
        models = {tuple(campaign.data(at=number, judged=False).models) for number in seqs}
        assert (b'"Dogwood": {' in found["data/data.jsonl"]) in {"Dogwood" in one for one in models}


def test_findings_are_of_one_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found = campaign.findings()
        assert found.to_dict() == campaign.findings(at=found.seq).to_dict()


def test_the_outlook_is_of_one_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        begun = campaign.status().seq
        with disturbed():
            ahead = campaign.outlook()
        entries = [one.sets[0] for one in map(campaign.status, range(begun, campaign.status().seq + 1))]
        same = [
            one
            for one in entries
            if (one.rounds + 1, one.outstanding, one.spent) == (ahead.number, ahead.waiting, ahead.spent)
        ]
        assert ahead.outputs in {4 * len(one.models) for one in same}


def test_tasks_ask_what_was_open(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            tasks = make_campaign_tasks(campaign)
        assert tasks.questions


def test_a_report_is_of_one_entry(where: str, meddler: Meddler, disturbed: Callable[[], Any]) -> None:
    with Campaign(where) as campaign:
        with disturbed():
            found = from_campaign(campaign, None, ReportRequest())
        assert found.status is not None
        again = from_campaign(campaign, None, ReportRequest(), at=found.status.seq)
        assert found.estimate is not None
        assert again.estimate is not None
        assert found.estimate.to_dict() == again.estimate.to_dict()
        assert len(found.rounds) == len(again.rounds)
        assert found.part == again.part


def test_a_read_writes_nothing(postgres: Server) -> None:
    """A transaction that promises one state is also kept from writing by the server."""
    with begin(postgres.new_address()) as campaign:
        with (
            pytest.raises(DataError, match="read-only transaction"),
            campaign.database.reading() as connection,
        ):
            connection.exec_driver_sql("DELETE FROM sparingly_events")
        campaign.next()
