"""Texts of models are hostile until shown otherwise: here they become harmless, and stay readable.

Every letter that moves the cursor, hides or turns text around is shown as a symbol of its own, one for one,
so that letters can still be counted. Markdown is read without HTML, links and pictures, and what comes of it
is cleaned once more.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import nh3
from markdown_it import MarkdownIt

from sparingly.run.forms.guidelines import Guidelines

# A longer text is cut, and the page says so.
MOST_LETTERS = 100_000
# A longer text, or a larger table, is shown as it is written: reading it as Markdown would take seconds.
MOST_MARKDOWN, _MOST_CELLS = 20_000, 20_000
_TAGS = {
    "p", "br", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "h3", "h4", "h5",
    "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_TURN = re.compile(r"^(user|human|assistant|system|bot|model)\s*:[ \t]*", re.IGNORECASE | re.MULTILINE)
_SPEAKERS = {"human": "user", "bot": "assistant", "model": "assistant", "gpt": "assistant"}


@dataclass(frozen=True)
class DisplayText:
    """A text to show: as plain letters, and as HTML where it is Markdown."""

    plain: str  # the letters, each harmless
    html: str | None = None  # what to show in their place; None shows the letters
    left_out: int = 0  # how many letters at the end are not shown
    speaker: str = ""  # who says it, where it is a turn of a chat
    image: str = ""  # what an image is called in addresses; the letters say what it shows


def display_text(text: str | None, *, markdown: bool = False, speaker: str = "") -> DisplayText:
    """Return a text such that it can be shown."""
    full_text = text or ""
    plain = visible(full_text[:MOST_LETTERS])
    html = _markdown(plain) if markdown else None
    return DisplayText(plain, html, max(0, len(full_text) - MOST_LETTERS), speaker)


def visible(text: str) -> str:
    """Return a text in which every control character is seen; as many letters as before."""
    return text.translate(_symbols())


@cache
def _symbols() -> dict[int, str]:
    symbols = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    symbols |= dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
    symbols |= dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
    symbols[0x7F] = "\N{SYMBOL FOR DELETE}"
    # Embeddings, overrides and isolates; the marks of single letters (LRM, RLM) are ordinary in many texts.
    turning = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x206A, 0x2070))
    symbols |= dict.fromkeys(turning, "\N{RIGHTWARDS ARROW OVER LEFTWARDS ARROW}")
    symbols |= dict.fromkeys((0x2028, 0x2029, 0xFEFF), "\N{REPLACEMENT CHARACTER}")
    # Letters that are there and take no room: tags and invisible operators.
    symbols |= dict.fromkeys((0x200B, *range(0x2060, 0x2065), *range(0xE0000, 0xE0080)), "\N{OPEN BOX}")
    return symbols


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False}).enable("table")
    # Links and pictures stay as they are written: nothing leads away, and the address is seen.
    return reader.disable(["link", "image", "autolink", "reference", "html_block", "html_inline"])


@lru_cache(maxsize=512)
def _markdown(plain: str) -> str | None:
    """Return Markdown as clean HTML; None where reading it would take long."""
    lines = plain.split("\n")
    if len(plain) > MOST_MARKDOWN or len(lines) * max(line.count("|") for line in lines) > _MOST_CELLS:
        return None
    # Headings of an output stand below those of the page.
    html = re.sub(r"(</?h)([1-4])>", lambda match: f"{match[1]}{int(match[2]) + 2}>", _reader().render(plain))
    return nh3.clean(html, tags=_TAGS, attributes={}, link_rel=None)


@lru_cache(maxsize=64)
def guidelines_html(markdown: str) -> str:
    """Return what the organiser wrote as clean HTML; links open beside the page, and no script survives."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    html = re.sub(
        r"(</?h)([1-4])>", lambda match: f"{match[1]}{int(match[2]) + 2}>", reader.render(visible(markdown))
    )
    return nh3.clean(
        html,
        tags=_TAGS | {"a"},
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def turns(text: str | None) -> list[tuple[str, str]] | None:
    """Return the turns of a chat with their speakers, or None where a text is none.

    A chat is a JSON list of objects with a role and a content (or from and value), or lines that begin with
    ``User:`` and ``Assistant:``.
    """
    start = (text or "").lstrip()
    if not start.startswith("["):
        parts = _TURN.split(start)
        if len(parts) < 3 or parts[0].strip():
            return None
        return [(_speaker(parts[at]), parts[at + 1].strip()) for at in range(1, len(parts), 2)]
    try:
        values: Any = json.loads(start)
    except (ValueError, RecursionError):
        return None
    chat = []
    for value in values:
        if not isinstance(value, dict):
            return None
        speaker, content = value.get("role", value.get("from")), value.get("content", value.get("value"))
        if isinstance(content, list) and all(isinstance(part, dict) for part in content):
            content = "\n".join(map(_part_text, content))
        if not isinstance(speaker, str) or not isinstance(content, str):
            return None
        chat.append((_speaker(speaker), content))
    return chat or None


def _part_text(part: dict[str, Any]) -> str:
    """Return a part of a turn: its text, or its image as Markdown."""
    image = part.get("image_url", part.get("image"))
    path = image.get("url") if isinstance(image, dict) else image
    return f"![]({path})" if isinstance(path, str) else str(part.get("text", ""))


def _speaker(name: str) -> str:
    return _SPEAKERS.get(name.lower(), name.lower())[:40]


@dataclass(frozen=True)
class GuideView:
    """The guidelines as a page shows them: headings with their tone and HTML, and what is asked for.

    ``changed`` says that the rater has accepted an earlier version.
    """

    version: int
    title: str
    sections: tuple[tuple[str, str, str], ...]
    consent: str = ""
    details: tuple[str, ...] = ()
    changed: bool = False


def guide_view(
    guidelines: Guidelines, consent: bool = False, details: tuple[str, ...] = (), *, changed: bool = False
) -> GuideView:
    """Return guidelines to show, with the consent and the details that are still to be given."""
    return GuideView(
        guidelines.version,
        guidelines.title,
        tuple((part.heading, part.tone, guidelines_html(part.markdown)) for part in guidelines.sections),
        guidelines_html(guidelines.consent) if consent else "",
        details,
        changed,
    )


def storable(text: str) -> str:
    """Return a text without the letters that no database keeps and no page can show."""
    return re.sub("[\x00\ud800-\udfff]", "", text)
