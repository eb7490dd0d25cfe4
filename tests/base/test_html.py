from __future__ import annotations

from sparingly.base.format import cell_text
from sparingly.base.summary import html_table


def test_every_text_is_escaped() -> None:
    page = html_table(("<a>",), [("<b>",)], "<c>", "<d>")
    for letter in "abcd":
        assert f"&lt;{letter}&gt;" in page
        assert f"<{letter}>" not in page.replace("<p><b>", "").replace("</b></p>", "")


def test_numbers_are_short_and_missing_ones_empty() -> None:
    assert [cell_text(cell) for cell in (1.23456, 3, None, float("nan"), "x")] == ["1.235", "3", "", "", "x"]
