"""Spans of a text: code points, the end not included, whatever the tool counts in.

JavaScript counts UTF-16 units, in which a letter beyond the basic plane (an emoji, say) is two; some tools
include the last letter. Both are turned into our spans where they come in, and back where they go out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sparingly.base.errors import DataError

# Points off per error, as in MQM (Freitag et al. 2021, table 4) without its special cases.
PENALTIES: Mapping[str, float] = MappingProxyType(
    {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
)
_BASIC_PLANE = 0xFFFF


@dataclass(frozen=True, order=True)
class Span:
    """A part of an output that a rater marked.

    Attributes:
        start: The first code point, from 0.
        end: The code point after the last one.
        severity: How bad it is: ``minor``, ``major``, ``critical`` or a tool's own word.
        category: What kind of error it is; empty where nobody said.
    """

    start: int
    end: int
    severity: str = "minor"
    category: str = ""

    def within(self, text: str) -> Span:
        """Return the span, or complain that it does not lie in the text."""
        if not 0 <= self.start < self.end <= len(text):
            raise DataError(f"The span {self.start} to {self.end} is outside a text of {len(text)} letters.")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the span as plain values."""
        return {
            "start": self.start,
            "end": self.end,
            "severity": self.severity,
            **({"category": self.category} if self.category else {}),
        }


def from_utf16(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the code points of a span in UTF-16 units; one that cuts a letter in half is an error."""
    places = {unit: place for place, unit in enumerate(_units(text))}
    if start not in places or end not in places:
        raise DataError(f"The span {start} to {end} is outside the text or cuts a letter in half.")
    return places[start], places[end]


def to_utf16(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the UTF-16 units of a span in code points."""
    units = _units(text)
    return units[start], units[end]


def from_inclusive(start: int, last: int) -> tuple[int, int]:
    """Return a span whose end is not included from one whose last letter is."""
    return start, last + 1


def to_inclusive(start: int, end: int) -> tuple[int, int]:
    """Return a span whose last letter is included."""
    return start, end - 1


def penalty(spans: Iterable[Span], penalties: Mapping[str, float] = PENALTIES) -> float:
    """Return minus the points of all errors, so that higher is better; a severity without points is an error.

    Decides how many points an output loses where raters mark errors and give no score.
    """
    found = [span.severity.lower() for span in spans]
    for severity in found:
        if severity not in penalties:
            raise DataError(f'The severity "{severity}" has no points. There are: {", ".join(penalties)}.')
    return 0.0 - sum(penalties[severity] for severity in found)


def _units(text: str) -> list[int]:
    """Return where every letter begins in UTF-16 units, and where the text ends."""
    places, at = [0], 0
    for letter in text:
        at += 2 if ord(letter) > _BASIC_PLANE else 1
        places.append(at)
    return places
