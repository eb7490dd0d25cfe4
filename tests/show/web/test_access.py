from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer

from sparingly.base.errors import UsageError
from sparingly.run.campaign.access import Access, digest_of
from sparingly.show.web.app import create_app
from sparingly.show.web.guard import HEADERS, LOOPBACK, RequestLimits
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
        names = anna.web.sessions.cookies
        anna.client.cookies.set(names["organiser"], anna.client.cookies[names["rater"]])
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
        anna.client.cookies.set(anna.web.sessions.cookies["rater"], forged)
        assert anna.client.get("/rate").status_code == 401


def test_a_session_outlives_a_restart(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app, "anna")
        cookie = anna.client.cookies[anna.web.sessions.cookies["rater"]]
        question = anna.question()
    again = create_app(tmp_path / "campaign.db", secret=SECRET, hosts=None)
    anna = Visitor(again)
    anna.client.cookies.set(anna.web.sessions.cookies["rater"], cookie)
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
        copy, other = dict(anna.client.cookies), Visitor(app)
        other.enter(anna.web.access.invite("rater", "anna"))
        token = anna.csrf["X-CSRF-Token"]
        anna.client.post("/leave", data={"csrf": token})
        assert anna.client.get("/rate").status_code == 401
        # Whoever has a copy of the cookie is out too, after a restart as well; other sessions go on.
        anna.client.cookies.update(copy)
        assert anna.client.get("/rate").status_code == 401
        assert anna.client.post("/leave", data={"csrf": token}).status_code == 401
        assert other.client.get("/rate").status_code == 200
        again = create_app(tmp_path / "campaign.db", secret=SECRET, hosts=None)
        late = Visitor(again)
        late.client.cookies.update(copy)
        assert late.client.get("/rate").status_code == 401
        late.enter(late.web.access.invite("rater", "anna"))
        assert late.client.get("/rate").status_code == 200
        web_of(again).campaign.disconnect()


def test_the_organiser_signs_out(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        boss = TestClient(app)
        boss.get(f"/o/{web_of(app).access.invite('organiser')}")
        copy = dict(boss.cookies)
        csrf = re.findall(r'name="csrf" value="([^"]+)"', boss.get("/organiser").text)[0]
        boss.post("/organiser/leave", data={"csrf": csrf})
        boss.cookies.update(copy)
        assert boss.get("/organiser").status_code == 401


def test_sessions_that_ended_long_ago_are_forgotten(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with begin(str(tmp_path / "campaign.db")) as campaign:
        access = Access(campaign.database, campaign.name, lambda: now[0])
        digest = digest_of(access.invite("rater", "anna"))
        access.end_session("old", after=100)
        now[0] += timedelta(seconds=101)
        access.end_session("new", after=100)
        assert access.open_session(digest, "new") is None
        # The signature of such an old cookie does not hold any more.
        assert access.open_session(digest, "old") is not None


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
    with served(tmp_path, options={"limits": RequestLimits(most_bytes=10_000)}) as app:
        anna = Visitor(app, "anna")
        assert anna.answer(anna.question(), 5, seconds=1.0).status_code == 200
        body = b"x" * 10_001
        assert anna.client.post("/api/answer", content=body, headers=anna.csrf).status_code == 413
        parts = iter([b"x" * 6000, b"x" * 6000])
        headers = {**anna.csrf, "content-type": "application/json"}
        assert anna.client.post("/api/answer", content=parts, headers=headers).status_code == 413


def test_too_many_requests_of_one_session_are_refused(tmp_path: Path) -> None:
    with served(tmp_path, options={"limits": RequestLimits(each_second=0.001, at_once=20)}) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        statuses = [anna.client.get("/api/progress").status_code for _ in range(25)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
        assert ben.client.get("/api/progress").status_code == 200


def test_what_is_done_is_written_down(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        Visitor(app, "anna")
        web_of(app).access.retire("anna")
        lines = [(entry.actor, entry.action) for entry in web_of(app).audit.entries()]
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
        create_app(where, secret=SECRET, form="scores")


def test_opening_the_link_again_keeps_pages_good_that_are_open(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        anna = Visitor(app)
        token = anna.web.access.invite("rater", "anna")
        anna.enter(token)
        page = anna.page()
        for link in (token, anna.web.access.invite("rater", "anna")):
            anna.enter(link)
        sent = {name: value or "50" for name, value in fields_of(page).items()}
        assert anna.client.post(action_of(page), data=sent).status_code == 200
        assert len(anna.web.campaign.ratings()) == 3
        # Somebody else at the same device is somebody else.
        before = anna.csrf
        anna.enter(anna.web.access.invite("rater", "ben"))
        assert anna.csrf != before
        assert anna.client.get("/api/progress").json()["rater"] == "ben"


def test_behind_a_proxy_the_public_name_is_good_and_cookies_are_secure(tmp_path: Path) -> None:
    public = {"public": "https://judge.example.org", "hosts": LOOPBACK}
    with served(tmp_path, options=public) as app:
        token = web_of(app).access.invite("rater", "anna")
        client = TestClient(app, base_url="http://judge.example.org", follow_redirects=False)
        answer = client.get(f"/r/{token}")
        assert answer.status_code == 303
        assert "Secure" in answer.headers["set-cookie"]
        assert client.get("/", headers={"host": "127.0.0.1:8000"}).status_code == 401
        assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 400
        boss = TestClient(app, base_url="https://judge.example.org")
        boss.get(f"/o/{web_of(app).access.invite('organiser')}")
        csrf = re.findall(r'name="csrf" value="([^"]+)"', boss.get("/organiser/raters").text)[0]
        page = boss.post("/organiser/raters/invite", data={"csrf": csrf, "rater": "ben"}).text
        assert 'value="https://judge.example.org/r/' in page


@pytest.mark.parametrize(
    "public", ["judge.example.org", "https://x/a//b", "https://x/a b", "ftp://x", "https://", "https://x?y"]
)
def test_a_public_address_is_an_address(tmp_path: Path, public: str) -> None:
    where = tmp_path / "campaign.db"
    begin(str(where)).disconnect()
    with pytest.raises(UsageError, match="such as https://judge"):
        create_app(where, secret=SECRET, public=public)


def test_a_flood_of_strangers_stops_nobody_who_is_in(tmp_path: Path) -> None:
    with served(tmp_path, options={"limits": RequestLimits(each_second=0.001, at_once=20)}) as app:
        anna, stranger = Visitor(app, "anna"), Visitor(app)
        assert [stranger.client.get("/r/guess").status_code for _ in range(25)][-1] == 429
        assert anna.client.get("/rate").status_code == 200


def test_two_campaigns_on_one_machine_do_not_sign_each_other_out(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with served(tmp_path / "one", name="one") as one, served(tmp_path / "other", name="other") as other:
        anna, also = Visitor(one, "anna"), Visitor(other)
        # Browsers send the cookies of every port of a machine.
        also.client.cookies.update(anna.client.cookies)
        also.enter(also.web.access.invite("rater", "anna"))
        anna.client.cookies.update(also.client.cookies)
        assert anna.client.get("/rate").status_code == also.client.get("/rate").status_code == 200
