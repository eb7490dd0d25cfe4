"""The pages of the documentation: where they stand, whom they are for, their length, and what finds them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.house import docs_words

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NAVIGATION = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
PAGES = {str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md"))}
GENERATED = {f"reference/{name}.md" for name in ("commands", "methods", "python")}
# What people type into the search, and the page that answers it.
SEARCHES = {
    "pass rate": "tutorials/audit-judge.md",
    "win rate": "tutorials/ab-test.md",
    "A/B test": "tutorials/ab-test.md",
    "sample size": "how-to/plan-budget.md",
    "how many": "how-to/plan-budget.md",
    "LLM judge": "how-to/llm-judge.md",
    "inter-annotator agreement": "how-to/work-with-raters.md",
    "MQM": "how-to/judge-in-browser.md",
}


def navigation_pages(entries: list[dict[str, object]]) -> Iterator[str]:
    for entry in entries:
        for inside in entry.values():
            if isinstance(inside, str):
                yield inside
            elif isinstance(inside, list):
                yield from navigation_pages(inside)


def longest_list(entries: list[dict[str, object]]) -> int:
    inner = [inside for entry in entries for inside in entry.values() if isinstance(inside, list)]
    return max([len(entries), *(longest_list(inside) for inside in inner)])


def opening(text: str) -> str:
    """Return the first paragraph below a page's title."""
    return re.sub(r"^.*?^# [^\n]+\n+", "", text, count=1, flags=re.DOTALL | re.MULTILINE).split("\n\n")[0]


def test_every_page_has_one_place_in_the_navigation() -> None:
    places = list(navigation_pages(NAVIGATION))
    assert len(places) == len(set(places))
    assert set(places) == set(PAGES) | GENERATED


def test_the_navigation_fits_a_screen() -> None:
    assert len(NAVIGATION) <= 6
    assert longest_list(NAVIGATION) <= 15
    assert len(list(navigation_pages(NAVIGATION))) <= 70


def test_the_pages_to_read_are_short() -> None:
    words = docs_words()
    assert {"index", "design", "tutorials", "how-to", "explanation", "reference", "research"} == set(words)
    assert sum(count for kind, count in words.items() if kind not in ("reference", "research")) <= 50_000
    written = [
        page for name, page in PAGES.items() if name.startswith("reference/") and name not in GENERATED
    ]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in written) <= 36_000


@pytest.mark.parametrize(("phrase", "name"), SEARCHES.items(), ids=SEARCHES)
def test_search_finds_what_people_type(phrase: str, name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    places = [*headings, opening(text).replace("\n", " ")]
    assert any(phrase.lower() in place.lower() for place in places)
