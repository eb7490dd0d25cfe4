from __future__ import annotations

from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer

from sparingly.base.errors import UsageError
from sparingly.show.web.access.guard import HEADERS, Limits
from sparingly.show.web.access.sessions import COOKIES
from sparingly.show.web.app import create_app
from tests.run.campaign.made import begin
from tests.show.web.visitor import SECRET, TestClient, Visitor, action_of, fields_of, served, web_of

PATHS = ("/rate", "/rate/00000000000000000000000000000000", "/api/question", "/api/progress")


@pytest.mark.parametrize("path", PATHS)
def test_a_stranger_sees_nothing(tmp_path: Path, path: str) -> None:
    with served(tmp_path, name="Secret plans") as app:
        stranger = Visitor(app)
        answer = stranger.client.get(path)
        assert answer.status_code == 401
        assert "Secret plans" not in answer.text
        assert stranger.client.get("/").status_code == 401
        assert stranger.client.get("/r/guess").status_code == 401
        assert not stranger.client.cookies


def test_a_link_becomes_a_cookie_that_scripts_cannot_read(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        visitor = Visitor(app)
        token = web_of(app).access.invite("rater", "anna")
        answer = visitor.client.get(f"/r/{token}", follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/rate"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert token not in cookie
        assert visitor.client.get("/", follow_redirects=False).headers["location"] == "/rate"


def test_a_raters_link_is_no_organisers_link(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        access = web_of(app).access
        visitor = Visitor(app)
        assert visitor.client.get(f"/o/{access.invite('rater', 'anna')}").status_code == 401
        assert visitor.client.get(f"/r/{access.invite('organiser')}").status_code == 401
        anna = Visitor(app, "anna")
        anna.client.cookies.set(COOKIES["organiser"], anna.client.cookies[COOKIES["rater"]])
        assert anna.client.get("/organiser").status_code in (401, 404)


def test_a_retired_rater_is_out_at_once(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        assert web_of(app).access.retire("anna") == 1
        assert anna.client.get("/rate").status_code == 401
        assert ben.client.get("/rate").status_code == 200


def test_cookies_of_another_secret_open_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        digest = web_of(app).access.entries()[0].digest
        forged = URLSafeTimedSerializer("another secret " * 4, salt="session rater").dumps(["id", digest])
        anna.client.cookies.clear()
        anna.client.cookies.set(COOKIES["rater"], forged)
        assert anna.client.get("/rate").status_code == 401


def test_a_session_outlives_a_restart(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        cookie = anna.client.cookies[COOKIES["rater"]]
        question = anna.question()
    again = create_app(tmp_path / "campaign.db", secret=SECRET, hosts=None)
    anna = Visitor(again)
    anna.client.cookies.set(COOKIES["rater"], cookie)
    assert anna.answer(question, 50).json() == {"new": 3, "correction": 0, "same": 0}
    web_of(again).campaign.disconnect()


@pytest.mark.parametrize("form", ["answer", "draft", "leave"])
def test_forms_from_elsewhere_are_refused(tmp_path: Path, form: str) -> None:
    with served(tmp_path) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        page = anna.page()
        path = {"answer": action_of(page), "draft": f"{action_of(page)}/draft", "leave": "/leave"}[form]
        fields = {**fields_of(page), "csrf": ben.csrf["X-CSRF-Token"]}
        assert anna.client.post(path, data=fields).status_code == 403
        fields.pop("csrf")
        assert anna.client.post(path, data=fields).status_code == 403
        assert anna.question()["page"] is not None


def test_signing_out(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        anna.client.post("/leave", data={"csrf": anna.csrf["X-CSRF-Token"]})
        assert anna.client.get("/rate").status_code == 401


@pytest.mark.parametrize("path", ["/rate", "/nowhere", "/static/style.css", "/openapi.json"])
def test_every_answer_keeps_the_page_to_itself(tmp_path: Path, path: str) -> None:
    with served(tmp_path) as app:
        headers = Visitor(app, "anna").client.get(path).headers
        for name, value in HEADERS:
            assert headers[name.decode()] == value.decode()
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_other_names_of_the_host_are_refused(tmp_path: Path) -> None:
    with served(tmp_path, options={"hosts": ("localhost", "127.0.0.1", "[::1]")}) as app:
        for host, status in (
            ("127.0.0.1:8000", 401),
            ("localhost", 401),
            ("[::1]:80", 401),
            ("evil.example", 400),
        ):
            assert TestClient(app).get("/rate", headers={"host": host}).status_code == status


def test_large_bodies_are_refused(tmp_path: Path) -> None:
    with served(tmp_path, options={"limits": Limits(most_bytes=10_000)}) as app:
        anna = Visitor(app, "anna")
        assert anna.answer(anna.question(), 5, seconds=1.0).status_code == 200
        body = b"x" * 10_001
        assert anna.client.post("/api/answer", content=body, headers=anna.csrf).status_code == 413
        parts = iter([b"x" * 6000, b"x" * 6000])
        assert anna.client.post("/api/answer", content=parts, headers=anna.csrf).status_code == 413


def test_too_many_requests_of_one_session_are_refused(tmp_path: Path) -> None:
    with served(tmp_path, options={"limits": Limits(each_second=0.001, at_once=20)}) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        statuses = [anna.client.get("/api/progress").status_code for _ in range(25)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
        assert ben.client.get("/api/progress").status_code == 200


def test_what_is_done_is_written_down(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        Visitor(app, "anna")
        web_of(app).access.retire("anna")
        lines = [(deed.who, deed.what) for deed in web_of(app).audit.entries()]
        assert lines == [
            ("organiser", "rater retired"), ("rater anna", "came in"), ("organiser", "link made"),
        ]  # fmt: skip


def test_what_cannot_be_served_is_said_at_once(tmp_path: Path) -> None:
    where = tmp_path / "campaign.db"
    begin(str(where), aspects=["fluency", "adequacy"], aspect="fluency").disconnect()
    with pytest.raises(UsageError, match="at least 32"):
        create_app(where, secret=SECRET[:31])
    with pytest.raises(UsageError, match="single aspect"):
        create_app(where, secret=SECRET, form="mqm")
    with pytest.raises(UsageError, match="no form"):
        create_app(where, secret=SECRET, form="scores")  # type: ignore[arg-type]
