"""What a report is made of, whatever it is written as: sections of sentences, facts, tables and pictures.

Sentences, notes and facts may hold code spans (see ``markup.code``), and no other markup; captions and cells
hold none. Every writer escapes the rest for its language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import one_line
from sparingly.base.summary import Cell, IntervalCell
from sparingly.show.figures.look import need_report
from sparingly.show.figures.save import drawable, vega_lite_version

if TYPE_CHECKING:
    from altair import VConcatChart


# What a model is beside another, in a matrix.
BETTER, WORSE, OPEN = "▲", "▼", "·"


@dataclass(frozen=True)
class Words:
    """A paragraph; one that must not be overlooked is ``important``."""

    text: str
    important: bool = False


@dataclass(frozen=True)
class Notes:
    """Sentences, one below the other."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    caption: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows."""

    caption: str  # what it shows
    columns: tuple[str, ...]  # the heads of the columns
    rows: tuple[tuple[Cell, ...], ...]  # the cells
    texts: int = 1  # how many columns, from the left, hold texts; the others are numbers
    breaks: frozenset[int] = frozenset()  # rows above which a rule is drawn
    marked: frozenset[tuple[int, int]] = frozenset()  # cells that stand out, by row and column
    signs: bool = False  # whether it is a matrix of signs, which needs little room

    @property
    def in_letters(self) -> Table:
        """The table without what is drawn, for texts."""
        pictures = {at for row in self.rows for at, cell in enumerate(row) if isinstance(cell, IntervalCell)}
        places = [at for at in range(len(self.columns)) if at not in pictures]
        rows = tuple(tuple(str(row[at]) for at in places) for row in self.rows)
        marked = frozenset((row, places.index(at)) for row, at in self.marked)
        return replace(self, columns=tuple(self.columns[at] for at in places), rows=rows, marked=marked)


@dataclass(frozen=True)
class Text:
    """An output: whose, its score, its text in pieces (marked where it differs), and what was said of it."""

    name: str
    score: str
    pieces: tuple[tuple[str, bool], ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """Outputs for one item side by side; ``above`` holds what they were made from, by its name."""

    caption: str
    above: tuple[tuple[str, str], ...]
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Picture:
    """A picture as Vega-Lite, with what it shows in words for those who cannot see it."""

    name: str
    caption: str
    words: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Commands:
    """Lines to be typed or compared, letter by letter."""

    caption: str
    lines: tuple[str, ...]


ReportPart = Words | Notes | Facts | Table | Texts | Picture | Commands


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading; ``name`` is its anchor. Those of the appendix are folded."""

    name: str
    title: str
    parts: tuple[ReportPart, ...]
    appendix: bool = False


_ID = re.compile(r'\b(id="|url\(#|href="#)([^")]+)')
_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")')


def picture(name: str, chart: VConcatChart, words: str) -> Picture:
    """Return a chart as a part of a report; its title becomes the caption."""
    spec = chart.to_dict()
    inner = spec["vconcat"][0]
    title = inner.pop("title", {})
    spec.pop("title", None)
    # The font of the page may be wider than that of the layout, and names stand to the left.
    spec.update(background=None, padding={"left": 34, "right": 12, "top": 4, "bottom": 4})
    texts = [title[part] for part in ("text", "subtitle") if title.get(part)]
    caption = " – ".join(" ".join(text) if isinstance(text, list) else str(text) for text in texts)
    return Picture(name, caption, words, spec)


def svg(image: Picture) -> str:
    """Return a picture as SVG to stand in a page; whose colours the style sheet of the page may change."""
    need_report()
    import vl_convert

    text = vl_convert.vegalite_to_svg(drawable(dict(image.spec)), vl_version=vega_lite_version())
    # Names inside one picture must not be those of another on the same page, nor count earlier pictures.
    places: dict[str, int] = {}
    text = _ID.sub(lambda match: f"{match[1]}{image.name}-{places.setdefault(match[2], len(places))}", text)
    # The picture has a text as a whole; its parts have none.
    text = _ROLES.sub("", text)
    label = escape(one_line(image.words), quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
