"""Marked errors: spans of a text, their penalties, and the forms ``spans``, ``esa`` and ``mqm``.

A span counts code points, the end not included, whatever the tool counts in.

JavaScript counts UTF-16 units, in which a letter beyond the basic plane (an emoji, say) is two; some tools
include the last letter. Both are turned into our spans where they come in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.forms.form import Form, FormKind, Place

# Points off per error, as in MQM (Freitag et al. 2021, table 4) without its special cases.
PENALTIES: Mapping[str, float] = MappingProxyType(
    {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
)
# What people can mark on our pages.
SEVERITIES = tuple(severity for severity, points in PENALTIES.items() if points)
_BASIC_PLANE = 0xFFFF
_MOST_SPANS, _LONGEST_COMMENT = 200, 500


@dataclass(frozen=True, order=True)
class Span:
    """A part of an output that a rater marked."""

    start: int  # the first code point, from 0
    end: int  # the code point after the last one
    severity: str = "minor"  # how bad it is: ``minor``, ``major``, ``critical`` or a tool's own word
    category: str = ""  # what kind of error it is; empty where nobody said
    in_source: bool = False  # whether it is a part of the source that the output leaves out, counted there
    comment: str = ""  # what the rater said of it

    def to_dict(self) -> dict[str, Any]:
        """Return the span as plain values, without what is empty."""
        return {
            name: value for name, value in vars(self).items() if value or name in ("start", "end", "severity")
        }


def from_utf16(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the code points of a span in UTF-16 units; one that cuts a letter in half is an error."""
    units = [0, *accumulate(2 if ord(letter) > _BASIC_PLANE else 1 for letter in text)]
    places = {unit: place for place, unit in enumerate(units)}
    if start not in places or end not in places:
        raise DataError(f"The span {start} to {end} is outside the text or cuts a letter in half.")
    return places[start], places[end]


def penalty(spans: Iterable[Span], points: Mapping[str, float] = PENALTIES) -> float:
    """Return the points that marked errors cost, Σ of their severities; one without points is an error."""
    severities = [span.severity.lower() for span in spans]
    for severity in severities:
        if severity not in points:
            raise DataError(f'The severity "{severity}" has no points. There are: {", ".join(points)}.')
    return sum(points[severity] for severity in severities)


def checked_spans(
    values: Sequence[Mapping[str, Any]],
    text: str | None,
    categories: Collection[str] = (),
    *,
    source: str | None = None,
    severities: Collection[str] = SEVERITIES,
) -> tuple[Span, ...]:
    """Return marked errors in order, or raise UsageError where one is not within the output or the source.

    Where there are categories, every error has one of them.
    """
    if len(values) > _MOST_SPANS:
        raise UsageError(f"At most {_MOST_SPANS} errors are marked in one output.")
    spans = sorted(
        Span(
            _as_count(mark.get("start")),
            _as_count(mark.get("end")),
            str(mark.get("severity")),
            str(mark.get("category") or "") if categories else "",
            mark.get("in_source") is True,
            str(mark.get("comment") or "")[:_LONGEST_COMMENT].strip(),
        )
        for mark in values
    )
    for span in spans:
        if span.severity not in severities:
            raise UsageError(f"An error is {', '.join(severities)}, not {span.severity[:40]}.")
        if categories and span.category not in categories:
            raise UsageError("Give every marked error a category.")
        letters = len((source if span.in_source else text) or "")
        if not 0 <= span.start < span.end <= letters:
            raise UsageError(f"An error from {span.start} to {span.end} is not within {letters} letters.")
    return tuple(spans)


def _as_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError("An error starts and ends at a whole number of letters.")
    return value


@register("spans")
class SpansForm(Form):
    """Errors marked in each output, with scores beside them where aspects are named."""

    summary: ClassVar[str] = "errors marked in each output"
    answers: ClassVar[FormKind] = "spans"
    places: ClassVar[tuple[Place, ...]] = ("files",)
    title: ClassVar[str] = "Mark the errors in each output, and say how good it is"
    template: ClassVar[str] = "rater/forms/spans.html"

    def __init__(self, points: Mapping[str, float] = PENALTIES) -> None:
        """Mark errors of these severities, with the points that each costs."""
        self.points = points

    @property
    def severities(self) -> tuple[str, ...]:
        """What people can mark: every severity that costs points."""
        return tuple(severity for severity, cost in self.points.items() if cost)


@register("esa")
class EsaForm(SpansForm):
    """Error span annotation (Kocmi et al. 2024): errors are marked, then each output is scored."""

    summary: ClassVar[str] = "errors marked in each output, and a score"
    places: ClassVar[tuple[Place, ...]] = ("pages",)


@register("mqm")
class MqmForm(SpansForm):
    """Errors are marked, and their points taken off the best score (Freitag et al. 2021)."""

    summary: ClassVar[str] = "errors marked in each output; the score is the best one less their points"
    title: ClassVar[str] = "Mark the errors in each output"
    places: ClassVar[tuple[Place, ...]] = ("pages",)

    def check(self, aspects: Collection[str]) -> None:
        """Raise UsageError unless there is one aspect."""
        if len(aspects) != 1:
            raise UsageError("The form mqm makes one score of the errors: use it with a single aspect.")

    def field(self, scale: Scale) -> None:
        """Return nothing: the marked errors are the answer."""

    def score(
        self, values: Mapping[str, float], aspect: str, scale: Scale | None, spans: tuple[Span, ...]
    ) -> float:
        """Return the points of all errors, taken off the best score."""
        points = penalty(spans, self.points)
        return 0.0 - points if scale is None else max(scale.low, scale.high - points)
