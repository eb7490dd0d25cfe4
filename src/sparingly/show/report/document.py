"""What a report is made of, whatever it is written as: sections of sentences, facts, tables and pictures.

Sentences, notes and facts may hold code spans (see ``markup.code``), and no other markup; captions and cells
hold none. Every writer escapes the rest for its language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    """A table whose first column names its rows.

    Attributes:
        caption: What it shows.
        columns: The heads of the columns.
        rows: The cells.
        texts: How many columns, from the left, hold texts; the others are numbers.
        breaks: Rows above which a rule is drawn.
        marked: Cells that stand out, by row and column.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    breaks: frozenset[int] = frozenset()
    marked: frozenset[tuple[int, int]] = frozenset()


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


Part = Words | Notes | Facts | Table | Picture | Commands


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading; ``name`` is its anchor."""

    name: str
    title: str
    parts: tuple[Part, ...]
