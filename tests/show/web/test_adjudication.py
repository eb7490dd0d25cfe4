"""Answers that others decide about: disagreements, and raters whose answers are withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.run.campaign.access import Role
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import MODELS, answer_all, begin, made_set
from tests.show.web.test_quality import judge_everything
from tests.show.web.visitor import Visitor, served, web_of


def counted(campaign: Campaign) -> set[tuple[str, float]]:
    """Who gave which scores that count."""
    table = campaign.data().ratings
    return {(table.raters[code], float(score)) for code, score in zip(table.rater, table.score, strict=True)}


def reviewer(app: FastAPI, name: str, role: Role = "reviewer") -> Visitor:
    """Somebody who opens the organiser's pages and presses Decide."""
    visitor = Visitor(app)
    web = web_of(app)
    assert visitor.client.get(f"/o/{web.access.invite(role, name)}").status_code == 200
    cookie = visitor.client.cookies[web.sessions.cookies["organiser"]]
    session = web.sessions.read(cookie, "organiser")
    assert session is not None
    answer = visitor.client.post("/organiser/decide", data={"csrf": web.sessions.csrf(session)})
    assert answer.status_code == (403 if role == "viewer" else 200)
    assert visitor.client.post("/organiser/decide", data={"csrf": "another"}).status_code == 403
    return visitor


def test_a_reviewer_sees_both_answers_and_decides(tmp_path: Path) -> None:
    options = {"overlap": 1.0}
    with served(tmp_path, made_set(6), budget=2, size=2, options=options) as app:
        # Whoever comes in is lent a page, but for the one who decides.
        rosa = reviewer(app, "rosa")
        assert judge_everything(Visitor(app, "anna"), 20) == 2
        ben = Visitor(app, "ben")
        assert rosa.question()["page"] is None
        # Of one page far from anna's answers, of the other near enough.
        far = ben.question()
        assert ben.answer(far, 20, 90).status_code == 200
        assert ben.answer(ben.question(), 40).status_code == 200
        assert web_of(app).board.disputed_count == 2
        assert judge_everything(Visitor(app, "carl")) == 0
        question, page = rosa.question(), rosa.page()
        assert len(question["outputs"]) == 2
        assert page.count("Two raters disagree") == 2
        assert page.count('<li dir="auto">20</li><li dir="auto">90</li>') == 2
        assert "anna" not in page
        assert "disagree about 2 questions" in rosa.page("/organiser")
        assert rosa.answer(question, 75).status_code == 200
        assert rosa.question()["why"] == "No two raters disagree at the moment."
        assert "/organiser/decide" not in rosa.page("/organiser")
        campaign = web_of(app).campaign
        assert web_of(app).board.disputed_count == 0
        assert counted(campaign) == {("anna", 20.0), ("ben", 20.0), ("ben", 40.0), ("reviewer: rosa", 75.0)}
        assert len(campaign.ratings()) == 14
        # Agreement is that of the two, before it was decided.
        (agreement,) = campaign.findings().agreement
        assert agreement.common == 6
        assert {pair.first for pair in agreement.pairs} == {"anna"}
        assert campaign.verify().ok


def test_the_organiser_decides_and_a_viewer_only_reads(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=1, size=1, options={"overlap": 1.0}) as app:
        for name, score in (("anna", 0), ("ben", 99)):
            judge_everything(Visitor(app, name), score)
        eva = reviewer(app, "eva", "viewer")
        assert "disagree about" not in eva.page("/organiser")
        assert eva.client.get("/rate").status_code == 401
        rosa = reviewer(app, "rosa")
        web_of(app).access.retire("rosa", "reviewer")
        # With her link the pages on which she decides are closed, too.
        assert rosa.client.get("/rate").status_code == 401
        organiser = reviewer(app, "", "organiser")
        assert organiser.answer(organiser.question(), 30).status_code == 200
        assert counted(web_of(app).campaign) == {("reviewer: organiser", 30.0)}


def test_a_third_rater_decides_without_seeing_anything(tmp_path: Path) -> None:
    options = {"overlap": 1.0, "third_rater": True}
    with served(tmp_path, made_set(6), budget=1, size=1, scale=(0, 1), options=options) as app:
        assert judge_everything(Visitor(app, "anna"), 1) == 1
        assert judge_everything(Visitor(app, "ben"), 0) == 1
        carl = Visitor(app, "carl")
        assert "Two raters disagree" not in carl.page()
        assert judge_everything(carl, 1) == 1
        assert judge_everything(Visitor(app, "dora"), 1) == 0
        assert counted(web_of(app).campaign) == {("carl", 1.0)}
        assert web_of(app).board.disputed_count == 0


