"""A report as one page of HTML that needs nothing else: no script, no network, light and dark, on paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from importlib import resources

from sparingly.base.errors import one_line
from sparingly.show.report.document import Commands, Facts, Notes, Part, Picture, Section, Table, Words, svg
from sparingly.show.report.markup import pieces

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the report</a>
<header>
<h1>{title}</h1>
{lead}
</header>
<nav aria-label="Sections"><ol>{contents}</ol></nav>
<main id="content">
{body}
</main>
<footer>Made by sparingly {version}.</footer>
</body>
</html>
"""


def html_page(title: str, lead: Sequence[str], sections: Sequence[Section], version: str) -> str:
    """Return the page; every text is escaped."""
    entries = (f'<li><a href="#{section.name}">{_text(section.title)}</a></li>' for section in sections)
    return _PAGE.format(
        title=_plain(title),
        style=resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8"),
        lead="\n".join(f"<p>{_text(sentence)}</p>" for sentence in lead),
        contents="".join(entries),
        body="\n".join(map(_section, sections)),
        version=_plain(version),
    )


def _section(section: Section) -> str:
    inside = "\n".join(map(_part, section.parts))
    heading = f'<h2 id="{section.name}-title">{_text(section.title)}</h2>'
    opening = f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
    return f"{opening}\n{heading}\n{inside}\n</section>"


@singledispatch
def _part(part: Part) -> str:
    raise TypeError(f"A report has no part of the kind {type(part).__name__}.")


@_part.register
def _(part: Words) -> str:
    opening = '<p class="important">' if part.important else "<p>"
    return f"{opening}{_text(part.text)}</p>"


@_part.register
def _(part: Notes) -> str:
    return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in part.texts)}</ul>"


@_part.register
def _(part: Facts) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_text(name)}</th><td>{_text(value)}</td></tr>' for name, value in part.rows
    )
    return f'<table class="facts"><caption>{_plain(part.caption)}</caption><tbody>{rows}</tbody></table>'


@_part.register
def _(part: Table) -> str:
    kinds = ["text" if place < part.texts else "number" for place in range(len(part.columns))]
    head = "".join(
        f'<th scope="col" class="{kind}">{_plain(name)}</th>'
        for name, kind in zip(part.columns, kinds, strict=True)
    )
    body = "\n".join(_row(part, place, kinds) for place in range(len(part.rows)))
    caption = _plain(part.caption)
    label = escape(one_line(part.caption), quote=True)
    opening = f'<div class="wide" role="region" aria-label="{label}" tabindex="0">'
    return (
        f"{opening}\n<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(table: Table, place: int, kinds: Sequence[str]) -> str:
    first, *values = table.rows[place]
    cells = [f'<th scope="row">{_plain(first)}</th>']
    for column, (value, kind) in enumerate(zip(values, kinds[1:], strict=True), 1):
        style = " marked" if (place, column) in table.marked else ""
        cells.append(f'<td class="{kind}{style}">{_plain(value)}</td>')
    opening = '<tr class="break">' if place in table.breaks else "<tr>"
    return f"{opening}{''.join(cells)}</tr>"


@_part.register
def _(part: Picture) -> str:
    caption = f"<figcaption>{_plain(part.caption)}</figcaption>"
    return f'<figure><div class="drawn">{svg(part)}</div>{caption}</figure>'


@_part.register
def _(part: Commands) -> str:
    lines = "\n".join(map(_plain, part.lines))
    return f'<p class="label">{_text(part.caption)}</p>\n<pre>{lines}</pre>'


def _text(text: str) -> str:
    """Return a text with its code spans."""
    # A percent sign stays with its number.
    return "".join(
        f"<code>{_plain(piece)}</code>" if is_code else _plain(piece).replace(" %", "\u00a0%")
        for piece, is_code in pieces(text)
    )


def _plain(text: str) -> str:
    return escape(one_line(text), quote=True)
