from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sparingly.run.campaign.release import marked_rows
from tests.show.web.visitor import SECRET, TestClient, Visitor, fields_of, ratings, served, small_set


def marked(
    question: dict[str, Any], *marks: list[dict[str, Any]], score: float | None = 50
) -> list[dict[str, Any]]:
    scores = {} if score is None else dict.fromkeys(question["aspects"], score)
    return [
        {"output": output["output"], "scores": scores, "marks": marks[min(at, len(marks) - 1)]}
        for at, output in enumerate(question["outputs"])
    ]


def test_marks_are_kept_beside_the_rating(tmp_path: Path) -> None:
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


def test_marks_are_there_although_the_server_ends_right_after_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, options={"form": "esa"}) as app:
        anna = Visitor(app, "anna")
        question = anna.question()

        def killed(*_: object) -> None:
            raise KilledError

        monkeypatch.setattr(app.state.rater_service.queue, "finish", killed)
        mark = {"start": 0, "end": 2, "severity": "major"}
        with pytest.raises(KilledError):
            anna.answer(question, 0, cards=marked(question, [mark], score=40))
        with anna.web.campaign.database.reading() as connection:
            rows = marked_rows(connection, anna.web.campaign.name, 99)
        assert [row["marks"] for row in rows] == [[mark]] * 3


class KilledError(Exception):
    """What stands for the end of the process."""


def test_an_order_of_the_outputs_becomes_scores(tmp_path: Path) -> None:
    outputs = small_set([["best", "same", "same"], ["one", "two", "three"]])
    with served(tmp_path, outputs, budget=2, size=2, scale=(0, 100), options={"form": "ranking"}) as app:
        anna = Visitor(app, "anna")
        for _ in range(2):
            question = anna.question()
            places = {"best": 7.0, "same": 3.0, "one": 0.0, "two": 1.0, "three": 1.0}
            given = [places[output["texts"][0][0]] for output in question["outputs"]]
            assert anna.answer(question, *given).status_code == 200
        found = {(row["item"], row["model"]): row["score"] for row in ratings(anna)}
        assert found == {
            ("item-00", "Ash"): 100, ("item-00", "Beech"): 25, ("item-00", "Cedar"): 25,
            ("item-01", "Ash"): 0, ("item-01", "Beech"): 75, ("item-01", "Cedar"): 75,
        }  # fmt: skip


def test_an_output_without_a_place_is_asked_for_unless_nobody_can_judge_it(tmp_path: Path) -> None:
    outputs = small_set([["one", "two", "three"]])
    with served(tmp_path, outputs, budget=1, size=1, options={"form": "ranking"}) as app:
        anna = Visitor(app, "anna")
        question = anna.question()
        cards = marked(question, [], score=None)
        cards[0]["scores"], cards[1]["scores"] = {"overall": 1.0}, {"overall": 2.0}
        refused = anna.answer(question, 0, cards=cards)
        assert (refused.status_code, refused.json()["detail"]) == (409, "Judge every output on the page.")
        cards[2]["skip"] = "broken"
        assert anna.answer(question, 0, cards=cards).status_code == 200
        assert sorted(row["score"] for row in ratings(anna)) == [0, 100]
        # Somebody else is asked about the one that is missing, and puts all of them in order.
        assert len(Visitor(app, "ben").question()["outputs"]) == 3