def test_pairs_are_decided_too(tmp_path: Path) -> None:
    options = {"overlap": 1.0}
    changed = {"strategy": "pairs", "budget": 1, "size": 1, "scale": None}
    with served(tmp_path, made_set(6), options=options, **changed) as app:
        # Each prefers what the page shows first, in an order of their own: take the names' order.
        for name in ("anna", "ben"):
            visitor = Visitor(app, name)
            page = visitor.page()
            models = sorted(MODELS, key=lambda model: page.find(f"{model} on"))
            shown = [model for model in models if f"{model} on" in page]
            wants = min(shown) if name == "anna" else max(shown)
            question = visitor.question()
            assert visitor.answer(question, 1 if shown[0] == wants else -1).status_code == 200
        rosa = reviewer(app, "rosa")
        page = rosa.page()
        assert '<li dir="auto">The first</li>' in page
        assert '<li dir="auto">The second</li>' in page
        assert rosa.answer(rosa.question(), 0).status_code == 200
        campaign = web_of(app).campaign
        table = campaign.data().preferences
        assert [
            (table.raters[code], value) for code, value in zip(table.rater, table.value, strict=True)
        ] == [("reviewer: rosa", 0.0)]


def test_an_order_decides_only_what_raters_disagree_about(tmp_path: Path) -> None:
    options = {"overlap": 1.0, "form": "ranking"}
    with served(tmp_path, made_set(6), budget=1, size=1, options=options) as app:
        orders = {"anna": "Ash Beech Cedar", "ben": "Beech Ash Cedar", "rosa": "Cedar Ash Beech"}
        for name, order in orders.items():
            visitor = reviewer(app, name) if name == "rosa" else Visitor(app, name)
            question = visitor.question()
            models = [output["texts"][0][0].split()[0] for output in question["outputs"]]
            places = [3.0 - order.split().index(model) for model in models]
            assert visitor.answer(question, *places).status_code == 200
        rosa = "reviewer: rosa"
        # About the last one nobody disagrees: it has three answers, and there is nothing left to decide.
        expected = {(rosa, 50.0), (rosa, 0.0), ("anna", 0.0), ("ben", 0.0), (rosa, 100.0)}
        assert counted(web_of(app).campaign) == expected
        assert web_of(app).board.disputed_count == 0


def test_withdrawn_answers_are_kept_and_can_come_back(tmp_path: Path) -> None:
    with begin(str(tmp_path / "c.db"), budget=4) as campaign:
        campaign.next()
        assert answer_all(campaign, rater="anna") == 12
        before = campaign.estimate(interval="none")
        with pytest.raises(UnknownNameError, match="anna"):
            campaign.withdraw_rater("ann")
        campaign.withdraw_rater("anna", "scores at random")
        assert campaign.status().sets[0].outstanding == 12
        assert campaign.overview().answered == 0
        assert [rater.withdrawn for rater in campaign.overview().raters] == [True]
        assert {row["withdrawn"] for row in campaign.ratings()} == {True}
        assert len(campaign.data().ratings) == 0
        with pytest.raises(UsageError, match="withdrawn already"):
            campaign.withdraw_rater("anna")
        assert answer_all(campaign, rater="ben") == 12
        assert counted(campaign) == {(name, score) for name, score in counted(campaign) if name == "ben"}
        campaign.withdraw_rater("ben")
        campaign.return_rater("anna")
        assert (campaign.estimate(interval="none").scores == before.scores).all()
        assert campaign.verify().ok


def test_what_a_withdrawn_rater_judged_is_asked_again(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=2, size=2) as app:
        anna = Visitor(app, "anna")
        assert judge_everything(anna) == 2
        ben = Visitor(app, "ben")
        assert judge_everything(ben) == 0
        web_of(app).campaign.withdraw_rater("anna")
        assert anna.question()["page"] is None
        assert judge_everything(ben) == 2
        web_of(app).campaign.return_rater("anna")
        assert judge_everything(Visitor(app, "carl")) == 0
