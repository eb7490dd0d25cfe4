"""A report as one slide, SVG or PNG: the answer, the scores with their intervals, what they rest on."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from sparingly.base.errors import one_line
from sparingly.base.summary import IntervalCell, scale_of
from sparingly.show.figures.look import BLUE, FONT, GREY
from sparingly.show.report.document import Table

WIDTH, HEIGHT = 1280, 720
_LEFT, _ROW, _MOST_ROWS = 64, 36, 10
_LINE_LETTERS = 92


def slide(title: str, lead: Sequence[str], scores: Table, version: str) -> str:
    """Return the slide as SVG; ``scores`` is the table of the report that has the models in order."""
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', _text(_LEFT, 80, title, 34, bold=True)]
    y = 124
    for line in textwrap.wrap(_plain(lead[0]), _LINE_LETTERS)[:4]:
        parts.append(_text(_LEFT, y, line, 22))
        y += 32
    y += 26
    cell_at = next(at for at, cell in enumerate(scores.rows[0]) if isinstance(cell, IntervalCell))
    low, high = scale_of(row[cell_at] for row in scores.rows)
    left, right = 640, WIDTH - _LEFT
    # What is left between the answer and the last line is for the models.
    room = min(_MOST_ROWS, int((HEIGHT - 84 - y) // _ROW))
    for row in scores.rows[:room]:
        name, score, cell = str(row[0]), str(row[1]), row[cell_at]
        parts.append(_text(_LEFT, y, name if len(name) <= 30 else f"{name[:14]}…{name[-15:]}", 20))
        parts.append(_text(600, y, score, 20, anchor="end"))
        if isinstance(cell, IntervalCell) and cell.value == cell.value:
            start, value, end = (
                left + ((part if part == part else cell.value) - low) / (high - low) * (right - left)
                for part in cell
            )
            parts.append(
                f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y - 7}" y2="{y - 7}" stroke="{BLUE}" '
                'stroke-width="4" stroke-linecap="round"/>'
            )
            parts.append(f'<circle cx="{value:.1f}" cy="{y - 7}" r="8" fill="{BLUE}"/>')
        y += _ROW
    if (hidden := len(scores.rows) - room) > 0:
        parts.append(_text(_LEFT, y, f"… and {hidden} more", 18, colour=GREY))
    foot = f"{_plain(lead[1])} {scores.caption}. sparingly {version}"
    parts += [
        _text(_LEFT, HEIGHT - 52 + 22 * at, line, 16, colour="#555555")
        for at, line in enumerate(textwrap.wrap(foot, 140)[:2])
    ]
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
    head = f'{opening}height="{HEIGHT}" font-family="{FONT}"><title>{escape(one_line(title))}</title>'
    return f"{head}{''.join(parts)}</svg>\n"


def png(svg: str) -> bytes:
    """Return a slide as PNG, twice as fine as it is large."""
    from sparingly.show.figures.look import need_report

    need_report()
    import vl_convert

    return vl_convert.svg_to_png(svg, scale=2.0)


def _plain(text: str) -> str:
    return one_line(text).replace("`", "")


def _text(
    x: int,
    y: int,
    text: str,
    size: int,
    *,
    bold: bool = False,
    anchor: str = "start",
    colour: str = "#1c1e21",
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    attributes = f'x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}'
    return f"<text {attributes}>{escape(one_line(text))}</text>"
