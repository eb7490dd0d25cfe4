from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.data.evalset import EvalSet
from sparingly.run.raters.assign import assign
from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import SECRET, TestClient, Visitor, action_of, fields_of, served, web_of


def small_set(outputs: list[list[str]], **parts: Any) -> EvalSet:
    """Items × three models with these outputs."""
    items = parts.pop("items", [f"item-{place:02d}" for place in range(len(outputs))])
    metric = {"chrF": np.arange(len(outputs) * 3, dtype=float).reshape(-1, 3)}
    sources = parts.pop("sources", [f"source of {item}" for item in items])
    return EvalSet.from_arrays(items, MODELS, metrics=metric, outputs=outputs, sources=sources, **parts)


def ratings(visitor: Visitor) -> list[dict[str, Any]]:
    return visitor.web.campaign.ratings()


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
        assert nothing["why"] == "Everything that is asked for is judged. Thank you."
        assert "Everything that is asked for is judged" in anna.page()
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
        desk = app.state.counter.desk
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
        expected, sides = {}, set()
        while (question := anna.question())["page"] is not None:
            assert question["form"] == "pair"
            scores = []
            for output in question["outputs"]:
                first, second = (side[0].split()[0] for side in output["texts"])
                score = 0 if {first, second} == {"Ash", "Cedar"} else 1 if first < second else -1
                scores.append(score)
                sides.add(first < second)
                expected[question["source"][0][10:], *sorted((first, second))] = abs(score)
            assert anna.answer(question, *scores).status_code == 200
            last = question["page"]
        assert sides == {True, False}
        found = {(row["item"], row["first"], row["second"]): row["score"] for row in ratings(anna)}
        assert found == expected
        assert "No difference" in anna.page(f"/rate/{last}")


def test_equal_pairs_are_one_card_either_way_round(tmp_path: Path) -> None:
    from sparingly.run.campaign.board import Page
    from sparingly.run.campaign.todo import Cell
    from sparingly.show.web.rater.cards import cards_of

    data = small_set([["x", "y", "x"]])
    cells = [Cell("data", 1, 0, "item-00", "Ash", "Beech"), Cell("data", 1, 1, "item-00", "Beech", "Cedar")]
    (card,) = cards_of(Page("data", 1, "item-00"), cells, data, "anna", 3, lambda *parts: "/".join(parts))
    signs = {(cell.model, cell.other): sign for cell, sign in card.cells}
    # x is Ash in the first pair and Cedar in the second: the same words mean opposite signs.
    assert signs["Ash", "Beech"] == -signs["Beech", "Cedar"]
    assert card.texts == (("x", "y") if signs["Ash", "Beech"] == 1 else ("y", "x"))


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
        assert len(ratings(anna)) == 24
        assert carl.question()["page"] is None


def marked(
    question: dict[str, Any], *marks: list[dict[str, Any]], score: float | None = 50
) -> list[dict[str, Any]]:
    scores = {} if score is None else dict.fromkeys(question["aspects"], score)
    return [
        {"output": output["output"], "scores": scores, "marks": marks[min(at, len(marks) - 1)]}
        for at, output in enumerate(question["outputs"])
    ]


def test_marks_are_kept_beside_the_rating(tmp_path: Path) -> None:
    from sparingly.run.campaign.marks import marked_rows

    text = "a👍b \u202e你好"
    with served(
        tmp_path, small_set([[text, "second", "third"]]), budget=1, size=1, options={"form": "esa"}
    ) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        at = next(
            at for at, output in enumerate(question["outputs"]) if output["texts"][0][0].startswith("a")
        )
        marks: list[dict[str, Any]] = [
            {"start": 5, "end": 7, "severity": "major"},
            {"start": 1, "end": 2, "severity": "minor"},
        ]
        cards = marked(question, [])
        cards[at]["marks"] = marks
        for _ in range(2):
            assert anna.answer(question, 0, cards=cards).status_code == 200
        with anna.web.campaign.database.reading() as connection:
            rows = marked_rows(connection, anna.web.campaign.name, 99)
        assert len(rows) == 3
        found = {row["model"]: row["marks"] for row in rows}
        assert found == {"Ash": sorted(marks, key=lambda mark: mark["start"]), "Beech": [], "Cedar": []}
        assert text[5:7] == "你好"
        back = anna.page(f"/rate/{question['page']}")
        assert json.loads(fields_of(back)[f"marks:{question['outputs'][at]['output']}"]) == found["Ash"]


