"""Where the pages are: below a path, several campaigns on one server, and what watches over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from sparingly.show.web.app import create_app
from sparingly.show.web.several import Several, create_several, path_names
from tests.run.campaign.made import begin
from tests.show.web.visitor import SECRET, TestClient, served, web_of

PUBLIC = "https://example.org/judge"
CLIENT: dict[str, Any] = {"base_url": "https://example.org"}


def addresses(page: str) -> set[str]:
    """Every address of ours that a page names."""
    found = re.findall(r'\b(?:href|src|action|formaction|hx-get|hx-post|data-draft)="(/[^"]*)"', page)
    assert found
    return set(found)


@pytest.mark.parametrize(
    "in_front", ["/judge", ""], ids=["a proxy that passes the path", "one that strips it"]
)
def test_all_addresses_are_below_the_base_path(tmp_path: Path, in_front: str) -> None:
    with served(tmp_path, options={"public": PUBLIC, "hosts": ["localhost"]}) as app:
        access = web_of(app).access
        rater, boss = TestClient(app, **CLIENT), TestClient(app, **CLIENT)
        entered = rater.get(f"{in_front}/r/{access.invite('rater', 'anna')}", follow_redirects=False)
        assert entered.headers["location"] == "/judge/rate"
        boss.get(f"{in_front}/o/{access.invite('organiser')}", follow_redirects=False)
        names = ["/rate", "/organiser", "/organiser/raters", "/organiser/guidelines", "/organiser/answers"]
        names += ["/organiser/ranking", "/organiser/next", "/organiser/downloads", "/organiser/log"]
        for name in names:
            page = (rater if name == "/rate" else boss).get(f"{in_front}{name}")
            assert page.status_code == 200
            assert all(address.startswith("/judge/") for address in addresses(page.text)), name
        assert rater.get(f"{in_front}/static/style.css").status_code == 200
        assert rater.get(f"{in_front}/rate").headers["hx-replace-url"] == "/judge/rate"
        # What only begins like the path is somewhere else.
        assert rater.get("/judges/rate").status_code == 404


def test_health_says_whether_the_database_answers(tmp_path: Path) -> None:
    with served(tmp_path, options={"hosts": ["localhost"]}) as app:
        client = TestClient(app, base_url="http://10.0.0.7")
        assert (client.get("/health").status_code, client.get("/health").text) == (200, "ok")
        assert client.get("/").status_code == 400
        (tmp_path / "campaign.db").write_bytes(b"SQLite format 3\x00" + bytes(4000))
        assert client.get("/health").status_code == 503


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Several, dict[str, FastAPI]]]:
    """The server of two campaigns, both called ``campaign`` and signed with one secret."""
    with ExitStack() as stack:
        apps = {}
        for name in ("wmt", "shop"):
            with begin(str(tmp_path / f"{name}.db")) as campaign:
                campaign.next()
            apps[f"/{name}"] = create_app(
                tmp_path / f"{name}.db", secret=SECRET, hosts=None, base=f"/{name}", public=PUBLIC
            )
            stack.callback(web_of(apps[f"/{name}"]).campaign.disconnect)
        yield create_several(apps, hosts=None, public=PUBLIC), apps


def test_a_link_opens_every_campaign_that_it_was_made_for(two: tuple[Any, dict[str, FastAPI]]) -> None:
    server, apps = two
    wmt, shop = map(web_of, apps.values())
    both, one, stranger = (TestClient(server, **CLIENT) for _ in range(3))
    token = wmt.access.invite("organiser")
    shop.access.invite("organiser", token=token)
    assert stranger.get("/judge/").status_code == 401
    assert stranger.get(f"/judge/o/{'x' * 43}").status_code == 401
    page = both.get(f"/judge/o/{token}")
    assert {"/judge/wmt/organiser", "/judge/shop/organiser"} <= addresses(page.text)
    page = both.get("/judge/shop/organiser")
    assert 'href="/judge/"' in page.text
    # Both are called campaign: their paths tell them apart.
    assert "<title>Overview · shop</title>" in page.text
    # Who may see one of them sees one.
    page = one.get(f"/judge/o/{shop.access.invite('viewer', 'Eva')}")
    assert "/judge/shop/organiser" in page.text
    assert "/judge/wmt/organiser" not in page.text
    assert one.get("/judge/wmt/organiser").status_code == 401
    assert both.get("/judge/health").text == "ok"


def test_a_rater_of_one_campaign_is_nobody_in_the_other(two: tuple[Any, dict[str, FastAPI]]) -> None:
    server, apps = two
    client = TestClient(server, **CLIENT)
    token = web_of(apps["/wmt"]).access.invite("rater", "anna")
    assert client.get(f"/judge/shop/r/{token}").status_code == 401
    assert client.get(f"/judge/wmt/r/{token}").status_code == 200
    assert client.get("/judge/shop/rate").status_code == 401


def test_paths_are_plain_and_none_is_twice() -> None:
    assert path_names(["WMT 25", "wmt_25", "wmt 25", "é", "", "static"]) == [
        "wmt-25", "wmt_25", "wmt-25-2", "campaign", "campaign-2", "static-2",
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_who_only_reads_changes_nothing(tmp_path: Path, role: Any) -> None:
    with served(tmp_path, options={"hosts": None}) as app:
        web = web_of(app)
        client = TestClient(app)
        client.get(f"/o/{web.access.invite(role, 'Eva')}")
        before = web.campaign.last_seq()
        for name in ("", "/raters", "/guidelines", "/answers", "/ranking", "/next", "/downloads", "/log"):
            page = client.get(f"/organiser{name}")
            assert page.status_code == 200
            # The only form is the one to leave; what filters has no token.
            assert page.text.count('method="post"') == 1, name
        csrf = re.findall(r'name="csrf" value="([^"]+)"', client.get("/organiser").text)[0]
        for name in (
            "pause",
            "resume",
            "raters/invite",
            "raters/retire",
            "raters/withdraw",
            "next",
            "budget",
            "guidelines",
        ):
            sent = client.post(f"/organiser/{name}", data={"csrf": csrf, "rater": "x", "text": "# x"})
            assert sent.status_code == 403, name
        for name in ("everything.zip", "hours.csv"):
            assert client.get(f"/organiser/downloads/{name}").status_code == 403
        assert client.post("/organiser/downloads/release.zip", data={"csrf": csrf}).status_code == 403
        assert web.campaign.last_seq() == before
        assert client.get("/rate").status_code == 401
        web.access.retire("Eva", role)
        assert client.get("/organiser").status_code == 401


def test_the_organiser_invites_a_viewer(tmp_path: Path) -> None:
    with served(tmp_path) as app:
        boss, viewer = TestClient(app), TestClient(app)
        boss.get(f"/o/{web_of(app).access.invite('organiser')}")
        csrf = re.findall(r'name="csrf" value="([^"]+)"', boss.get("/organiser/raters").text)[0]
        sent = boss.post("/organiser/raters/invite", data={"csrf": csrf, "rater": "Eva", "role": "viewer"})
        (link,) = re.findall(r'value="http://testserver(/o/[^"]+)"', sent.text)
        assert viewer.get(link).status_code == 200
        boss.post("/organiser/raters/retire", data={"csrf": csrf, "rater": "Eva", "role": "viewer"})
        assert viewer.get("/organiser").status_code == 401
