from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.show.web.texts import MOST_LETTERS, display_text, turns, visible

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text())
def test_letters_stay_as_many_and_none_controls_anything(text: str) -> None:
    seen = visible(text)
    assert len(seen) == len(text)
    for letter in seen:
        assert letter in "\t\n" or unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp")
        assert letter not in TURNING
    assert visible(seen) == seen


def test_ordinary_letters_of_all_writings_stay() -> None:
    text = "naïve\tשלום\u200f مرحبا\n你好 👩\u200d👧 e\u0301"
    assert visible(text) == text


def test_terminal_escapes_are_seen() -> None:
    assert visible("\x1b[31mred\x07\x00") == "␛[31mred␇␀"
    assert visible("a\u202eb\r\x85") == "a⇄b␍\ufffd"


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](http://evil.example/p.png)",
    "<http://evil.example>",
    "<a href='http://evil.example'>x</a>",
    "[x]: http://evil.example\n\n[x]",
    "`<b onclick=alert(1)>`",
    '"><svg/onload=alert(1)>',
    "<style>*{display:none}</style>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_makes_no_tag_that_leads_away_or_runs(text: str) -> None:
    html = display_text(text, markdown=True).html
    assert html is not None
    assert "<" not in html.replace("<p>", "").replace("</p>", "").replace("<code>", "").replace("</code>", "")


@given(st.text(alphabet="<>/a!-[]()`*_#&;:\"'=\n\\ x"))
def test_markdown_has_only_known_tags_without_attributes(text: str) -> None:
    html = display_text(text, markdown=True).html or ""
    known = "p|br|em|strong|s|code|pre|blockquote|ul|ol|li|hr|h3|h4|h5|h6|table|thead|tbody|tr|th|td"
    assert "<" not in re.sub(f"</?({known})>", "", html)


def test_markdown_is_read() -> None:
    html = (
        display_text(
            "# Big\n\n* one\n* **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx\ny", markdown=True
        ).html
        or ""
    )
    assert "<h3>Big</h3>" in html
    assert "<li><strong>two</strong></li>" in html
    assert "<td>1</td>" in html
    assert "x<br>\ny" in html
    assert (
        display_text("[words](http://place.example)", markdown=True).html
        == "<p>[words](http://place.example)</p>\n"
    )


def test_long_texts_are_cut_and_counted() -> None:
    found = display_text("é" * 1_000_000)
    assert len(found.plain) == MOST_LETTERS
    assert found.left_out == 1_000_000 - MOST_LETTERS
    assert display_text(None).plain == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]',
         [("user", "Hi"), ("assistant", "Yes")]),
        ('[{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes"}]',
         [("user", "Hi"), ("assistant", "Yes")]),
        ("User: Hi\nthere\nAssistant: Yes\nUSER: Why: so?",
         [("user", "Hi\nthere"), ("assistant", "Yes"), ("user", "Why: so?")]),
        ("He said\nUser: no", None),
        ("Plain text", None),
        ("[1, 2]", None),
        ('[{"role": "user"}]', None),
        ("[broken", None),
        ("[]", None),
        ("", None),
        (None, None),
    ],
)  # fmt: skip
def test_turns(text: str | None, expected: list[tuple[str, str]] | None) -> None:
    assert turns(text) == expected


def test_nested_brackets_are_no_chat() -> None:
    assert turns("[" * 100_000) is None
    assert turns(json.dumps([[["x"]]])) is None


@pytest.mark.parametrize(
    "text", ["*a " * 7000, "|a" * 1000 + "\n" + "|-" * 1000 + "\n" + "|\n" * 100], ids=["long", "wide table"]
)
def test_what_takes_long_to_read_is_shown_as_it_is_written(text: str) -> None:
    found = display_text(text, markdown=True)
    assert (found.plain, found.html) == (text, None)
