from __future__ import annotations

import threading
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.run.campaign.answers import marks_at, save_marks
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.rater_pages import Drafts, Leases, PageBoard
from sparingly.run.campaign.release import marked_rows
from sparingly.run.forms.spans import Span, checked_spans, penalty
from tests.run.campaign.made import MODELS, begin, made_set, row


def board_of(campaign: Campaign) -> PageBoard:
    board = PageBoard(campaign.database, campaign.settings)
    board.refresh()
    return board


def picture(board: PageBoard) -> dict[str, Any]:
    """Everything that a board says."""
    return {
        "pages": dict(board.pages),
        "open": [page for page in board.pages if not board.is_answered(page)],
        "answered": board.answered_count,
        "done": {name: board.done_by(name) for name in ("ann", "bob")},
        "given": {name: [board.last_answers(name, one.cell) for page in board.pages.values() for one in page]
                  for name in ("ann", "bob")},
    }  # fmt: skip


def test_following_the_journal_is_the_same_as_reading_all_of_it(where: str) -> None:
    with begin(where) as campaign:
        board = board_of(campaign)
        assert board.pages == {}
        campaign.next()
        steps = 0
        while questions := campaign.questions():
            board.refresh()
            assert picture(board) == picture(board_of(campaign))
            campaign.record([row(one, 5.0, "ann" if steps % 2 else "bob") for one in questions[:2]])
            campaign.record([row(questions[0], 7.0, "ann")])
            steps += 1
            if steps == 3:
                campaign.withdraw(MODELS[2])
            if steps == 4:
                campaign.add_models(made_set(models=(*MODELS, "Dogwood")))
        board.refresh()
        assert picture(board) == picture(board_of(campaign))
        assert board.answered_count == len(board.pages) == 4
        campaign.next()
        board.refresh()
        assert len(board.pages) == 8
        assert board.answered_count == 4
        assert campaign.status().sets[0].outstanding == sum(
            board.missing(cell) for cells in board.pages.values() for cell in cells
        )


def test_a_board_says_when_nothing_is_asked(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        board = board_of(campaign)
        assert board.is_open
        campaign.close()
        board.refresh()
        assert board.is_closed
        assert not board.is_open


def test_many_threads_follow_one_journal(where: str) -> None:
    with begin(where, made_set(20), budget=20, size=20) as campaign:
        campaign.next()
        board = board_of(campaign)
        questions = campaign.questions()

        def judge(place: int) -> None:
            for one in questions[place::4]:
                campaign.record([row(one, 5.0, f"rater-{place}")])
                board.refresh()

        threads = [threading.Thread(target=judge, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert board.answered_count == 20
        assert picture(board) == picture(board_of(campaign))


def test_leases_end_by_themselves(where: str) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with begin(where) as campaign:
        leases = Leases(campaign.name, lambda: now[0], seconds=100)
        unit = ("data", "1 item item-01")
        with campaign.database.writing() as connection:
            leases.lend(connection, unit, "anna")
            assert leases.current(connection)[unit][0] == "anna"
            until = leases.current(connection)[unit][1]
        assert leases.is_fresh(until)
        now[0] += timedelta(seconds=60)
        assert not leases.is_fresh(until)
        with campaign.database.writing() as connection:
            assert unit in leases.current(connection)
            now[0] += timedelta(seconds=41)
            assert leases.current(connection) == {}
            leases.lend(connection, unit, "ben")
            leases.lend(connection, unit, "ben")
            assert leases.current(connection)[unit][0] == "ben"
            leases.give_back(connection, [unit])
            assert leases.current(connection) == {}


def test_drafts_are_of_one_rater_and_item(where: str) -> None:
    with begin(where) as campaign:
        drafts = Drafts(campaign.database, campaign.name)
        drafts.save("anna", "data", "item-01", "one")
        drafts.save("anna", "data", "item-01", "two")
        drafts.save("ben", "data", "item-01", "three")
        assert drafts.read("anna", "data", "item-01") == "two"
        assert drafts.read("anna", "data", "item-02") is None
        with campaign.database.writing() as connection:
            drafts.drop(connection, "anna", "data", "item-01")
        assert drafts.read("anna", "data", "item-01") is None
        assert drafts.read("ben", "data", "item-01") == "three"


def test_marks_are_kept_once_and_come_out_with_their_ratings(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        questions = campaign.questions()
        campaign.record([row(one, 5.0) for one in questions[:3]])
        seqs = [one["seq"] for one in campaign.ratings()]
        first, second = Span(0, 3, "minor"), Span(4, 9, "major")
        for marks in ((first, second), (first,)):
            with campaign.database.writing() as connection:
                save_marks(connection, campaign.name, {seqs[0]: marks, seqs[1]: ()})
        with campaign.database.reading() as connection:
            assert marks_at(connection, campaign.name, seqs[-1]) == {
                seqs[0]: [first.to_dict(), second.to_dict()], seqs[1]: [],
            }  # fmt: skip
            assert marks_at(connection, campaign.name, seqs[0] - 1) == {}
            rows = marked_rows(connection, campaign.name, seqs[-1])
        assert [(one["seq"], one["model"], len(one["marks"])) for one in rows] == [
            (seqs[0], questions[0].model, 2), (seqs[1], questions[1].model, 0),
        ]  # fmt: skip


@given(st.text(max_size=20), st.integers(-3, 25), st.integers(-3, 25))
def test_a_mark_is_taken_where_it_marks_letters(text: str, start: int, end: int) -> None:
    given_mark = {"start": start, "end": end, "severity": "minor"}
    if 0 <= start < end <= len(text):
        (mark,) = checked_spans([given_mark], text)
        assert text[mark.start : mark.end] == text[start:end] != ""
    else:
        with pytest.raises(UsageError, match="not within"):
            checked_spans([given_mark], text)


@pytest.mark.parametrize("wrong", [1.5, True, None, "1"])
def test_a_mark_counts_letters(wrong: Any) -> None:
    with pytest.raises(UsageError, match="whole number"):
        checked_spans([{"start": wrong, "end": 3, "severity": "minor"}], "text")


def test_errors_cost_points() -> None:
    assert penalty([Span(0, 1, "minor"), Span(1, 2, "major"), Span(2, 3, "critical")]) == 31.0
    with pytest.raises(UsageError, match="At most 200"):
        checked_spans([{"start": 0, "end": 1, "severity": "minor"}] * 201, "text")


def test_an_answer_takes_little_memory(where: str) -> None:
    """A server runs for weeks: of an answer stays a bit, not its texts (once 830 bytes and the comment)."""
    with begin(where, made_set(200), budget=200, size=200) as campaign:
        campaign.next()
        board, questions = board_of(campaign), campaign.questions()
        half = len(questions) // 2
        campaign.record([row(one, 5.0, comment="x" * 1000) for one in questions[:half]])
        board.refresh()
        campaign.record([row(one, 5.0, comment="y" * 1000) for one in questions[half:]])
        tracemalloc.start()
        try:
            board.refresh()
            grown = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert board.answered_count == 200
        assert grown / half < 300
        (given,) = board.last_answers("ann", board.pages[board.done_by("ann")[-1]][0].cell).values()
        assert (given.score, given.comment) == (5.0, "y" * 1000)
