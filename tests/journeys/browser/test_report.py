"""The report in a real browser: both themes, on a phone, on paper, without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Request

import sparingly
from tests.journeys.browser.conftest import Windows
from tests.show.report.made import demo, drawn, hostile_report

pytestmark = pytest.mark.journey

# A4 less the margins of the style sheet, in pixels of 1/96 inch.
PAPER = {"width": 695, "height": 1000}
PHONE = {"width": 390, "height": 844}
# What lies to the right of the page, although nothing lets one scroll there.
CLIPPED = """() => [...document.querySelectorAll('table, figure, pre, p, h1, h2')]
    .filter(one => !one.closest('.wide, .drawn') && one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.outerHTML.slice(0, 80))"""
CLIPPED_ON_PAPER = """() => [...document.querySelectorAll('table, svg, pre, p')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.outerHTML.slice(0, 80))"""


def wide_report() -> sparingly.Report:
    """A report on fifteen models with long names: nothing of its tables may be cut off."""
    random = np.random.default_rng(5)
    models = [f"contrastive-checkpoint-{place:02d}-of-the-multilingual-ensemble" for place in range(15)]
    scores = random.normal(size=(60, 15)) + random.normal(size=(60, 1)) + np.linspace(0, 2, 15)
    data = sparingly.EvalSet.from_arrays(
        items=[f"i{place}" for place in range(60)], models=models, aspects={"overall": scores}
    )
    chosen = sparingly.select(data.without_labels(), "uniform", 40)
    return sparingly.report(data, chosen, curve=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of three reports on the disk."""
    folder = tmp_path_factory.mktemp("reports")
    reports = {
        "demo": sparingly.report(demo(), drawn(), "overall"),
        "wide": wide_report(),
        "hostile": hostile_report(figures=True),
    }
    for name, report in reports.items():
        report.save(folder / f"{name}.html")
    return {name: (folder / f"{name}.html").as_uri() for name in reports}


def opened(page: Page, address: str) -> list[str]:
    """Open a page; return what it asked for beside itself."""
    asked: list[str] = []

    def remember(request: Request) -> None:
        asked.append(request.url)

    page.on("request", remember)
    page.goto(address)
    return [url for url in asked if url != address]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["demo", "wide", "hostile"])
def test_report_opens_in_both_themes_and_is_accessible(
    name: str, theme: str, pages: dict[str, str], window: Windows, accessible: Any
) -> None:
    page = window(color_scheme=theme, viewport={"width": 1000, "height": 900})
    assert opened(page, pages[name]) == []
    assert page.locator("main section").count() >= 9
    assert page.locator("figure svg, td.drawn svg").count() >= 4
    assert page.evaluate(CLIPPED) == []
    accessible(page)


def test_colours_of_pictures_follow_the_theme(pages: dict[str, str], window: Windows) -> None:
    seen = {}
    for theme in ("light", "dark"):
        page = window(color_scheme=theme)
        page.goto(pages["demo"])
        text = page.locator("figure svg text").first
        seen[theme] = (text.evaluate("one => getComputedStyle(one).fill"), page.locator("body").evaluate(
            "one => getComputedStyle(one).backgroundColor"))  # fmt: skip
    assert seen["light"] == ("rgb(28, 30, 33)", "rgb(255, 255, 255)")
    assert seen["dark"] == ("rgb(232, 233, 234)", "rgb(22, 24, 27)")


def test_report_fits_a_phone(pages: dict[str, str], window: Windows) -> None:
    page = window(viewport=PHONE)
    for address in pages.values():
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.evaluate(CLIPPED) == []


def test_sections_are_reached_by_keyboard(pages: dict[str, str], window: Windows) -> None:
    page = window()
    page.goto(pages["demo"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#scores")


def test_report_on_paper_is_whole(pages: dict[str, str], window: Windows, tmp_path: Path) -> None:
    for name, address in pages.items():
        page = window(viewport=PAPER, color_scheme="dark")
        page.goto(address)
        page.emulate_media(media="print")
        assert page.evaluate(CLIPPED_ON_PAPER) == [], name
        # Paper is white, whatever the screen was.
        assert (
            page.locator("body").evaluate("one => getComputedStyle(one).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        printed = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) > 2, name


def test_names_that_mean_harm_do_none(pages: dict[str, str], window: Windows) -> None:
    page = window()
    page.goto(pages["hostile"])
    assert page.locator("script").count() == 0
    assert page.locator("h1").inner_text() == "<script>alert(1)</script>"
