"""In which order outputs are shown: nobody can work it out, and it is saved."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import FastAPI

from sparingly.run.campaign.release import bundle_files
from sparingly.show.web.app import create_app
from sparingly.show.web.rater.page import first_models
from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import SECRET, Visitor, ratings, served, small_set, web_of


def test_outputs_are_in_an_order_drawn_for_rater_and_item(tmp_path: Path) -> None:
    with served(tmp_path, made_set(60), budget=60, size=60) as app:
        names = [f"rater-{place}" for place in range(8)]
        orders = {}
        for name in names:
            visitor = Visitor(app, name)
            orders[name] = [output["texts"][0][0].split()[0] for output in visitor.question()["outputs"]]
            again = [output["texts"][0][0].split()[0] for output in visitor.question()["outputs"]]
            assert again == orders[name]
        assert len({tuple(order) for order in orders.values()}) >= 3
        first: dict[str, int] = dict.fromkeys(MODELS, 0)
        anna = Visitor(app, "anna")
        for _ in range(40):
            question = anna.question()
            first[question["outputs"][0]["texts"][0][0].split()[0]] += 1
            anna.answer(question, 1)
        assert min(first.values()) >= 5


def test_the_order_needs_the_secret_of_the_server(tmp_path: Path) -> None:
    """The campaign, its seed and the rater's name are no secret: they must not tell which model is which."""
    with served(tmp_path, made_set(12), budget=12, size=12) as app:
        mine = orders_of(app, "anna")
    again, other = (
        create_app(tmp_path / "campaign.db", secret=secret, hosts=None) for secret in (SECRET, SECRET[::-1])
    )
    assert orders_of(again, "anna") == mine
    theirs = orders_of(other, "anna")
    # One of the six orders of three models is the same by chance.
    assert sum(order == theirs[item] for item, order in mine.items()) <= 8
    for app in (again, other):
        web_of(app).campaign.disconnect()


def orders_of(app: FastAPI, rater: str) -> dict[str, list[str]]:
    """The models in the order in which a rater would be shown them, on every page."""
    visitor, service = Visitor(app, rater), app.state.rater_service
    visitor.question()
    session = service.web.sessions.read(
        visitor.client.cookies[service.web.sessions.cookies["rater"]], "rater"
    )
    return {
        page.item: [first_models(card)[0] for card in service.views.questions(session, page)]
        for page in service.web.board.pages
    }


def test_the_order_shown_is_saved_with_every_answer(tmp_path: Path) -> None:
    outputs = [[f"{model} {place}" for model in MODELS] for place in range(6)]
    outputs[0][1] = outputs[0][0]
    shown: dict[tuple[str, str], tuple[int, int]] = {}
    with served(tmp_path, small_set(outputs), budget=6, size=6) as app:
        anna = Visitor(app, "anna")
        while (question := anna.question())["page"] is not None:
            texts = [output["texts"][0][0] for output in question["outputs"]]
            item = question["source"][0].removeprefix("source of ")
            for model, text in zip(MODELS, outputs[int(item[-2:])], strict=True):
                shown[item, model] = (texts.index(text) + 1, len(texts))
            anna.answer(question, 50)
            # What is sent again is no new answer, and its place is not saved again.
            assert anna.answer(question, 50).json()["same"] == 3
        bundle = bundle_files(anna.web.campaign)
        rows = {row["seq"]: (row["item"], row["model"]) for row in ratings(anna)}
    saved = [json.loads(line) for line in bundle["placements.jsonl"].splitlines()]
    assert {rows[one["seq"]]: (one["place"], one["cards"]) for one in saved} == shown
    assert len(saved) == len(rows) == 18
    assert not any(one["turned"] for one in saved)


def test_equal_pairs_are_one_card_either_way_round(tmp_path: Path) -> None:
    from sparingly.run.campaign.rater_pages import Page
    from sparingly.run.forms.question import Output, Question, QuestionTexts
    from sparingly.show.web.rater.page import page_questions

    data = small_set([["x", "y", "x"]])
    questions = [
        Question("item-00", tuple(Output((model,)) for model in pair), data="data")
        for pair in (("Ash", "Beech"), ("Beech", "Cedar"))
    ]

    def named(*parts: str) -> str:
        return "/".join(parts)

    page = Page("data", 1, "item-00")
    (question,) = page_questions(page, questions, QuestionTexts(data), "anna", named, named)
    sides = {output.text: output.models for output in question.outputs}
    # x is Ash in the first pair and Cedar in the second: the same words mean opposite signs.
    assert {text: set(models) for text, models in sides.items()} == {"x": {"Ash", "Cedar"}, "y": {"Beech"}}
    assert sides["y"] == ("Beech", "Beech")
