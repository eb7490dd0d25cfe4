"""Two raters on some outputs, outputs that cannot be judged, and outputs with the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.campaign.answers import marks_at
from sparingly.run.campaign.rater_pages import PageBoard
from sparingly.run.forms.answer import Answer
from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import Visitor, action_of, fields_of, ratings, served, small_set, web_of


def judge_everything(visitor: Visitor, score: float = 50) -> int:
    """Answer until nothing is left, and return how many pages there were."""
    count = 0
    while (question := visitor.question())["page"] is not None:
        assert visitor.answer(question, score).status_code == 200
        count += 1
    return count


def test_two_raters_judge_a_part_of_the_outputs(tmp_path: Path) -> None:
    options = {"overlap": 0.1}
    with served(tmp_path, made_set(40), budget=30, size=30, options=options) as app:
        anna = Visitor(app, "anna")
        # Three outputs a page: seven pages have 21 outputs, the fewest that are 20 or more.
        assert judge_everything(anna) == 30
        assert web_of(app).board.overlap_counts == (0, 7)
        assert "judged" in anna.question()["why"]
        assert judge_everything(Visitor(app, "ben"), 60) == 7
        assert judge_everything(Visitor(app, "carl")) == 0
        assert web_of(app).board.overlap_counts == (7, 7)
        (agreement,) = web_of(app).campaign.findings().agreement
        assert agreement.common == 21
        status = web_of(app).campaign.status().sets[0]
        assert (status.asked, status.outstanding, status.answers) == (90, 0, 111)


def test_what_a_rater_cannot_judge_is_counted_and_goes_to_another(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=2, size=2) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        page = anna.page()
        fields = fields_of(page)
        first, *others = [name for name in fields if name.startswith("score:")]
        skip = f"skip:{first.split(':')[1]}"
        scores = {**fields, **dict.fromkeys(others, "40")}
        wrong = anna.client.post(action_of(page), data={**scores, skip: "lazy"})
        assert "The reasons are broken" in wrong.text
        assert ratings(anna) == []
        sent = {**scores, skip: "broken"}
        anna.client.post(action_of(page), data=sent)
        anna.client.post(action_of(page), data=sent)
        assert len(ratings(anna)) == 2
        status = campaign.status().sets[0]
        assert (status.asked, status.answers, status.outstanding, status.skipped) == (6, 2, 3, 1)
        # The rater goes on, no round waits for it, and another rater is asked about this output alone.
        assert anna.question()["page"] != action_of(page).rpartition("/")[2]
        assert judge_everything(anna) == 1
        assert anna.question()["why"] == "Others are working on what is left. Come back later."
        assert campaign.status().sets[0].outstanding == 0
        ben = Visitor(app, "ben")
        question = ben.question()
        (output,) = question["outputs"]
        notes = campaign.estimate(interval="none").notes
        assert "raters could not judge 1 output: no score counts for them" in notes
        assert campaign.verify().ok
        board = PageBoard(campaign.database, campaign.settings)
        board.refresh()
        assert board.answered_count == 1
        # After two raters who cannot judge it nobody else is asked.
        card = {"output": output["output"], "skip": "other"}
        assert ben.answer(question, 0, cards=[card]).status_code == 200
        assert judge_everything(Visitor(app, "carl")) == 0
        board.refresh()
        assert board.answered_count == 2
        assert campaign.status().sets[0].skipped == 1
        # An answer that is there already is changed, not taken back.
        previous = anna.client.get(action_of(page))
        assert "You have judged this item" in previous.text
        handle = fields_of(previous.text)
        skips = {f"skip:{name.split(':')[1]}": "other" for name in handle if name.startswith("score:")}
        refused = anna.client.post(action_of(page), data={**handle, **skips, "client": "another-one"})
        assert "change your answer instead" in refused.text


def test_a_page_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=2, size=2) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        question = anna.question()
        assert anna.answer(question, 50).status_code == 200
        # From a second tab: one output is judged again, another cannot be judged any more.
        first, second, third = (output["output"] for output in question["outputs"])
        scores = {"scores": dict.fromkeys(question["aspects"], 60)}
        cards = [{"output": first, "skip": "broken"}, *({"output": one, **scores} for one in (second, third))]
        refused = anna.answer(question, 0, cards=cards, client="second-tab")
        assert refused.json()["detail"] == "You have judged this output: change your answer instead."
        assert [row["score"] for row in campaign.ratings()] == [50, 50, 50]
        # The guidelines change after the page was checked, before it is written.
        answers = [{**row, "score": 70} for row in campaign.ratings()]
        sent = [
            Answer(row["rater"], row["item"], 70, row["model"], guidelines=0, client="late")
            for row in answers
        ]
        campaign.set_guidelines("# How good is it?")
        with pytest.raises(UsageError, match="The guidelines have changed"):
            campaign.record(sent, on_error="rollback")
        assert [row["score"] for row in campaign.ratings()] == [50, 50, 50]


def test_another_rater_judges_what_the_first_could_not(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=1, size=1) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        question = anna.question()
        skips = [{"output": output["output"], "skip": "knowledge"} for output in question["outputs"]]
        assert anna.answer(question, 0, cards=skips).status_code == 200
        assert campaign.status().sets[0].skipped == 3
        assert judge_everything(Visitor(app, "ben"), 80) == 1
        assert campaign.status().sets[0].skipped == 0
        assert len(ratings(anna)) == 3
        assert web_of(app).board.answered_count == 1


def test_a_page_of_which_nothing_can_be_judged_is_done(tmp_path: Path) -> None:
    with served(tmp_path, small_set([["one", "one", "two"]]), budget=1, size=1) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        cards = [{"output": output["output"], "skip": "knowledge"} for output in question["outputs"]]
        body = {"page": question["page"], "client": question["client"], "cards": cards}
        taken = anna.client.post("/api/answer", json=body, headers=anna.csrf)
        assert taken.json() == {"new": 0, "correction": 0, "same": 0}
        assert anna.question()["page"] is None
        # The two outputs with the same text are one question, and both are skipped.
        assert web_of(app).campaign.status().sets[0].skipped == 3


def test_outputs_with_the_same_text_are_one_question(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9", " cafe\u0301\n"
    with served(tmp_path, small_set([[composed, decomposed, "tea"]]), budget=1, size=1) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        assert len(question["outputs"]) == 2
        assert web_of(app).campaign.overview().asked == 2
        assert anna.answer(question, 10, 90).json()["new"] == 3
        assert web_of(app).campaign.overview().answered == 2
        scores = {row["model"]: row["score"] for row in ratings(anna)}
        assert scores[MODELS[0]] == scores[MODELS[1]] != scores[MODELS[2]]


def test_marks_count_letters_so_that_texts_must_be_the_same(tmp_path: Path) -> None:
    data = small_set([["one two", " one two", "one two"]])
    with served(tmp_path, data, budget=1, size=1, options={"form": "esa"}) as app:
        assert len(Visitor(app, "anna").question()["outputs"]) == 2


def test_two_outputs_with_the_same_text_are_never_compared(tmp_path: Path) -> None:
    data = small_set([["one", "one ", "two"], ["e\u0301", "\u00e9", "\u00e9"]])
    with served(tmp_path, data, strategy="pairs", budget=2, size=None) as app:
        campaign = web_of(app).campaign
        assert {(one.item, one.model, one.other) for one in campaign.questions()} == {
            ("item-00", MODELS[0], MODELS[2]), ("item-00", MODELS[1], MODELS[2]),
        }  # fmt: skip


def test_pass_or_fail_is_the_form_of_a_scale_from_0_to_1(tmp_path: Path) -> None:
    with served(tmp_path, budget=1, size=1, scale=(0, 1)) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        assert "Does each output pass?</h1>" in page
        assert page.count("<span>Pass</span>") == 3
        assert "data-advances" in page
        assert anna.answer(anna.question(), 1, 0, 1).status_code == 200


def test_words_stand_beside_the_stars(tmp_path: Path) -> None:
    with served(
        tmp_path, budget=1, size=1, scale=(1, 3), options={"form": "stars", "one_by_one": True}
    ) as app:
        web_of(app).campaign.set_guidelines("# Rate it\n\n## Scale\n- 1: bad\n- 2: fair\n- 3: good\n")
        anna = Visitor(app, "anna")
        anna.client.post("/rate/begin", data={"csrf": anna.csrf["X-CSRF-Token"], "guidelines": "1"})
        page = anna.page()
        assert page.count("<span>fair</span>") == 3
        assert "data-one" in page


def test_every_marked_error_has_a_category_where_there_are_some(tmp_path: Path) -> None:
    with served(tmp_path, small_set([["one two"] * 3]), budget=1, size=1, options={"form": "mqm"}) as app:
        campaign = web_of(app).campaign
        campaign.set_guidelines("# Mark it\n\n## Categories\n- Accuracy\n  - Omission\n- Style\n")
        anna = Visitor(app, "anna")
        anna.client.post("/rate/begin", data={"csrf": anna.csrf["X-CSRF-Token"], "guidelines": "1"})
        assert "Accuracy / Omission" in anna.page()
        question = anna.question()
        mark = {"start": 0, "end": 3, "severity": "major"}
        cards = [{"output": question["outputs"][0]["output"], "marks": [mark]}]
        for wrong in ("", "Accuracy"):
            cards[0]["marks"] = [{**mark, "category": wrong}]
            refused = anna.answer(question, 0, cards=cards)
            assert refused.json()["detail"] == "Give every marked error a category."
        cards[0]["marks"] = [{**mark, "category": "Accuracy / Omission"}]
        assert anna.answer(question, 0, cards=cards).status_code == 200
        assert anna.answer(question, 0, cards=cards).json()["same"] == 3
        with campaign.database.reading() as connection:
            marks = marks_at(connection, "campaign", campaign.last_seq())
        assert next(iter(marks.values())) == [{**mark, "category": "Accuracy / Omission"}]
        assert {row["score"] for row in ratings(anna)} == {95.0}


def test_an_output_of_ten_megabytes_is_cut_and_judged(tmp_path: Path) -> None:
    texts = [["word " * 2_000_000, "short", "other"]]
    with served(tmp_path, small_set(texts), budget=1, size=1) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        assert len(page) < 200_000
        assert "9,900,000 more letters are not shown." in page
        assert anna.answer(anna.question(), 50).json()["new"] == 3


def test_two_tabs_of_a_rater_are_one_answer(tmp_path: Path) -> None:
    with served(tmp_path, made_set(6), budget=1, size=1) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        first, second = anna.question(), anna.question()
        assert first["client"] != second["client"]
        assert anna.answer(first, 20).json() == {"new": 3, "correction": 0, "same": 0}
        assert anna.answer(second, 60).json() == {"new": 0, "correction": 3, "same": 0}
        assert campaign.data().ratings.score.tolist() == [60.0] * 3
        assert len(campaign.ratings()) == 6
