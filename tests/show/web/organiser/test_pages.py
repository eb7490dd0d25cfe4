"""The organiser's pages, visited without a browser."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI

from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import answer_all, made_set, row
from tests.show.web.visitor import Visitor, served, web_of

PAGES = ("", "/raters", "/guidelines", "/answers", "/ranking", "/next", "/downloads", "/log")
PARTS = ("/progress", "/raters/agreement", "/ranking/now", "/next/now")
FORMS = (
    "/pause",
    "/resume",
    "/guidelines",
    "/raters/invite",
    "/raters/retire",
    "/next",
    "/budget",
    "/decide",
    "/leave",
    "/downloads/release.zip",
)
FILES = ("/downloads/everything.zip", "/downloads/hours.csv")


class Organiser:
    """Somebody who came in by the organiser's link."""

    def __init__(self, app: FastAPI) -> None:
        self.web = web_of(app)
        self.client = Visitor(app).client
        self.client.get(f"/o/{self.web.access.invite('organiser')}")

    def page(self, path: str = "") -> str:
        found = self.client.get(f"/organiser{path}")
        assert found.status_code == 200, found.text
        return str(found.text)

    def send(self, path: str, status: int = 200, **fields: str) -> str:
        csrf = re.findall(r'name="csrf" value="([^"]+)"', self.page())[0]
        found = self.client.post(f"/organiser{path}", data={"csrf": csrf, **fields})
        assert found.status_code == status, found.text
        return str(found.text)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    with served(tmp_path) as made:
        yield made


@pytest.fixture
def organiser(app: FastAPI) -> Organiser:
    return Organiser(app)


# --- who may come in --------------------------------------------------------------------------------


def test_neither_strangers_nor_raters_see_a_page(app: FastAPI) -> None:
    for client in (Visitor(app).client, Visitor(app, "ann").client):
        found = {path: client.get(f"/organiser{path}").status_code for path in (*PAGES, *PARTS, *FILES)}
        assert found == dict.fromkeys(found, 401)


def test_nothing_is_done_without_the_session_and_its_form(app: FastAPI) -> None:
    rater, organiser = Visitor(app, "ann"), Organiser(app)
    before = web_of(app).campaign.status().last_seq
    fields = {"rater": "ann", "data": "data", "licence": "MIT"}
    foreign = rater.csrf
    for path in FORMS:
        address = f"/organiser{path}"
        assert rater.client.post(address, data=fields, headers=foreign).status_code == 401
        for csrf in ({}, {"csrf": ""}, {"csrf": "guessed"}, {"csrf": foreign["X-CSRF-Token"]}):
            assert organiser.client.post(address, data={**fields, **csrf}).status_code == 403
    assert web_of(app).campaign.status().last_seq == before
    assert not [entry for entry in web_of(app).access.entries() if entry.retired_at]


def test_a_cookie_of_a_rater_under_the_other_name_opens_nothing(app: FastAPI) -> None:
    rater, thief = Visitor(app, "ann").client, Visitor(app).client
    names = web_of(app).sessions.cookies
    thief.cookies.set(names["organiser"], rater.cookies[names["rater"]])
    assert thief.get("/organiser").status_code == 401


def test_the_organiser_is_no_rater(organiser: Organiser) -> None:
    assert organiser.client.get("/rate").status_code == 401


def test_leaving_ends_the_session(organiser: Organiser) -> None:
    organiser.send("/leave", 401)
    assert organiser.client.get("/organiser").status_code == 401


# --- the pages --------------------------------------------------------------------------------------


def test_every_page_says_where_one_is(organiser: Organiser) -> None:
    for path in PAGES:
        page = organiser.page(path)
        assert re.findall(r'href="([^"]+)" aria-current="page"', page) == [f"/organiser{path}"]
        assert page.count("<h1>") == 1


def test_how_far_it_is(organiser: Organiser) -> None:
    assert "0 of 12" in organiser.page()
    assert "Nobody has answered yet." in organiser.page()
    answer_all(organiser.web.campaign)
    page = organiser.page("/progress")
    assert "12 of 12" in page
    assert '<th scope="row" dir="auto">ann</th><td class="numbers">12</td>' in page
    assert "<html" not in page


def test_an_open_page_is_left_alone_while_nothing_changes(organiser: Organiser) -> None:
    def asked_again(address: str) -> str:
        """Follow a part of a page until it stays as it is, and return what it asks for then."""
        for _ in range(60):
            found = organiser.client.get(f"/organiser{address}")
            if found.status_code == 204:
                return address
            address = re.findall(r'hx-get="/organiser([^"]+)"', found.text)[0]
        raise AssertionError(f"{address} changes all the time")

    answer_all(organiser.web.campaign)
    addresses = [asked_again(path) for path in PARTS]
    organiser.send("/pause")
    for address in addresses:
        assert organiser.client.get(f"/organiser{address}").status_code == 200


