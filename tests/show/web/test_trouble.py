"""What raters are told when something goes wrong: what to do, and nothing that they must not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import DataError, UsageError
from tests.show.web.visitor import Visitor, action_of, fields_of, ratings, served


def test_a_model_that_is_withdrawn_meanwhile_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question, other = anna.question(), ben.question()
        page = anna.page()
        anna.web.campaign.withdraw("Beech")
        # The page has one output less now: it is shown again with what was typed.
        sent = {name: value or "50" for name, value in fields_of(page).items()}
        again = anna.client.post(action_of(page), data=sent)
        assert again.status_code == 422
        assert "The questions on this page have changed" in again.text
        assert again.text.count('value="50"') == 4
        # At the very moment of sending, the campaign itself refuses it.
        monkeypatch.setattr(
            app.state.rater_service.queue, "questions", lambda _, page: anna.web.board.pages[page]
        )
        monkeypatch.setattr(anna.web.campaign, "record", _refusing)
        for visitor, asked in ((anna, question), (ben, other)):
            cards = [
                {"output": one["output"], "scores": {"overall": 5}} for one in visitor.question()["outputs"]
            ]
            refused = visitor.answer(asked, 5, cards=cards)
            assert refused.status_code == 409
            assert refused.json()["detail"] == "A question on this page was withdrawn. Load the page again."


def _refusing(*_: object, **__: object) -> None:
    raise UsageError('Nothing was recorded, because of one answer: The model "Beech" was withdrawn.')


def test_trouble_with_the_database_tells_raters_nothing_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        question, page = anna.question(), anna.page()

        def fails(*_: object, **__: object) -> None:
            raise DataError(f"Another process has held the campaign {tmp_path} for 60 s. Try again.")

        sent = {name: value or "50" for name, value in fields_of(page).items()}
        with monkeypatch.context() as broken:
            broken.setattr(anna.web.campaign, "record", fails)
            # Browsers send an answer again that got a number from 500 on.
            for answer in (anna.answer(question, 5), anna.client.post(action_of(page), data=sent)):
                assert answer.status_code == 503
                assert str(tmp_path) not in answer.text
        assert str(tmp_path) in caplog.text
        assert anna.client.post(action_of(page), data=sent).status_code == 200
        assert len(ratings(anna)) == 3


def test_nothing_can_be_said_of_a_page_that_others_have_judged(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        anna.answer(question, 5)
        answer = ben.answer(question, 5, cards=[], seconds=3.0)
        assert answer.status_code == 409
        assert answer.json()["detail"] == "This page is not open to you any more. Load the page again."
