"""Guidelines: what raters read first, one Markdown text in which a few headings have a meaning.

``# …`` is the title: the question on every page. ``## Scale`` gives words for scores (``- 33: some meaning is
lost``), ``## Scale: fluency`` for one aspect. ``## Consent`` is to be accepted once, and each line of
``## About you`` asks for a detail. ``## Categories`` is a nested list of kinds of errors, ``## Severities``
says what each costs (``- major: 5``). Every other section is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.data.scale import Ends

MOST_LETTERS, _MOST_DETAILS, _MOST_SEVERITIES = 100_000, 20, 9
_LINE = re.compile(r"\s*[-*+]\s+(?P<score>[-+]?\d+(?:[.,]\d+)?)\s*[:=]\s*(?P<words>\S.*)")
_POINTS = re.compile(r"\s*[-*+]\s+(?P<name>[a-z][a-z0-9_-]{0,29})\s*[:=]\s*(?P<points>\d+(?:[.,]\d+)?)\s*")
_DETAIL = re.compile(r"\s*[-*+]\s+(?P<words>\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True)
class GuidelineSection:
    """A part of the instructions: its heading (empty before the first one) and its Markdown."""

    heading: str
    markdown: str

    @property
    def tone(self) -> str:
        """``good`` or ``bad`` for an example of that kind, by the first word of its heading."""
        first = self.heading.split(" ")[0].lower()
        return first if first in ("good", "bad") else ""


@dataclass(frozen=True)
class Guidelines:
    """What raters are told."""

    title: str = ""  # the question, in a line
    sections: tuple[GuidelineSection, ...] = ()  # the instructions
    # Words for scores, by aspect; under the empty name those for every aspect.
    anchors: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    consent: str = ""  # what must be accepted once, in Markdown
    details: tuple[str, ...] = ()  # what raters are asked about themselves
    categories: tuple[str, ...] = ()  # the kinds of errors, each with those above it: ``Accuracy / Omission``
    # How bad an error may be, with the points that it costs; empty for minor, major and critical.
    severities: Mapping[str, float] = field(default_factory=dict)
    text: str = ""  # the whole text as it was written
    version: int = 0  # its number in the campaign, from 1; 0 outside of one

    @classmethod
    def parse(cls, text: str, version: int = 0) -> Guidelines:
        """Read guidelines, or raise InputError with the line that cannot be read."""
        if not text.strip():
            raise InputError("the guidelines are empty", fix="Begin with a title: # How good is it?")
        if len(text) > MOST_LETTERS:
            raise InputError(f"the guidelines have more than {MOST_LETTERS:,} letters", fix="Shorten them")
        title, consent = "", ""
        anchors: dict[str, dict[float, str]] = {}
        details: list[str] = []
        sections: list[GuidelineSection] = []
        categories: tuple[str, ...] = ()
        severities: dict[str, float] = {}
        single = set[tuple[str, str]]()
        for line, heading, lines in _parts(text):
            name, _, aspect = heading.partition(":")
            kind = name.strip().lower()
            if kind in ("scale", "categories", "consent", "severities"):
                if (kind, aspect.strip()) in single:
                    raise InputError(f'the section "{heading}" is there twice', line=line, fix="Join them")
                single.add((kind, aspect.strip()))
            if line and not heading:
                title = lines.pop(0)
            if kind == "scale":
                anchors[aspect.strip()] = _anchors(lines, line + 1)
            elif kind == "categories":
                categories = _categories(lines, line + 1)
            elif kind == "severities":
                severities = _severities(lines, line + 1)
            elif kind == "consent":
                consent = "\n".join(lines).strip()
            elif kind == "about you":
                details += [match["words"].strip() for row in lines if (match := _DETAIL.fullmatch(row))]
            elif any(row.strip() for row in lines) or heading:
                sections.append(GuidelineSection(heading, "\n".join(lines).strip("\n")))
        if len(details) > _MOST_DETAILS or len(set(details)) < len(details):
            raise InputError(
                f"raters are asked for at most {_MOST_DETAILS} details, each once", field="About you"
            )
        return cls(
            title, tuple(sections), anchors, consent, tuple(details), categories, severities, text, version
        )

    def check(self, scales: Mapping[str, Ends | None]) -> None:
        """Raise an error where words are for an unknown aspect, or for a score outside its scale."""
        for aspect, words in self.anchors.items():
            if aspect and aspect not in scales:
                raise UnknownNameError("aspect", aspect, scales)
            for name in [aspect] if aspect else scales:
                ends = scales[name]
                for score in words:
                    if ends is not None and not ends[0] <= score <= ends[1]:
                        raise InputError(
                            f"the scale of {name} goes from {ends[0]:g} to {ends[1]:g}, and has no {score:g}",
                            field="Scale",
                        )

    def words(self, aspect: str) -> Mapping[float, str]:
        """Return the words for scores of an aspect."""
        return self.anchors.get(aspect, self.anchors.get("", {}))


def _parts(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the title's part (no heading) and the sections, each with its line and the lines below it.

    The first line of the title's part is the title; a number of 0 says that there is none.
    """
    number, heading, lines, fenced = 0, "", list[str](), False
    titled = False
    for at, row in enumerate(text.splitlines(), 1):
        if _FENCE.match(row):
            fenced = not fenced
        if not fenced and not titled and row.startswith("# "):
            if number or any(line.strip() for line in lines):
                yield number, heading, lines
            titled, number, heading, lines = True, at, "", [row[2:].strip()]
        elif not fenced and row.startswith("## "):
            yield number, heading, lines
            number, heading, lines = at, row[3:].strip(" #"), []
        else:
            lines.append(row)
    yield number, heading, lines


