from __future__ import annotations

from html.parser import HTMLParser
from io import StringIO

from sparingly.show.report.page import page
from sparingly.show.terminal.console import line, make_console, make_table


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def test_page_holds_what_was_shown_escaped() -> None:
    console = make_console(StringIO(), record=True)
    line(console, "<script>alert(1)</script> {braces} 100 %", style="bold")
    console.print(make_table(("model",), [("a & b",)]))
    text = page("a <title> & {more}", console)
    reader = Reader()
    reader.feed(text)
    assert text.startswith("<!DOCTYPE html>")
    assert "script" not in reader.tags
    assert reader.tags.count("pre") == 1
    assert "<script>alert(1)</script> {braces} 100 %" in reader.words
    assert "a & b" in reader.words
    assert "a <title> & {more}" in reader.words
    assert "{code}" not in text
    assert "{stylesheet}" not in text
    assert "http" not in text, "the page needs nothing from elsewhere"


def test_page_can_be_made_twice() -> None:
    console = make_console(StringIO(), record=True)
    line(console, "text")
    assert page("t", console) == page("t", console)