def test_pause_and_go_on(organiser: Organiser, app: FastAPI) -> None:
    page = organiser.send("/pause", reason="new instructions")
    assert "nobody is handed a new question" in page
    assert "new instructions" in page
    assert Visitor(app, "ann").question()["page"] is None
    assert "is paused already" in organiser.send("/pause", 422)
    assert "The campaign goes on." in organiser.send("/resume")
    assert Visitor(app, "ann").question()["page"] is not None


def test_a_link_is_shown_once_and_opens(organiser: Organiser, app: FastAPI) -> None:
    page = organiser.send("/raters/invite", rater=" Zoë <b> ")
    link = re.findall(r'readonly value="([^"]+)"', page)[0]
    assert "Zoë &lt;b&gt;" in page
    assert link not in organiser.page("/raters")
    rater = Visitor(app)
    rater.enter(unescape(link).rpartition("/")[2])
    assert rater.question()["page"] is not None
    assert "letters that can be seen" in organiser.send("/raters/invite", 422, rater=" ")


def test_who_is_retired_is_out_at_once(organiser: Organiser, app: FastAPI) -> None:
    rater = Visitor(app, "ann")
    assert "The answers stay." in organiser.send("/raters/retire", rater="ann")
    assert rater.client.get("/rate").status_code == 401
    assert "<td>retired</td>" in organiser.page("/raters")
    assert "There is no rater" in organiser.send("/raters/retire", 422, rater="nobody")


def test_the_next_round(organiser: Organiser) -> None:
    campaign = organiser.web.campaign
    assert "Start round 2 early" in organiser.page("/next")
    assert "answers to the last one are still to come" in organiser.send("/next", data="data")
    assert campaign.status().sets[0].rounds == 1
    answer_all(campaign)
    assert "The next round is drawn" in organiser.send("/next", data="data")
    assert campaign.status().sets[0].rounds == 2
    answer_all(campaign)
    assert "there is nothing more to ask" in organiser.send("/next", data="data")
    assert "every chosen item was judged or assigned." in organiser.page()
    assert "There is no data set" in organiser.send("/next", 422, data="other")


def test_a_running_campaign_gets_a_larger_budget(tmp_path: Path) -> None:
    with served(tmp_path, strategy="auto", budget=4) as app:
        organiser, campaign = Organiser(app), web_of(app).campaign
        answer_all(campaign)
        assert "there is nothing more to ask" in organiser.send("/next", data="data")
        assert 'name="budget" required size="8" maxlength="20" value="4"' in organiser.page("/next")
        assert "The budget is changed" in organiser.send("/budget", data="data", budget="8")
        assert campaign.budgets() == {"data": "8"}
        assert "The next round is drawn" in organiser.send("/next", data="data")
        assert organiser.web.audit.entries()[1].detail == {"data": "data", "budget": "8"}
        # Raters are asked for it at once, without a new start.
        assert Visitor(app, "anna").question()["page"] is not None
        assert "must be a finite number above zero" in organiser.send("/budget", 422, data="data", budget="0")
        assert "a count (100)" in organiser.send("/budget", 422, data="data", budget="many")


def test_a_round_drawn_early(organiser: Organiser) -> None:
    organiser.send("/next", data="data", early="yes")
    assert organiser.web.campaign.status().sets[0].rounds == 2
    assert organiser.web.audit.entries()[0].detail == {"data": "data", "round": 2, "early": True}


def test_no_round_while_it_is_paused(organiser: Organiser) -> None:
    answer_all(organiser.web.campaign)
    organiser.send("/pause")
    assert "The campaign is paused: no round is drawn." in organiser.page("/next")
    assert "paused or closed" in organiser.send("/next", data="data")


def test_the_ranking(tmp_path: Path) -> None:
    data = made_set(40)
    with served(tmp_path, data, budget=40, size=30) as app:
        organiser = Organiser(app)
        answer_all(organiser.web.campaign, data)
        page = organiser.page("/ranking")
        for _ in range(60):
            if "<svg" in page:
                break
            page = organiser.page("/ranking/now")
        best = re.findall(r"<td>([\d-]+)</td><td>(\w+)</td>", page)
        estimate = organiser.web.campaign.estimate()
        assert [name for _, name in best] == [estimate.models[place] for place in estimate.order]
        assert all(re.fullmatch(r"\d(-\d)?", ranks) for ranks, _ in best)
        assert "nothing has come in since" in page


