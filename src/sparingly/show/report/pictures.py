"""Pictures inside a report: captions instead of titles, and the colours of the page, light or dark."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import one_line
from sparingly.show.figures.library import need_report
from sparingly.show.figures.save import drawable, vega_lite_version
from sparingly.show.report.document import Picture

if TYPE_CHECKING:
    from altair import VConcatChart

_ID = re.compile(r'\b(id="|url\(#|href="#)([^")]+)')

_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")')


def picture(name: str, chart: VConcatChart, words: str) -> Picture:
    """Return a chart as a part of a report; its title becomes the caption."""
    spec = chart.to_dict()
    inner = spec["vconcat"][0]
    title = inner.pop("title", {})
    spec.pop("title", None)
    spec.update(background=None, padding=4)
    caption = " – ".join(_joined(title.get(part)) for part in ("text", "subtitle") if title.get(part))
    return Picture(name, caption, words, spec)


def svg(held: Picture) -> str:
    """Return a picture as SVG to stand in a page; whose colours the style sheet of the page may change."""
    need_report()
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(drawable(dict(held.spec)), vl_version=vega_lite_version())
    # Names inside one picture must not be those of another on the same page, nor count earlier pictures.
    places: dict[str, int] = {}
    drawn = _ID.sub(lambda found: f"{found[1]}{held.name}-{places.setdefault(found[2], len(places))}", drawn)
    # The picture has a text as a whole; its parts have none.
    drawn = _ROLES.sub("", drawn)
    label = escape(one_line(held.words), quote=True)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _joined(text: Any) -> str:
    return " ".join(text) if isinstance(text, list) else str(text)
