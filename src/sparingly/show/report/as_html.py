"""A report as one page of HTML that needs nothing else: no script, no network, light and dark, on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from sparingly.base.errors import one_line
from sparingly.base.format import unbroken
from sparingly.base.summary import IntervalCell, interval_svg, scale_of
from sparingly.show.report.document import (
    BETTER,
    WORSE,
    Commands,
    Facts,
    Notes,
    Picture,
    ReportPart,
    Section,
    Table,
    Texts,
    Words,
    svg,
)
from sparingly.show.report.markup import pieces

# Which of two models is better, in a matrix.
# What a screen reader says of a column that shows a picture and has no name.
_UNSEEN = '<span class="unseen">picture</span>'
_SIGNS = {BETTER: " better", WORSE: " worse"}
# A matrix of more columns has small cells.
_MANY = 21
# Longer names are broken.
_LONGEST_NAME = 28
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
<nav aria-label="Sections"><ol>{contents}</ol></nav>
</header>
<main id="content">
{body}
</main>
<footer>Made by sparingly {version}.</footer>
</body>
</html>
"""


def html_page(title: str, lead: Sequence[str], sections: Sequence[Section], version: str) -> str:
    """Return the page; every text is escaped."""
    contents, body, in_appendix = [], [], False
    for section in sections:
        heading = f'<h2 id="{section.name}-title">{_text(section.title)}</h2>'
        opening = f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
        parts = "\n".join(map(_part, section.parts))
        if not section.appendix:
            contents.append(f'<li><a href="#{section.name}">{_text(section.title)}</a></li>')
            body.append("\n".join([opening, heading, parts, "</section>"]))
            continue
        if not in_appendix:
            contents.append('<li><a href="#appendix">Appendix</a></li>')
            body.append('<h2 id="appendix" class="appendix">Appendix: method and verification</h2>')
        in_appendix = True
        heading = heading.replace("h2", "h3")
        body.append(
            "\n".join([opening, f"<details><summary>{heading}</summary>", parts, "</details></section>"])
        )
    return _PAGE.format(
        title=_plain(title),
        style=resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8"),
        lead="\n".join(f"<p>{_text(sentence)}</p>" for sentence in lead),
        contents="".join(contents),
        body="\n".join(body),
        version=_plain(version),
    )


def _part(part: ReportPart) -> str:
    match part:
        case Words():
            opening = '<p class="important">' if part.important else "<p>"
            return f"{opening}{_text(part.text)}</p>"
        case Notes():
            return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in part.texts)}</ul>"
        case Facts():
            rows = "".join(
                f'<tr><th scope="row">{_text(name)}</th><td>{_text(value)}</td></tr>'
                for name, value in part.rows
            )
            caption = f"<caption>{_plain(part.caption)}</caption>"
            return f'<table class="facts">{caption}<tbody>{rows}</tbody></table>'
        case Table():
            return _table(part)
        case Texts():
            return _texts(part)
        case Commands():
            lines = "\n".join(map(_plain, part.lines))
            return f'<p class="label">{_text(part.caption)}</p>\n<pre>{lines}</pre>'
        case Picture():
            caption = f"<figcaption>{_plain(part.caption)}</figcaption>"
            return f'<figure><div class="drawn">{svg(part)}</div>{caption}</figure>'


def _table(table: Table) -> str:
    kinds = ["text" if place < table.texts else "number" for place in range(len(table.columns))]
    head = "".join(
        f'<th scope="col" class="{kind}">{_plain(name) or _UNSEEN}</th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    ends = {
        column: scale_of(row[column] for row in table.rows)
        for column in range(len(table.columns))
        if any(isinstance(row[column], IntervalCell) for row in table.rows)
    }
    rows = []
    for place, (first, *values) in enumerate(table.rows):
        long = ' class="long"' if len(str(first)) > _LONGEST_NAME else ""
        cells = [f'<th scope="row"{long}>{_plain(str(first))}</th>']
        for column, (value, kind) in enumerate(zip(values, kinds[1:], strict=True), 1):
            if isinstance(value, IntervalCell):
                cells.append(f'<td class="drawn">{interval_svg(value, ends[column])}</td>')
                continue
            style = " marked" if (place, column) in table.marked else ""
            style += _SIGNS.get(value, "") if table.signs else ""
            cells.append(f'<td class="{kind}{style}">{_plain(value)}</td>')
        opening = '<tr class="break">' if place in table.breaks else "<tr>"
        rows.append(f"{opening}{''.join(cells)}</tr>")
    body = "\n".join(rows)
    caption = _plain(table.caption)
    kind = "wide signs" if table.signs else "wide"
    kind += " many" if table.signs and len(table.columns) > _MANY else ""
    return (
        f'<div class="{kind}" role="region" aria-label="{caption}" tabindex="0">\n'
        f'<p class="more" aria-hidden="true">This table scrolls sideways →</p>'
        f"<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _texts(texts: Texts) -> str:
    above = "".join(f"<p><b>{_plain(name)}</b> {_plain(text)}</p>" for name, text in texts.above)
    cards = []
    for text in texts.texts:
        pieces_of = "".join(
            f"<mark>{_plain(piece)}</mark>" if is_marked and piece.strip() else _plain(piece)
            for piece, is_marked in text.pieces
        )
        remarks = "".join(f'<p class="remark">{_plain(remark)}</p>' for remark in text.remarks)
        head = f"<p><b>{_plain(text.name)}</b> <span>{_plain(text.score)}</span></p>"
        cards.append(f'<div class="card">{head}<p>{pieces_of}</p>{remarks}</div>')
    caption = f'<p class="label">{_plain(texts.caption)}</p>'
    return f'<div class="texts">{caption}{above}<div class="sides">{"".join(cards)}</div></div>'


def _text(text: str) -> str:
    """Return a text with its code spans."""
    # A percent sign stays with its number, and a p-value is not broken.
    return "".join(
        f"<code>{_plain(piece)}</code>" if is_code else _plain(unbroken(piece))
        for piece, is_code in pieces(text)
    )


def _plain(text: str) -> str:
    return escape(one_line(text), quote=True)
