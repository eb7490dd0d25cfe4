from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.campaign.answers import placement_rows
from sparingly.run.campaign.rater_pages import Leases
from sparingly.run.raters.assignment import assign
from sparingly.show.web.app import create_app
from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import SECRET, Visitor, action_of, fields_of, ratings, served, small_set, web_of


def test_a_rater_judges_a_whole_round(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        for done in range(4):
            assert anna.client.get("/api/progress").json()["judged"] == done
            question = anna.question()
            assert anna.answer(question, 10, 20, 30, seconds=6.0).json() == {
                "new": 3,
                "correction": 0,
                "same": 0,
            }
        nothing = anna.question()
        assert nothing["page"] is None
        assert nothing["why"] == "Everything is judged. Thank you."
        assert "Everything is judged" in anna.page()
        rows = ratings(anna)
        assert len(rows) == 12
        assert {row["seconds"] for row in rows} == {2.0}
        assert web_of(app).campaign.status().sets[0].outstanding == 0


def test_what_is_sent_twice_is_recorded_once(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        anna.answer(question, 40)
        assert anna.answer(question, 40).json() == {"new": 0, "correction": 0, "same": 3}
        assert anna.answer(question, 60).json() == {"new": 0, "correction": 3, "same": 0}
        assert len(ratings(anna)) == 6


def test_a_form_of_the_browser_does_the_same(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        fields = fields_of(page)
        scores = [name for name in fields if name.startswith("score:")]
        assert len(scores) == 3
        comment = f"comment:{scores[0].split(':')[1]}"
        sent = {**fields, **dict.fromkeys(scores, "72,5"), comment: "odd\0 word", "seconds": "3"}
        after = anna.client.post(action_of(page), data=sent)
        assert after.status_code == 200
        assert "1 of 4 items judged" in after.text
        assert [row["score"] for row in ratings(anna)] == [72.5] * 3
        assert sorted(str(row["comment"]) for row in ratings(anna)) == ["None", "None", "odd word"]
        anna.client.post(action_of(page), data=sent)
        assert len(ratings(anna)) == 3


@pytest.mark.parametrize(
    ("value", "problem"),
    [("", "Judge every output"), ("much", "not a number"), ("101", "outside the scale"), ("nan", "finite")],
)
def test_what_is_wrong_is_said_and_nothing_is_lost(tmp_path: Path, value: str, problem: str) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        fields = fields_of(page)
        scores = [name for name in fields if name.startswith("score:")]
        sent = {**fields, **dict.fromkeys(scores, "50"), scores[0]: value}
        after = anna.client.post(action_of(page), data=sent)
        assert after.status_code == 422
        assert problem in after.text
        assert ratings(anna) == []
        if value not in ("much", "nan"):
            assert fields_of(after.text)[scores[1]] == "50"


def test_no_page_names_a_model_or_a_metric(tmp_path: Path) -> None:
    outputs = [[f"{word} {place}" for word in ("one", "two", "three")] for place in range(12)]
    with served(tmp_path, small_set(outputs)) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        for visitor in (anna, ben):
            seen = visitor.page() + visitor.client.get("/api/question").text
            for name in (*MODELS, "chrF"):
                assert name not in seen
        anna.answer(question, 13.57)
        assert "13.57" not in ben.page() + ben.client.get("/api/question").text
        assert "13.57" in anna.page(f"/rate/{question['page']}")
        handles = {output["output"] for output in question["outputs"]}
        again = Visitor(app)
        again.enter(anna.web.access.invite("rater", "anna"))
        assert handles.isdisjoint(re.findall("[0-9a-f]{32}", again.page(f"/rate/{question['page']}")))


def test_two_raters_are_not_given_the_same(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        seen: list[str] = []
        for visitor in (anna, ben, anna, ben):
            question = visitor.question()
            assert question["page"] == visitor.question()["page"]
            seen.append(question["page"])
            visitor.answer(question, 5)
        assert len(set(seen)) == 4
        assert len(ratings(anna)) == 12


def test_what_somebody_has_is_not_given_to_others(tmp_path: Path) -> None:
    with served(tmp_path, budget=1, size=1) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        assert ben.question()["why"] == "Others are working on what is left. Come back later."
        assert anna.answer(question, 3).status_code == 200


def test_an_answer_counts_although_somebody_else_was_quicker(tmp_path: Path) -> None:
    with served(tmp_path, budget=1, size=1) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        desk = app.state.rater_service.queue
        page = next(iter(desk.board.pages))
        with anna.web.campaign.database.writing() as connection:
            desk.leases.give_back(connection, [desk.board.unit_of(page)])
        ben.answer(ben.question(), 9)
        assert anna.answer(question, 3).json()["new"] == 3
        assert sorted(row["rater"] for row in ratings(anna)) == ["anna"] * 3 + ["ben"] * 3


def test_nobody_answers_what_they_were_not_shown(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        assert ben.answer(question, 3).status_code == 409
        assert ben.client.get(f"/rate/{question['page']}").status_code == 404
        assert anna.client.get(f"/rate/{question['page']}").status_code == 200
        assert ratings(anna) == []


def test_documents_go_to_one_rater_in_order_with_their_neighbours(tmp_path: Path) -> None:
    items = ["b-2", "a-1", "b-1", "a-2", "b-3", "b-4", "b-5"]
    documents = [item[0] for item in items]
    positions = [int(item[2]) for item in items]
    outputs = [[f"{item} {word}" for word in "xyz"] for item in items]
    data = small_set(
        outputs, items=items, columns={"document": documents, "position": positions},
        sources=[f"source {item}." for item in items],
    )  # fmt: skip
    with served(tmp_path, data, budget=7, size=7) as app:
        raters = {"anna": Visitor(app, "anna"), "ben": Visitor(app, "ben")}
        seen: dict[str, list[str]] = {name: [] for name in raters}
        for _ in range(7):
            for name, visitor in raters.items():
                question = visitor.question()
                if question["page"] is None:
                    continue
                source = question["source"][0]
                seen[name].append(source[7:10])
                if source == "source b-4.":
                    assert question["before"] == ["source b-1.", "source b-2.", "source b-3."]
                    assert question["after"] == ["source b-5."]
                visitor.answer(question, 4)
        assert sorted(seen.values()) == [["a-1", "a-2"], ["b-1", "b-2", "b-3", "b-4", "b-5"]]


@pytest.mark.parametrize("shown", [True, False])
def test_the_reference_is_shown_on_request(tmp_path: Path, shown: bool) -> None:
    data = small_set([["one", "two", "three"]], references={"human": ["what a <person> wrote"]})
    with served(tmp_path, data, budget=1, size=1, options={"reference": shown}) as app:
        page = Visitor(app, "anna").page()
    assert ("what a &lt;person&gt; wrote" in page) is shown
    assert ("Reference" in page) is shown


def test_equal_outputs_are_asked_once_and_credited_to_all(tmp_path: Path) -> None:
    with served(tmp_path, small_set([["same", "other", "same"]]), budget=1, size=1) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        assert len(question["outputs"]) == 2
        scores = [70 if output["texts"] == [["same"]] else 20 for output in question["outputs"]]
        assert anna.answer(question, *scores, seconds=9.0).json()["new"] == 3
        found = {row["model"]: (row["score"], row["seconds"]) for row in ratings(anna)}
        assert found == {"Ash": (70, 3.0), "Beech": (20, 3.0), "Cedar": (70, 3.0)}


def test_pairs_are_turned_back(tmp_path: Path) -> None:
    outputs = [[f"{model} {place}" for model in MODELS] for place in range(12)]
    with served(tmp_path, small_set(outputs), strategy="d_optimal", budget=12, size=None) as app:
        anna = Visitor(app, "anna")
        expected, sides, swapped = {}, set(), []
        while (question := anna.question())["page"] is not None:
            assert question["form"] == "pair"
            scores = []
            for output in question["outputs"]:
                first, second = (side[0].split()[0] for side in output["texts"])
                score = 0 if {first, second} == {"Ash", "Cedar"} else 1 if first < second else -1
                scores.append(score)
                sides.add(first < second)
                swapped.append(first > second)
                expected[question["source"][0][10:], *sorted((first, second))] = abs(score)
            assert anna.answer(question, *scores).status_code == 200
            last = question["page"]
        assert sides == {True, False}
        with anna.web.campaign.database.reading() as connection:
            turned = {
                row["seq"]: row["turned"] for row in placement_rows(connection, anna.web.campaign.name, 99)
            }
        assert [turned[row["seq"]] for row in ratings(anna)] == swapped
        found = {(row["item"], row["first"], row["second"]): row["score"] for row in ratings(anna)}
        assert found == expected
        assert "No difference" in anna.page(f"/rate/{last}")


def test_going_back_and_changing_an_answer(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        first = anna.question()
        anna.answer(first, 11)
        page = anna.page()
        assert f"/rate/{first['page']}" in page
        back = anna.page(f"/rate/{first['page']}")
        assert "You have judged this item" in back
        fields = fields_of(back)
        scores = {name: value for name, value in fields.items() if name.startswith("score:")}
        assert set(scores.values()) == {"11"}
        anna.client.post(action_of(back), data={**fields, **dict.fromkeys(scores, "22")})
        rows = ratings(anna)
        assert [row["score"] for row in rows] == [11] * 3 + [22] * 3
        assert all(row["corrects"] for row in rows[3:])
        assert anna.question()["page"] != first["page"]


def test_a_draft_waits_for_the_next_session(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        fields = fields_of(page)
        score = next(name for name in fields if name.startswith("score:"))
        comment = f"comment:{score.split(':')[1]}"
        typed = {"csrf": fields["csrf"], score: "33", comment: "half a tho", "seconds": "7"}
        assert anna.client.post(f"{action_of(page)}/draft", data=typed).status_code == 204
        later = Visitor(app)
        later.enter(anna.web.access.invite("rater", "anna"))
        seen = later.page()
        assert "half a tho" in seen
        assert 'data-seconds="7.0"' in seen
        again = fields_of(seen)
        assert [value for name, value in again.items() if name.startswith("score:")].count("33") == 1
        sent = {name: "44" if name.startswith("score:") else value for name, value in again.items()}
        later.client.post(action_of(seen), data=sent)
        assert "half a tho" not in later.page(action_of(seen))


def test_who_is_still_typing_keeps_the_item(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with served(tmp_path, budget=1, size=1) as app:
        desk = app.state.rater_service.queue
        desk.leases = Leases(desk.web.campaign.name, lambda: now[0], seconds=100)
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        page = anna.page()
        for _ in range(5):
            now[0] += timedelta(seconds=60)
            anna.client.post(f"{action_of(page)}/draft", data=fields_of(page))
        assert ben.question()["page"] is None
        now[0] += timedelta(seconds=101)
        assert ben.question()["page"] is not None


def test_paused_and_closed_campaigns_ask_nothing(tmp_path: Path) -> None:
    from sparingly.run.campaign.journal import Journal, utc_now

    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        for kind, words in (("paused", "paused"), ("resumed", None)):
            with anna.web.campaign.database.writing() as connection:
                journal = Journal(connection, anna.web.campaign.name, utc_now)
                journal.event(kind)
                journal.finish()
            assert (anna.question()["page"] is None) == (words is not None)
        assert anna.answer(question, 4).status_code == 200
        anna.web.campaign.close()
        assert anna.question()["why"] == "The campaign has ended. Thank you."
        assert anna.answer(question, 5).status_code == 409


def test_an_assignment_gives_everybody_their_own_list(tmp_path: Path) -> None:
    data = made_set()
    with served(tmp_path, data) as app:
        (chosen,) = web_of(app).campaign.rounds()
    handed = assign(chosen, ["anna", "ben"], data=data, overlap=1.0)
    (tmp_path / "again").mkdir()
    with served(tmp_path / "again", data, options={"assignment": handed}) as app:
        anna, ben, carl = (Visitor(app, name) for name in ("anna", "ben", "carl"))
        for visitor, name in ((anna, "anna"), (ben, "ben")):
            for task in handed.of(name):
                question = visitor.question()
                assert question["source"] == [f"source of {task.item}"]
                visitor.answer(question, 8)
            assert visitor.question()["page"] is None
        assert anna.question()["why"] == "Everything that was assigned to you is judged. Thank you."
        assert len(ratings(anna)) == 24
        assert carl.question()["why"].startswith("Nothing is assigned to you")


def test_a_controlled_assignment_is_refused(tmp_path: Path) -> None:
    data = made_set()
    with served(tmp_path, data) as app:
        (chosen,) = web_of(app).campaign.rounds()
    handed = assign(chosen, ["anna", "ben"], data=data)
    controlled = replace(handed, tasks=(replace(handed.tasks[0], control="repeat"), *handed.tasks[1:]))
    with pytest.raises(UsageError, match="control items without known answers"):
        create_app(tmp_path / "campaign.db", secret=SECRET, assignment=controlled)


def test_several_data_sets_with_the_same_items_are_kept_apart(tmp_path: Path) -> None:
    sets = {"en-de": made_set(3), "en-zh": made_set(3, seed=9)}
    with served(tmp_path, sets, budget=6, size=6) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        for turn in range(6):
            visitor, score = (anna, 10) if turn % 2 else (ben, 20)
            assert visitor.answer(visitor.question(), score).json()["new"] == 3
        assert anna.question()["page"] is None
        rows = ratings(anna)
        assert len({(row["data"], row["item"], row["model"]) for row in rows}) == len(rows) == 18
        assert [one.outstanding for one in web_of(app).campaign.status().sets] == [0, 0]
