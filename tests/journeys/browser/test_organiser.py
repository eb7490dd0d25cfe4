"""An organiser's way through a campaign of two rounds, with raters at work, in a real browser."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.browser.conftest import Site, Sites, Windows
from tests.run.campaign.made import answer_all, made_set

pytestmark = pytest.mark.journey
PAGES = ("", "/raters", "/guidelines", "/answers", "/ranking", "/next", "/downloads", "/log")
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def go_to(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")


def invited(page: Page, name: str) -> str:
    """Invite a rater, and return the link that is shown this once."""
    go_to(page, "Raters")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Make a link").click()
    return page.get_by_label("Link", exact=True).input_value()


def judge_a_page(page: Page) -> None:
    shown = page.locator("form#judge").get_attribute("action")
    for place, field in enumerate(page.locator("input[type=number]").all()):
        field.fill(str(30 + 9 * place))
    page.locator("#send").click()
    expect(page.locator(f'form#judge[action="{shown}"]')).to_have_count(0)


def judge_what_is_left(page: Page) -> None:
    page.goto(page.url)
    while page.locator("form#judge").count():
        judge_a_page(page)


def test_two_rounds_with_two_raters_at_once(serve: Sites, window: Windows) -> None:
    site = serve(made_set(6), budget=4, size=2)
    organiser, anna, ben = window(), window(), window()
    organiser.goto(site.organiser_link())
    expect(organiser.get_by_text("0 of 6").first).to_be_visible()

    anna.goto(invited(organiser, "Anna"))
    ben.goto(invited(organiser, "Ben"))
    # Two raters at once are given different items, and neither sees who else is there.
    assert anna.locator(".source").inner_text() != ben.locator(".source").inner_text()
    assert "Ben" not in anna.content()

    go_to(organiser, "Overview")
    judge_a_page(anna)
    # The open page follows by itself.
    expect(organiser.get_by_text("3 of 6").first).to_be_visible(timeout=15_000)
    judge_a_page(ben)
    expect(ben.get_by_role("heading", name="Nothing to judge now")).to_be_visible()

    go_to(organiser, "Next round")
    organiser.get_by_role("button", name="Start round 2").click()
    expect(organiser.get_by_role("status")).to_contain_text("The next round is drawn")
    judge_what_is_left(ben)
    assert {row["round"] for row in site.ratings} == {1, 2}
    assert {row["rater"] for row in site.ratings} == {"Anna", "Ben"}
    assert len(site.ratings) == len({(row["item"], row["model"]) for row in site.ratings}) == 12

    go_to(organiser, "Next round")
    expect(organiser.get_by_role("heading", name="no further round")).to_be_visible()
    expect(organiser.get_by_text("every chosen item was judged or assigned")).to_be_visible()
    assert site.web.campaign.verify().ok


def test_pause_retire_and_the_log(serve: Sites, window: Windows) -> None:
    site = serve(made_set(6), budget=4, size=4)
    organiser, rater = window(), window()
    organiser.goto(site.organiser_link())
    rater.goto(site.link("Anna"))
    organiser.get_by_label("Reason (for the log)").fill("new instructions")
    organiser.get_by_role("button", name="Pause").click()
    expect(organiser.get_by_text("paused", exact=True)).to_be_visible()
    # What Anna was doing is taken, and nothing more is given to her.
    judge_a_page(rater)
    expect(rater.get_by_text("The campaign is paused.")).to_be_visible()
    organiser.get_by_role("button", name="Go on").click()
    rater.reload()
    expect(rater.locator("form#judge")).to_be_visible()
    go_to(organiser, "Raters")
    organiser.get_by_role("button", name="Retire Anna").click()
    expect(organiser.get_by_role("cell", name="retired")).to_be_visible()
    assert rater.request.get(f"{site.address}/rate").status == 401
    go_to(organiser, "Log")
    expect(organiser.get_by_text("reason: new instructions")).to_be_visible()


def test_a_release_is_downloaded(serve: Sites, window: Windows) -> None:
    site, page = serve(), window()
    answer_all(site.web.campaign, rater="Wilhelmina")
    page.goto(site.organiser_link())
    go_to(page, "Downloads")
    page.get_by_label("Licence").fill("CC0-1.0")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Release (ZIP)").click()
    content = waiting.value.path().read_bytes()
    assert waiting.value.suggested_filename == "campaign-release.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "CC0-1.0" in archive.read("campaign-release/README.md").decode()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Hours (CSV)").click()
    assert "Wilhelmina" in waiting.value.path().read_text("utf-8")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Everything (ZIP)").click()
    assert waiting.value.suggested_filename == "campaign.zip"


@pytest.fixture
def judged(serve: Sites) -> Site:
    """A campaign with a judged round by two raters, so that every page has something to show."""
    data = made_set(40)
    site = serve(data, budget=40, size=30, stop="best_settled")
    campaign = site.web.campaign
    asked = campaign.questions()
    for rater, up in (("Anna", 0.0), ("Ben", 1.5)):
        campaign.record(
            {"rater": rater, "item": one.item, "model": one.model, "score": place % 90 + up, "seconds": 12}
            for place, one in enumerate(asked)
        )
    site.web.access.invite("rater", "Anna")
    return site


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_accessible(
    judged: Site, window: Windows, accessible: Callable[[Page], Any], theme: Any
) -> None:
    page = window(color_scheme=theme)
    page.goto(judged.organiser_link())
    for path in PAGES:
        page.goto(f"{judged.address}/organiser{path}")
        if path == "/ranking":
            expect(page.get_by_role("group", name="Ranking").get_by_role("table")).to_be_visible()
            expect(page.get_by_text("sparingly campaign")).to_have_count(0)
        for folded in page.locator("summary").all():
            folded.click()
        accessible(page)
    invited(page, "Ben")
    accessible(page)


def test_on_a_phone_only_tables_move_sideways(judged: Site, window: Windows) -> None:
    page = window(**PHONE)
    page.goto(judged.organiser_link())
    for path in PAGES:
        page.goto(f"{judged.address}/organiser{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_keyboard_is_enough(judged: Site, window: Windows) -> None:
    page = window()
    page.goto(judged.organiser_link())
    page.get_by_label("Reason (for the log)").focus()
    page.keyboard.type("tea")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The campaign is paused")
    expect(page.get_by_text("tea")).to_be_visible()