def test_what_was_done_is_in_the_log(organiser: Organiser) -> None:
    organiser.send("/pause", reason="tea")
    organiser.send("/raters/invite", rater="ann")
    organiser.send("/raters/retire", rater="ann")
    organiser.client.get("/organiser/downloads/hours.csv")
    done = [entry.action for entry in organiser.web.audit.entries()]
    assert done[:5] == ["downloaded hours", "rater retired", "link made", "paused", "came in"]
    page = organiser.page("/log")
    assert "reason: tea" in page


# --- downloads --------------------------------------------------------------------------------------


def test_everything(organiser: Organiser) -> None:
    answer_all(organiser.web.campaign)
    found = organiser.client.get("/organiser/downloads/everything.zip")
    assert found.headers["content-disposition"] == 'attachment; filename="campaign.zip"'
    with zipfile.ZipFile(io.BytesIO(found.content)) as archive:
        names = {name.removeprefix("campaign/") for name in archive.namelist()}
        answers = archive.read("campaign/answers.csv").decode()
        events = [json.loads(line) for line in archive.read("campaign/events.jsonl").splitlines()]
    assert names == {
        "answers.csv", "hours.csv", "events.jsonl", "log.jsonl", "overview.json", "data/data.jsonl",
        "rounds/data-1.json",
    }  # fmt: skip
    assert len(list(csv.DictReader(io.StringIO(answers)))) == 12
    assert [event["kind"] for event in events] == ["begun", "round"]


def test_hours_with_a_rate(organiser: Organiser) -> None:
    answer_all(organiser.web.campaign)
    found = organiser.client.get("/organiser/downloads/hours.csv", params={"rate": "18,50"})
    (row,) = csv.DictReader(io.StringIO(found.text))
    assert (row["rater"], row["answers"], row["rate"]) == ("ann", "12", "18.5")
    assert organiser.client.get("/organiser/downloads/hours.csv", params={"rate": "x"}).status_code == 422


def test_a_release_has_no_names_and_the_same_numbers_every_time(organiser: Organiser) -> None:
    answer_all(organiser.web.campaign, rater="Wilhelmina")
    fields = {"licence": "CC-BY-4.0", "title": "A trial", "texts": "yes"}
    csrf = {"csrf": re.findall(r'name="csrf" value="([^"]+)"', organiser.page())[0]}
    one, other = (
        organiser.client.post("/organiser/downloads/release.zip", data={**csrf, **fields}).content
        for _ in range(2)
    )
    assert one == other
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert not any(b"Wilhelmina" in content for content in held.values())
    assert b'license: "CC-BY-4.0"' in held["campaign-release/README.md"]
    assert "under which licence" in organiser.send("/downloads/release.zip", 422, licence=" ")


# --- hostile texts ----------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_hostile_names_are_only_names(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(
        [f"{EVIL}{place}" for place in range(12)],
        (f"A{EVIL}", f"B{EVIL}"),
        aspects={f"good {EVIL}": np.random.default_rng(1).uniform(0, 100, (12, 2))},
    )
    settings: dict[str, Any] = {"aspects": f"good {EVIL}", "name": f"evil {EVIL}", "budget": 12, "size": 11}
    with served(tmp_path, data, **settings) as app:
        organiser, campaign = Organiser(app), web_of(app).campaign
        asked = campaign.questions()
        for rater in (f"one {EVIL}", "two"):
            campaign.record(
                {"rater": rater, "item": one.item, "model": one.model, "score": 5.0 * place % 90}
                for place, one in enumerate(asked)
            )
        organiser.send("/pause", reason=EVIL)
        organiser.send("/raters/invite", rater=f"three {EVIL}")
        for path in (*PAGES, *PARTS):
            page = organiser.page(path)
            assert "<script>" not in page
            assert "<img" not in page
        assert (
            "attachment; filename="
            in (organiser.client.get("/organiser/downloads/everything.zip").headers["content-disposition"])
        )


# --- one service -------------------------------------------------------------------------------------


def test_what_another_process_changes_is_seen_by_the_next_request(app: FastAPI, organiser: Organiser) -> None:
    with Campaign(web_of(app).campaign.database.name) as other:
        asked = other.overview().asked
        assert f"0 of {asked}" in organiser.page()
        question = other.questions()[0]
        other.record([row(question, 50, "ann", seconds=30)])
        assert f"1 of {asked}" in organiser.page()
        other.pause("lunch")
        assert "lunch" in organiser.page()
        other.resume()
        other.close()
    assert "It takes no more answers." in organiser.page()