@pytest.mark.parametrize(
    ("scale", "expected"), [((0, 100), [89, 75, 0]), (None, [-11, -25, -125]), ((-30, 0), [-11, -25, -30])]
)
def test_errors_make_the_score(tmp_path: Path, scale: tuple[int, int] | None, expected: list[float]) -> None:
    def errors(*severities: str) -> list[dict[str, Any]]:
        return [{"start": at, "end": at + 1, "severity": one} for at, one in enumerate(severities)]

    outputs = small_set([["first one", "second one", "third one"]])
    with served(tmp_path, outputs, budget=1, size=1, scale=scale, options={"form": "mqm"}) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        by_text = {
            "first one": errors("minor", "major", "major"),
            "second one": errors("critical"),
            "third one": errors(*["critical"] * 5),
        }
        marks = [by_text[output["texts"][0][0]] for output in question["outputs"]]
        assert anna.answer(question, 0, cards=marked(question, *marks, score=None)).status_code == 200
        assert [row["score"] for row in sorted(ratings(anna), key=lambda row: row["model"])] == expected


@pytest.mark.parametrize(
    "mark",
    [
        {"start": 0, "end": 0, "severity": "minor"},
        {"start": -1, "end": 2, "severity": "minor"},
        {"start": 0, "end": 999, "severity": "minor"},
        {"start": 0, "end": 1, "severity": "huge"},
    ],
)
def test_marks_lie_within_the_output(tmp_path: Path, mark: dict[str, Any]) -> None:
    with served(tmp_path, options={"form": "esa"}) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        assert anna.answer(question, 0, cards=marked(question, [mark])).status_code == 409
        assert ratings(anna) == []


def test_stars_stand_for_scores(tmp_path: Path) -> None:
    with served(tmp_path, scale=(1, 5), options={"form": "stars"}) as app:
        assert re.findall(r'type="radio"[^>]*value="(\d+)"', Visitor(app, "anna").page())[:5] == list("12345")
    (tmp_path / "wide").mkdir()
    with served(tmp_path / "wide", options={"form": "stars"}) as app:
        found = re.findall(r'type="radio"[^>]*value="(\d+)"', Visitor(app, "anna").page())
        assert found[:5] == ["0", "25", "50", "75", "100"]


def test_several_aspects_are_asked_together(tmp_path: Path) -> None:
    with served(tmp_path, aspects=["fluency", "adequacy"], aspect="mean:of=[fluency,adequacy]") as app:
        anna = Visitor(app, "anna")
        assert anna.answer(anna.question(), 60, seconds=12.0).json()["new"] == 6
        assert {(row["aspect"], row["seconds"]) for row in ratings(anna)} == {
            ("fluency", 2.0),
            ("adequacy", 2.0),
        }


@pytest.mark.parametrize("seconds", [1e9, -5.0])
def test_time_is_bounded(tmp_path: Path, seconds: float) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        anna.answer(anna.question(), 60, seconds=seconds)
        assert {row["seconds"] for row in ratings(anna)} == {1200.0 if seconds > 0 else 0.0}


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e\x00\"'>{{7*7}}"


@pytest.mark.parametrize(
    ("form", "texts"), [("score", "plain"), ("stars", "markdown"), ("esa", "plain"), ("mqm", "markdown")]
)
def test_hostile_texts_are_shown_and_do_nothing(tmp_path: Path, form: str, texts: str) -> None:
    hostile = HOSTILE.replace("\x00", "")
    data = small_set(
        [[f"{hostile} {place}", "# " + hostile, "x" * 1_000_000] for place in range(2)],
        sources=[hostile, json.dumps([{"role": hostile, "content": hostile}])],
    )
    with served(tmp_path, data, budget=2, size=2, options={"form": form, "texts": texts}) as app:
        anna = Visitor(app, '<b>"anna"</b>')
        for _ in range(2):
            page = anna.page()
            body = page.split("<body", 1)[1]
            for bad in ("<script>", "<img", "<b>", "\x1b", "\u202e"):
                assert bad not in body
            assert "{{7*7}}" in body
            assert "900,000 more letters are not shown" in body
            assert "␛[31m⇄" in body
            question = anna.question()
            cards = marked(question, [])
            assert anna.answer(question, 50, cards=cards).status_code == 200


def test_programs_find_the_schema(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        schema = TestClient(app).get("/openapi.json").json()
        assert {"/api/question", "/api/answer", "/api/progress"} <= set(schema["paths"])
        assert not any(path.startswith("/r") for path in schema["paths"])
        assert SECRET not in json.dumps(schema)
