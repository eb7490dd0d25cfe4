"""Ways in and what is behind them: guidelines and tutorial, a panel, roles, several campaigns, languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sparingly.data.evalset import EvalSet
from sparingly.show.web.app import create_app
from sparingly.show.web.panel import Panel
from sparingly.show.web.several import create_several
from tests.journeys.browser.conftest import Sites, Windows
from tests.journeys.browser.test_organiser import PAGES
from tests.journeys.browser.test_rater import PHONE, small_set
from tests.run.campaign.made import MODELS, answer_all, begin, made_set
from tests.show.web.visitor import SECRET, web_of

pytestmark = pytest.mark.journey
GUIDELINES = """# How good is each translation?

Read the source first.

## Good example
> Hund → dog

## Scale
- 0: useless
- 100: perfect

## Consent
My answers may be published.

## About you
- Native language
"""
ENGLISH = {"begin": "Begin", "send": "Submit", "agree": "I agree", "done": "Nothing to judge now"}
GERMAN = {
    "begin": "Beginnen",
    "send": "Absenden",
    "agree": "Ich stimme zu",
    "done": "Zurzeit nichts zu beurteilen",
}


def one_model(outputs: list[str], **parts: Any) -> EvalSet:
    """Items with one output each."""
    items = [f"item-{place}" for place in range(len(outputs))]
    return EvalSet.from_arrays(
        items,
        MODELS[:1],
        outputs=[[text] for text in outputs],
        sources=[f"source {text}" for text in outputs],
        **parts,
    )


def score(page: Page, value: int) -> None:
    """Give every output of a page a score, and wait for another page."""
    shown = page.locator("form#judge").get_attribute("action")
    for field in page.locator("input[type=number]").all():
        field.fill(str(value))
    page.locator("#send").click()
    expect(page.locator(f'form#judge[action="{shown}"]')).to_have_count(0)


@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("de", GERMAN)], ids=["English", "German"])
def test_guidelines_and_a_tutorial_on_a_phone(
    serve: Sites, window: Windows, accessible: Any, language: str, words: dict[str, str]
) -> None:
    tutorial = one_model(["right", "wrong"], aspects={"overall": [[90.0], [10.0]]})
    options = {"tutorial": tutorial, "language": language}
    site = serve(one_model(["a", "b"]), budget=2, size=2, options=options)
    site.web.campaign.set_guidelines(GUIDELINES)
    page = window(**PHONE)
    page.goto(site.link("anna"))
    expect(page.get_by_role("heading", name="How good is each translation?")).to_be_visible()
    accessible(page)
    page.get_by_label("Native language").fill("Deutsch")
    page.get_by_label(words["agree"]).check()
    page.get_by_role("button", name=words["begin"]).click()
    # A wrong answer is told, and the item stays until it is right.
    window.wanted_status.add(422)
    page.locator("input[type=number]").fill("10")
    page.locator("#send").click()
    expect(page.get_by_role("alert")).to_contain_text("90")
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    score(page, 90)
    score(page, 10)
    assert site.ratings == []
    for _ in range(2):
        score(page, 50)
    expect(page.get_by_role("heading", name=words["done"])).to_be_visible()
    accessible(page)
    assert [row["score"] for row in site.ratings] == [50, 50]


def test_somebody_of_a_panel_comes_and_goes(serve: Sites, window: Windows, accessible: Any) -> None:
    options = {"panel": Panel("C0DE", 2, screened="N0")}
    site = serve(one_model(["a", "b", "c"]), budget=3, size=3, options=options)
    page = window(**PHONE)
    page.goto(f"{site.address}/join?PROLIFIC_PID=person01&STUDY_ID=study1&SESSION_ID=session1")
    for _ in range(2):
        score(page, 50)
    expect(page.get_by_text("C0DE")).to_be_visible()
    assert page.get_by_role("link", name="Complete").get_attribute("href") == (
        "https://app.prolific.com/submissions/complete?cc=C0DE"
    )
    accessible(page)
    # The same person again is the same rater, with nothing more to do.
    page.goto(f"{site.address}/join?PROLIFIC_PID=person01")
    expect(page.get_by_text("C0DE")).to_be_visible()
    assert {row["rater"] for row in site.ratings} == {"panel:person01"}
    assert len(site.ratings) == 2


@pytest.mark.parametrize(
    "asked", ["PROLIFIC_PID=person01&PROLIFIC_PID=person02", "PROLIFIC_PID=<script>", "STUDY_ID=study1", ""]
)
def test_a_wrong_panel_address_is_one_sentence(serve: Sites, window: Windows, asked: str) -> None:
    site, page = serve(options={"panel": Panel("C0DE")}), window()
    # A page that is an error is reported in the console: no complaint.
    found = page.request.get(f"{site.address}/join?{asked}")
    assert found.status == 422
    assert "That did not work" in found.text()
    assert "panel again" in found.text() or "Open it there again" in found.text()
    assert site.web.access.entries() == []


def test_who_does_not_consent_is_screened_out(serve: Sites, window: Windows, accessible: Any) -> None:
    site = serve(options={"panel": Panel("C0DE", screened="N0")})
    site.web.campaign.set_guidelines(GUIDELINES)
    page = window(**PHONE)
    page.goto(f"{site.address}/join?PROLIFIC_PID=person01")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_text("N0", exact=True)).to_be_visible()
    accessible(page)


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_a_reader_sees_every_page(serve: Sites, window: Windows, accessible: Any, role: Any) -> None:
    site = serve()
    answer_all(site.web.campaign)
    site.web.campaign.set_guidelines(GUIDELINES)
    page = window(**PHONE)
    page.goto(f"{site.address}/o/{site.web.access.invite(role, 'Eva')}")
    expect(page.get_by_text(f"Eva ({role})")).to_be_visible()
    for path in PAGES:
        page.goto(f"{site.address}/organiser{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator("form[method=post]").count() == 1
        accessible(page)
    window.wanted_status.add(401)
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("heading", name="Your link, please")).to_be_visible()


def test_a_reviewer_decides_on_a_phone(serve: Sites, window: Windows, accessible: Any) -> None:
    site = serve(small_set([["a", "b", "c"]]), budget=1, size=1, options={"overlap": 1.0})
    for name, points in (("anna", 10), ("ben", 90)):
        rater = window()
        rater.goto(site.link(name))
        score(rater, points)
    page = window(**PHONE)
    page.goto(f"{site.address}/o/{site.web.access.invite('reviewer', 'rosa')}")
    expect(page.get_by_text("Raters disagree about 3 questions")).to_be_visible()
    accessible(page)
    page.get_by_role("button", name="Decide").click()
    expect(page.locator(".earlier").first).to_contain_text("Two raters disagree")
    assert page.locator(".earlier").first.locator("li").all_inner_texts() == ["10", "90"]
    accessible(page)
    score(page, 70)
    expect(page.get_by_text("No two raters disagree at the moment.")).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="To the start").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.get_by_role("button", name="Decide").count() == 0
    found = site.web.campaign.data().aspects["overall"]
    assert (found[0] == 70).all()


def test_two_campaigns_in_a_list(tmp_path: Path, serve: Sites, window: Windows, accessible: Any) -> None:
    apps = {}
    for name in ("wmt", "shop"):
        with begin(str(tmp_path / f"{name}.db"), made_set(4), budget=4, size=4) as campaign:
            campaign.next()
        apps[f"/{name}"] = create_app(
            tmp_path / f"{name}.db", secret=SECRET, hosts=None, base=f"/{name}", overlap=0.0
        )
    address = serve.address_of(create_several(apps, hosts=None))
    token = web_of(apps["/wmt"]).access.invite("organiser")
    web_of(apps["/shop"]).access.invite("organiser", token=token)
    boss, anna = window(), window(**PHONE)
    boss.goto(f"{address}/o/{token}")
    expect(boss.get_by_role("heading", name="Campaigns")).to_be_visible()
    accessible(boss)
    boss.get_by_role("link", name="shop").click()
    expect(boss.get_by_role("heading", name="Overview")).to_be_visible()
    boss.get_by_role("link", name="Raters", exact=True).click()
    boss.get_by_label("Name").fill("anna")
    boss.get_by_role("button", name="Make a link").click()
    anna.goto(boss.get_by_label("Link", exact=True).input_value())
    assert anna.url == f"{address}/shop/rate"
    score(anna, 50)
    boss.get_by_role("link", name="All campaigns").click()
    expect(boss.get_by_role("row", name="shop")).to_contain_text("3 of 12")
    expect(boss.get_by_role("row", name="wmt")).to_contain_text("0 of 12")


def test_a_slider_sends_the_page_when_it_is_let_go(serve: Sites, window: Windows) -> None:
    site = serve(small_set([["a", "b", "c"]]), budget=1, size=1, options={"advance": True})
    page = window()
    page.goto(site.link("anna"))
    sliders = page.locator("input[type=range]")
    for place in (0, 1):
        sliders.nth(place).click()
    page.wait_for_timeout(800)
    # One output has no score yet; a click in the middle is an answer like any other.
    assert site.ratings == []
    assert page.locator("input[type=number]").first.input_value() == "50"
    sliders.nth(2).click()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    assert [row["score"] for row in site.ratings] == [50, 50, 50]