def test_nothing_is_read_again_while_nothing_changes(
    app: FastAPI, organiser: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = app.state.organiser_service
    organiser.page()
    organiser.page("/next")
    assert service.findings.look(60)[1]
    assert service.outlooks.look(60)[1]
    for name in ("data", "overview", "compares"):
        monkeypatch.setattr(Campaign, name, lambda *_, **__: pytest.fail("The campaign was read again."))
    for path in ("", "/raters", "/log", "/downloads", "/next"):
        organiser.page(path)
    assert service.overview() is service.overview()


def test_answers_are_read_by_model_rater_and_disagreement(tmp_path: Path) -> None:
    with served(tmp_path, made_set(4), budget=4, size=4) as app:
        campaign, organiser = web_of(app).campaign, Organiser(app)
        answer_all(campaign, made_set(4))
        first = campaign.ratings()[0]
        again = {"item": first["item"], "model": first["model"], "rater": "bob", "comment": "<b>no</b>"}
        other = first["score"] + (5 if first["score"] < 50 else -5)
        campaign.record([{**again, "score": 100 - other}, {**again, "score": other}])
        page = organiser.page("/answers")
        assert page.count("<article") == 12
        assert "&lt;b&gt;no&lt;/b&gt;" in page
        assert f"{first['model']} on {first['item']}" in page
        assert organiser.page(f"/answers?model={first['model']}").count("<article") == 4
        assert organiser.page("/answers?rater=bob").count("<article") == 1
        assert organiser.page("/answers?item=nowhere").count("<article") == 0
        # Of two answers of a rater the last one counts.
        assert organiser.page("/answers?order=gap").index("raters differ by 5") < 5000


def test_answers_on_pairs_show_both_outputs(tmp_path: Path) -> None:
    with served(tmp_path, made_set(4), strategy="pairs", budget=4, size=None) as app:
        anna = Visitor(app, "anna")
        anna.answer(anna.question(), 1)
        (one, *_) = web_of(app).campaign.ratings()
        page = Organiser(app).page(f"/answers?model={one['second']}")
        assert f"{one['first']} on {one['item']}" in page
        assert f"{one['second']} on {one['item']}" in page


def test_answers_are_read_by_domain_and_sampled(tmp_path: Path) -> None:
    data = made_set(30).with_column("domain", ["news", "law", "chat"] * 10)
    with served(tmp_path, data, budget=30, size=30) as app:
        campaign, organiser = web_of(app).campaign, Organiser(app)
        domain_of = dict(zip(data.items, data.columns["domain"], strict=True))
        rows = [
            {"rater": "bob", "item": one.item, "model": one.model, "score": 50}
            for one in campaign.questions()
        ]
        campaign.record(rows[:45])
        of_law = sum(domain_of[row["item"]] == "law" for row in rows[:45])
        assert organiser.page("/answers?domain=law").count("<article") == of_law
        assert f"{of_law} judged." in organiser.page("/answers?domain=law")
        looks = [
            re.findall(r'<article[^>]*label="([^"]+)"', organiser.page("/answers?order=sample"))
            for _ in range(3)
        ]
        assert [len(set(look)) for look in looks] == [20, 20, 20]
        # Drawn anew: three times the same 20 of 45 in the same order do not happen.
        assert len({tuple(look) for look in looks}) > 1
        # What came in since is there, too.
        campaign.record(rows[45:])
        assert "90 judged; 50 are shown." in organiser.page("/answers")


def test_the_overview_says_when_it_ends_and_what_it_costs(tmp_path: Path) -> None:
    with served(tmp_path, made_set(4), budget=4, size=4, options={"rate": 36.0}) as app:
        campaign, organiser = web_of(app).campaign, Organiser(app)
        assert "this round ends about" not in organiser.page()
        for one in campaign.questions()[:6]:
            campaign.record(
                [{"rater": "bob", "item": one.item, "model": one.model, "score": 50, "seconds": 100}]
            )
        page = organiser.page()
        assert "this round ends about" in page
        assert re.search(r"<dt>cost so far</dt><dd>6.00</dd>", page)
        assert re.search(r"<dt>cost still to come</dt><dd>6.00</dd>", page)
        answer_all(campaign, made_set(4))
        page = organiser.page()
        assert "all answered" in page
        assert "running" not in page


def test_a_report_is_given_without_names(tmp_path: Path) -> None:
    with served(tmp_path, made_set(8), budget=8, size=8) as app:
        answer_all(web_of(app).campaign, made_set(8), rater="Wilhelmina")
        organiser = Organiser(app)
        found = organiser.client.get("/organiser/downloads/report.html")
        assert found.status_code == 200
        assert "Wilhelmina" not in found.text
        assert found.headers["content-disposition"] == 'attachment; filename="campaign-report.html"'
        assert "downloaded report" in organiser.page("/log")
