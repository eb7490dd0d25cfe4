"""What a rater sends, from a form or as JSON, and the answers that it stands for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import UsageError
from sparingly.run.campaign.answers import Answer
from sparingly.run.campaign.board import Page
from sparingly.run.campaign.marks import Mark, checked_marks, penalty
from sparingly.run.campaign.settings import Settings
from sparingly.show.web.rater.cards import Card
from sparingly.show.web.web import Form

MARKING: tuple[Form, ...] = ("esa", "mqm")
# Nobody looks at one page for longer without a break.
MOST_SECONDS = 3600.0
MOST_COMMENT = 10_000
_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,64}")
_FIELD = re.compile(r"(score|marks|comment):([0-9a-f]{32})(?::(\d{1,3}))?")


@dataclass
class GivenMark:
    """An error: from which letter (code point) to before which, and how bad it is."""

    start: int
    end: int
    severity: str


@dataclass
class GivenCard:
    """What is said of an output; of two, 1 where the first is better, -1 where the second is, 0 for a tie."""

    output: str
    scores: dict[str, float] = field(default_factory=dict)
    marks: list[GivenMark] = field(default_factory=list)
    comment: str | None = None


@dataclass
class GivenPage:
    """What is said of a page; ``client`` names this answer, so that sending it again changes nothing."""

    page: str
    client: str
    cards: list[GivenCard]
    seconds: float | None = None


def from_form(page: str, values: Mapping[str, Any], aspects: Sequence[str]) -> GivenPage:
    """Read what a form sends; fields that were left empty are not there."""
    cards: dict[str, GivenCard] = {}
    for name, value in values.items():
        found = _FIELD.fullmatch(name)
        if found is None or not isinstance(value, str) or not value.strip():
            continue
        kind, handle, place = found.groups()
        card = cards.setdefault(handle, GivenCard(handle))
        if kind == "score" and place is not None and int(place) < len(aspects):
            card.scores[aspects[int(place)]] = number_of(value)
        elif kind == "marks":
            card.marks = _marks_of(value)
        elif kind == "comment":
            card.comment = value
    seconds = values.get("seconds")
    return GivenPage(
        page, str(values.get("client", "")), list(cards.values()), number_of(seconds) if seconds else None
    )


def judged(
    given: GivenPage, page: Page, cards: Sequence[Card], rater: str, form: Form, settings: Settings
) -> list[Answer]:
    """Return the answers of a page that was filled in, or say what is missing or wrong."""
    if not cards:
        raise UsageError("There is nothing to judge on this page any more. Load the page again.")
    if not _CLIENT.fullmatch(given.client):
        raise UsageError("The answer needs a client: an id of 8 to 64 letters, digits, - and _.")
    said, asked = {card.output: card for card in given.cards}, {card.handle for card in cards}
    if set(said) - asked:
        raise UsageError("What is asked on this page has changed. Look at it again, then send it.")
    if set(said) != asked or len(said) != len(given.cards):
        raise UsageError("Judge every output on the page.")
    answers: list[Answer] = []
    for card in cards:
        found = _marks(said[card.handle], card, form)
        for place, aspect in enumerate(settings.aspects):
            score = _score(said[card.handle], card, aspect, form, settings, found)
            for cell, sign in card.cells:
                about: dict[str, Any] = (
                    {"pair": (cell.model, cell.other)} if cell.other else {"model": cell.model}
                )
                answers.append(
                    Answer(
                        rater=rater,
                        item=page.item,
                        score=sign * score + 0.0,
                        **about,
                        aspect=aspect,
                        data=page.data,
                        comment=_comment(said[card.handle].comment) if place == 0 else None,
                        client=given.client,
                        marks=found if place == 0 else None,
                    )
                )
    return _timed(answers, given.seconds)


def _timed(answers: list[Answer], seconds: float | None) -> list[Answer]:
    """Divide the time spent on a page over its answers: their sum is what is paid for."""
    if seconds is None or not math.isfinite(seconds):
        return answers
    each = round(min(max(seconds, 0.0), MOST_SECONDS) / len(answers), 3)
    return [Answer(**{**vars(answer), "seconds": each}) for answer in answers]


def _marks(given: GivenCard, card: Card, form: Form) -> tuple[Mark, ...] | None:
    if card.is_pair or form not in MARKING:
        return None
    return checked_marks([vars(mark) for mark in given.marks], card.texts[0])


def _score(
    given: GivenCard, card: Card, aspect: str, form: Form, settings: Settings, marks: tuple[Mark, ...] | None
) -> float:
    ends = settings.aspects[aspect]
    if form == "mqm" and marks is not None:
        # Freitag et al. 2021: the points of all errors, taken off the best score.
        return -penalty(marks) if ends is None else max(ends[0], ends[1] - penalty(marks))
    score = given.scores.get(aspect)
    if score is None:
        raise UsageError("Judge every output on the page.")
    if card.is_pair and score not in (-1.0, 0.0, 1.0):
        raise UsageError("Of two outputs the first is better (1), the second (-1), or neither (0).")
    return score


def _comment(text: str | None) -> str | None:
    """Return a comment that any database keeps."""
    kept = re.sub("[\x00\ud800-\udfff]", "", text or "").strip()[:MOST_COMMENT]
    return kept or None


def number_of(value: Any) -> float:
    """Return a number from a form; a comma may stand for the point."""
    try:
        number = float(str(value).strip().replace(",", "."))
    except ValueError:
        raise UsageError(f'"{str(value)[:40]}" is not a number.') from None
    if not math.isfinite(number):
        raise UsageError("A score is a finite number.")
    return number


def _marks_of(text: str) -> list[GivenMark]:
    try:
        values = json.loads(text)
        return [GivenMark(**value) for value in values]
    except (ValueError, TypeError, RecursionError):
        raise UsageError("The marked errors cannot be read. Load the page again.") from None
