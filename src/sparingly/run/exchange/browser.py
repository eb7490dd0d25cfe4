"""What tools that live in a browser do to names and texts, and how to undo it.

Their pages put names into HTML as they are and count text in UTF-16 units, where a letter beyond the basic
plane is two; a mark may begin in the middle of such a letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sparingly.run.exchange.files import place_in
from sparingly.run.exchange.reading import Reading, Submission
from sparingly.run.forms.question import Question
from sparingly.run.forms.spans import Span

# The category of a mark for something that is not in the text at all.
MISSING = "missing"
# What JavaScript's trim takes away.
SPACES = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_UNSAFE = re.compile(r"[^\w-]+")
_IN_LINKS = re.compile(r"[A-Za-z0-9._~-]+")


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Return a name of letters, digits and underscores for every name, in order, no two alike."""
    plain_by_name: dict[str, str] = {}
    for name in names:
        plain = stem = _UNSAFE.sub("_", name).strip("_") or "aspect"
        count = 1
        while plain in plain_by_name.values():
            count += 1
            plain = f"{stem}_{count}"
        plain_by_name[name] = plain
    return plain_by_name


def fits_link(name: str) -> bool:
    """Say whether a name can stand in the address of a page as it is."""
    return _IN_LINKS.fullmatch(name) is not None


def whole_letters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the code points that a span in UTF-16 units touches; letters cut in half are taken whole."""
    encoded = _encoded(text)
    prefix, through = encoded[: 2 * start], encoded[: 2 * end]
    return len(prefix.decode("utf-16-le", "ignore")), len(through.decode("utf-16-le", "replace"))


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(_encoded(text)) // 2


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def marked_span(mark: Mapping[str, Any], text: str, severity: str, category: str) -> Span | None:
    """Return an error as Pearmut and Appraise write it (``end_i`` is the last letter), or None.

    A mark on ``[missing]`` stands behind the text, or says ``missing`` instead of numbers. It has no place of
    its own, so it sits on the last letter.
    """
    start, last = place_in(mark.get("start_i")), place_in(mark.get("end_i"))
    length = units(text)
    if mark.get("start_i") == MISSING:
        start = last = length
    if start is None or last is None or last < start:
        return None
    if start >= length:
        return Span(max(0, len(text) - 1), len(text), severity, MISSING)
    return Span(*whole_letters(text, start, min(last + 1, length)), severity, category)


def take_marks(
    reading: Reading,
    question: Question,
    token: str,
    spans: Sequence[Span],
    submission: Submission,
    scores: Mapping[str, Any],
) -> None:
    """Take marks with scores beside them; what is missing from an empty output has points, but no place."""
    in_text = [span for span in spans if span.start < span.end]
    if len(in_text) == len(spans) or reading.key.aspects:
        reading.spans(question, token, in_text, submission, scores)
    else:
        reading.points(question, token, spans, submission)