def _severities(lines: list[str], first: int) -> dict[str, float]:
    """Return the points of each severity, in the order of the list, which is that of the keys."""
    points: dict[str, float] = {}
    problem, fix = "is no severity with its points", "Write: - major: 5"
    for number, match in _entries(lines, first, _POINTS, problem, fix):
        if match["name"] in points:
            raise InputError(
                f'the severity "{match["name"]}" is there twice', line=number, fix="Name it once"
            )
        points[match["name"]] = float(match["points"].replace(",", "."))
    if len(points) > _MOST_SEVERITIES:
        raise InputError(f"there are more than {_MOST_SEVERITIES} severities", line=first, fix="Join some")
    return points


def _categories(lines: list[str], first: int) -> tuple[str, ...]:
    """Return the leaves of a nested list, each with the names above it."""
    path: list[tuple[int, str]] = []
    found: list[tuple[str, ...]] = []
    problem, fix = "is no category", "Write: - Accuracy, and below it, indented: - Omission"
    for number, match in _entries([row.expandtabs(4) for row in lines], first, _DETAIL, problem, fix):
        depth, name = len(match.string) - len(match.string.lstrip()), match["words"].strip()
        while path and path[-1][0] >= depth:
            path.pop()
        names = (*(above for _, above in path), name)
        if name in names[:-1] or names in found:
            raise InputError(f'the category "{name}" is there twice', line=number, fix="Name it once")
        # A category with others below it only gathers them.
        if found and found[-1] == names[:-1]:
            found.pop()
        found.append(names)
        path.append((depth, name))
    return tuple(" / ".join(names) for names in found)


def _anchors(lines: list[str], first: int) -> dict[float, str]:
    entries = _entries(lines, first, _LINE, "gives no words for a score", "Write: - 33: some meaning")
    return {float(match["score"].replace(",", ".")): match["words"].strip() for _, match in entries}


def _entries(
    lines: list[str], first: int, entry: re.Pattern[str], problem: str, fix: str
) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the entries of a list with their lines, or raise InputError for a line that is none."""
    for number, row in enumerate(lines, first):
        if (match := entry.fullmatch(row)) is not None:
            yield number, match
        elif row.strip():
            raise InputError(f'"{row.strip()[:60]}" {problem}', line=number, fix=fix)
