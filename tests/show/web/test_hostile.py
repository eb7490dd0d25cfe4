"""What is sent to harm: nothing of it is parsed for strangers, takes long, or comes back."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from sparingly.run.raters.assignment import assign
from sparingly.show.web.guard import RequestLimits
from tests.run.campaign.made import made_set
from tests.show.web.visitor import Visitor, action_of, fields_of, ratings, served, web_of

FORM = "application/x-www-form-urlencoded"
# What the old code took minutes for: nine hundred thousand letters through a quadratic codec.
PUNYCODE = b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n' + b"a" * 900_000 + b"\r\n--x--\r\n"


def cpu_of(visitor: Visitor, path: str, body: bytes, kind: str) -> tuple[int, float]:
    """The status of a request, and the processor time that it took."""
    begun = time.process_time()
    status = visitor.client.post(path, content=body, headers={"content-type": kind}).status_code
    return status, time.process_time() - begun


@pytest.mark.parametrize("name", [None, "anna"])
def test_a_body_that_takes_long_to_decode_is_not_decoded(tmp_path: Path, name: str | None) -> None:
    with served(tmp_path) as app:
        visitor = Visitor(app, name)
        for path in ("/leave", "/rate/x", "/api/answer", "/organiser/pause"):
            status, took = cpu_of(
                visitor, path, PUNYCODE, "multipart/form-data; boundary=x; charset=punycode"
            )
            refused = 415 if name is not None and path != "/organiser/pause" else 401
            assert (status, took < 2.0) == (refused, True)


def test_nothing_of_a_body_is_read_before_the_sender_is_known(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, stranger = Visitor(app, "anna"), Visitor(app)
        asked = counted(app)
        for path, kind in (("/organiser/pause", FORM), ("/api/answer", "application/json"), ("/leave", FORM)):
            answer = stranger.client.post(path, content=b"csrf=x", headers={"content-type": kind})
            assert answer.status_code == 401
        anna.client.post("/leave", content=b"csrf=x", headers={"content-type": FORM})
        assert asked == {"stranger": 0, "anna": 1}
        web_of(app).access.retire("anna")
        anna.client.post("/leave", content=b"csrf=x", headers={"content-type": FORM})
        assert asked == {"stranger": 0, "anna": 1}


def counted(app: Any) -> dict[str, int]:
    """Count how often bodies are asked for, by whether the sender has a cookie."""
    asked = {"stranger": 0, "anna": 0}
    inner = app.build_middleware_stack()

    async def stack(scope: Any, receive: Any, send: Any) -> None:
        whose = "anna" if any(name == b"cookie" for name, _ in scope.get("headers", ())) else "stranger"

        async def received() -> Any:
            message = await receive()
            asked[whose] += scope["method"] == "POST" and message["type"] == "http.request"
            return message

        await inner(scope, received, send)

    app.middleware_stack = stack
    return asked


KINDS = (
    f"{FORM}; charset=utf-16",
    f"{FORM}; charset=utf-7",
    f'{FORM};x=y; charset="punycode"',
    "multipart/form-data; boundary=x",
    "application/json",
    "text/plain",
)


def test_forms_are_forms_in_utf8(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page, csrf = anna.page(), anna.csrf
        for kind in KINDS:
            for path in (action_of(page), f"{action_of(page)}/draft", "/leave"):
                answer = anna.client.post(path, content=b"csrf=x", headers={**csrf, "content-type": kind})
                assert answer.status_code == 415
                assert answer.text == f"Send this as {FORM}, in UTF-8."
        good = {**csrf, "content-type": f"{FORM}; charset=UTF-8"}
        draft = f"{action_of(page)}/draft"
        assert anna.client.post(draft, content=b"seconds=3", headers=good).status_code == 204


@pytest.mark.parametrize("value", ["%ff%fe", "%ed%a0%80", "\xff"])
def test_letters_that_are_no_utf8_are_refused_and_the_page_stays_good(tmp_path: Path, value: str) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        comment = next(name for name in fields_of(page) if name.startswith("score:")).split(":")[1]
        headers = {**anna.csrf, "content-type": FORM}
        for path in (action_of(page), f"{action_of(page)}/draft"):
            body = f"comment:{comment}={value}".encode("latin-1")
            answer = anna.client.post(path, content=body, headers=headers)
            assert answer.status_code == 422
            assert "its text is not UTF-8" in answer.text
        assert anna.client.get("/rate").status_code == 200


@pytest.mark.parametrize(
    "content",
    [
        '{"cards": {"Ash\\u001f": {"output": "x", "comment": "\\ud800"}}, "seconds": 3}',
        '{"cards": {"Ash\\u001f": {"output": "x", "marks": ' + "[" * 600 + "]" * 600 + "}}}",
        '{"cards": {"Ash\\u001f": {"output": "x", "scores": {"overall": "much"}}}}',
        "no JSON",
    ],
)
def test_a_draft_that_an_earlier_version_took_does_not_close_the_page(tmp_path: Path, content: str) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        anna.page()
        page = next(
            page
            for page in app.state.rater_service.queue.board.pages
            if app.state.rater_service.queue.is_mine("anna", page)
        )
        anna.web.drafts.save("anna", page.data, page.item, content)
        seen = anna.client.get("/rate")
        assert seen.status_code == 200
        assert "An earlier draft of this item could not be read." in seen.text


def test_many_empty_cards_get_one_sentence(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        question, headers = anna.question(), {**anna.csrf, "content-type": "application/json"}
        for cards in ("{}," * 599_999 + "{}", "[]," * 599_999 + "[]"):
            body = f'{{"page": "{question["page"]}", "client": "12345678", "cards": [{cards}]}}'
            begun = time.process_time()
            answer = anna.client.post("/api/answer", content=body, headers=headers)
            assert time.process_time() - begun < 3.0
            assert answer.status_code == 422
            assert answer.json()["detail"].startswith("This cannot be read at cards.0")
            assert len(answer.content) < 400
        assert ratings(anna) == []


BOUNDS = {
    "page": ("page", "x" * 100_000),
    "client": ("client", "x" * 100_000),
    "cards": ("cards", [{"output": "x"}] * 1001),
    "output": ("cards", [{"output": "x" * 65}]),
    "scores": ("cards", [{"output": "x", "scores": {str(at): 1 for at in range(101)}}]),
    "aspect": ("cards", [{"output": "x", "scores": {"x" * 501: 1}}]),
    "marks": ("cards", [{"output": "x", "marks": [{"start": 0, "end": 1, "severity": "minor"}] * 1001}]),
    "start": ("cards", [{"output": "x", "marks": [{"start": 10**30, "end": 1, "severity": "minor"}]}]),
    "severity": ("cards", [{"output": "x", "marks": [{"start": 0, "end": 1, "severity": "x" * 41}]}]),
    "comment": ("cards", [{"output": "x", "comment": "x" * 20_001}]),
}


def test_everything_that_is_sent_is_bounded(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        csrf = anna.csrf
        for bound, (name, value) in BOUNDS.items():
            body = {"page": "x", "client": "12345678", "cards": [], name: value}
            answer = anna.client.post("/api/answer", json=body, headers=csrf)
            assert (bound, answer.status_code, list(answer.json())) == (bound, 422, ["detail"])
            assert len(answer.json()["detail"]) < 300


@pytest.mark.parametrize("depth", [600, 100_000])
def test_deep_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    with served(tmp_path, options={"form": "esa"}) as app:
        anna = Visitor(app, "anna")
        headers = {**anna.csrf, "content-type": "application/json"}
        assert anna.client.post("/api/answer", content=nested, headers=headers).status_code == 422
        page = anna.page()
        marks = next(name for name in fields_of(page) if name.startswith("marks:"))
        deep = f'[{{"start": {nested}, "end": 1, "severity": "minor"}}]'
        for path in (action_of(page), f"{action_of(page)}/draft"):
            answer = anna.client.post(path, data={**fields_of(page), marks: deep})
            assert answer.status_code == 422
            assert "The marked errors cannot be read" in answer.text
        assert anna.client.get("/rate").status_code == 200


def test_many_fields_and_long_numbers_are_refused(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        headers = {**anna.csrf, "content-type": FORM}
        answer = anna.client.post(action_of(page), content=b"a&" * 500_000, headers=headers)
        assert answer.status_code == 422
        assert "more than 2000 fields" in answer.text
        score = next(name for name in fields_of(page) if name.startswith("score:"))
        for value in ("1" * 100_000, "1e5" + "0" * 100):
            answer = anna.client.post(action_of(page), data={**fields_of(page), score: value})
            assert answer.status_code == 422
            assert len(answer.content) < 20_000


def test_large_bodies_count_as_many_requests_and_new_sessions_as_none(tmp_path: Path) -> None:
    limits = RequestLimits(each_second=0.001, at_once=60, request_bytes=10_000)
    with served(tmp_path, options={"limits": limits}) as app:
        anna, ben = Visitor(app), Visitor(app, "ben")
        token = anna.web.access.invite("rater", "anna")
        anna.enter(token)
        headers = {**anna.csrf, "content-type": "application/json"}
        statuses = [
            anna.client.post("/api/answer", content=b" " * 200_000, headers=headers).status_code
            for _ in range(4)
        ]
        assert statuses == [422, 422, 429, 429]
        # Who comes in again by the same link has the same bucket.
        for _ in range(60):
            anna.client.cookies.clear()
            anna.client.get(f"/r/{token}")
        assert anna.client.get("/rate").status_code == 429
        assert ben.client.get("/rate").status_code == 200


def endless(visitor: Visitor, part: bytes, most: int) -> tuple[dict[str, Any], Any, Any, dict[str, Any]]:
    """A request of a rater whose body arrives in parts and then stops without an end, and what came of it."""
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/leave",
        "query_string": b"",
        "headers": [
            (b"cookie", cookies.encode()),
            (b"content-type", FORM.encode()),
            (b"transfer-encoding", b"chunked"),
        ],
        "client": ("127.0.0.1", 1),
    }
    seen: dict[str, Any] = {"parts": 0, "status": None}

    async def receive() -> dict[str, Any]:
        if seen["parts"] == most:
            await asyncio.Event().wait()
        seen["parts"] += 1
        return {"type": "http.request", "body": part, "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        seen["status"] = message.get("status", seen["status"])

    return scope, receive, send, seen


def test_a_body_is_charged_while_it_arrives(tmp_path: Path) -> None:
    limits = RequestLimits(each_second=0.001, at_once=30, request_bytes=10_000)
    with served(tmp_path, options={"limits": limits}) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        scope, receive, send, seen = endless(anna, b"x" * 20_000, 90)
        asyncio.run(asyncio.wait_for(app(scope, receive, send), 10))
        assert seen["status"] == 429
        assert seen["parts"] <= 15
        assert ben.client.get("/rate").status_code == 200


def test_few_bodies_of_a_link_are_unfinished(tmp_path: Path) -> None:
    async def flood(app: Any, visitors: list[Visitor]) -> list[list[int | None]]:
        requests = [[endless(one, b"csrf=x", 1) for _ in range(10)] for one in visitors]
        tasks = [
            asyncio.create_task(app(scope, receive, send))
            for some in requests
            for scope, receive, send, _ in some
        ]
        async with asyncio.timeout(10):
            while sum(task.done() for task in tasks) < 6 * len(visitors):
                await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [[seen["status"] for *_, seen in some] for some in requests]

    with served(tmp_path) as app:
        visitors = [Visitor(app, "anna"), Visitor(app, "ben")]
        # The second time those of the first time are gone, and count no more.
        for _ in range(2):
            for statuses in asyncio.run(flood(app, visitors)):
                assert sorted(statuses, key=str) == [429] * 6 + [None] * 4
        assert visitors[0].client.get("/rate").status_code == 200


def test_a_form_after_the_end_of_the_session_gets_the_page_that_asks_for_the_link(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        bodies = counted(app)
        web_of(app).access.retire("anna")
        answer = anna.client.post(action_of(page), data=fields_of(page))
        assert (answer.status_code, bodies["anna"]) == (401, 0)
        assert answer.headers["content-type"].startswith("text/html")
        assert "Your session has ended, so this form was not accepted." in answer.text
        assert "the personal link that you were sent" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        # Programs get a sentence; a page that is only opened says nothing of a form.
        assert anna.client.post("/api/answer", json={}).json() == {
            "detail": "Open the link that you were sent."
        }
        assert "this form" not in anna.client.get("/rate").text


# --- pages of others ---------------------------------------------------------------------------------


def test_a_page_of_somebody_else_is_neither_shown_nor_taken(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        page, question = anna.page(), anna.question()
        foreign = {**fields_of(page), **fields_of(ben.page())}
        texts = [text for output in question["outputs"] for side in output["texts"] for text in side]
        for path in (action_of(page), f"{action_of(page)}/draft"):
            for sent in (foreign, {"csrf": foreign["csrf"]}, {**foreign, "seconds": "much"}):
                answer = ben.client.post(path, data=sent)
                assert answer.status_code in (404, 422)
                assert not any(text in answer.text for text in texts)
                assert 'name="score:' not in answer.text
        cards = [{"output": one["output"], "scores": {"overall": 5}} for one in question["outputs"]]
        assert ben.answer(question, 5, cards=cards).status_code == 409
        assert ratings(anna) == []
        assert anna.answer(question, 5).status_code == 200


def test_an_assignment_holds_for_what_is_sent(tmp_path: Path) -> None:
    data = made_set()
    with served(tmp_path, data) as app:
        (chosen,) = web_of(app).campaign.rounds()
    handed = assign(chosen, ["anna", "ben"], data=data, overlap=0.0)
    (tmp_path / "again").mkdir()
    with served(tmp_path / "again", data, options={"assignment": handed}) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        question = anna.question()
        shown = ben.client.post(f"/rate/{question['page']}", data={"csrf": ben.csrf["X-CSRF-Token"]})
        assert (shown.status_code, 'name="score:' in shown.text) == (422, False)
        # Even with the names that the page would have for him.
        service = app.state.rater_service
        session = service.web.sessions.read(
            ben.client.cookies[service.web.sessions.cookies["rater"]], "rater"
        )
        cards = service.views.questions(session, service.page(question["page"]), everything=True)
        sent = [{"output": card.id, "scores": {"overall": 5}} for card in cards]
        assert ben.answer(question, 5, cards=sent).status_code == 409
        assert ratings(anna) == []


def test_who_was_shown_a_page_may_answer_it_late(tmp_path: Path) -> None:
    with served(tmp_path, budget=1, size=1) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        page, desk = anna.page(), app.state.rater_service.queue
        with anna.web.campaign.database.writing() as connection:
            desk.leases.give_back(connection, list(desk.board.units))
        ben.question()
        # Something is missing: the page is shown again with what was typed, and then taken.
        sent = {name: value or "50" for name, value in fields_of(page).items()}
        score = next(name for name in sent if name.startswith("score:"))
        again = anna.client.post(action_of(page), data={**sent, score: ""})
        assert (again.status_code, "Judge every output" in again.text) == (422, True)
        assert anna.client.post(action_of(page), data=sent).status_code == 200
        assert json.dumps([row["rater"] for row in ratings(anna)]) == '["anna", "anna", "anna"]'
