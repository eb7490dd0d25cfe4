"""What a page for raters shows: source, context, outputs, fields; no model, metric, others' answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.run.campaign.answers import SEVERITIES
from sparingly.run.campaign.rater_pages import Page
from sparingly.show.web.rater.cards import Card, cards_of
from sparingly.show.web.rater.queue import Desk, Progress
from sparingly.show.web.rater.submission import MARKING, Draft
from sparingly.show.web.sessions import Session
from sparingly.show.web.texts import DisplayText, display_text, turns
from sparingly.show.web.web import Web

# Where a campaign says nothing of the scale.
DEFAULT_SCALE: Ends = (0.0, 100.0)
BEFORE, AFTER = 3, 1
_FEW_STARS, _MOST_STARS = 5, 10


@dataclass(frozen=True)
class Field:
    """One number to give: its name in the form, the aspect, what is filled in, and the scale."""

    name: str
    aspect: str
    value: str
    low: str
    high: str
    step: str
    stars: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Output:
    """One card on the page."""

    handle: str
    label: str
    texts: tuple[list[DisplayText], ...]
    fields: tuple[Field, ...]
    marks: str
    comment: str

    @property
    def is_pair(self) -> bool:
        """Whether two outputs are compared."""
        return len(self.texts) == 2


@dataclass(frozen=True)
class Sheet:
    """Everything on a page."""

    page: str
    client: str
    form: str
    source: list[DisplayText]
    before: list[DisplayText]
    after: list[DisplayText]
    outputs: tuple[Output, ...]
    progress: Progress
    previous: str | None
    seconds: float
    draft_lost: bool
    revised: bool
    severities: tuple[str, ...] = tuple(SEVERITIES)


class Sheets:
    """Makes the pages of raters."""

    def __init__(self, web: Web, desk: Desk) -> None:
        self.web, self.desk = web, desk

    def handle(self, page: Page) -> str:
        """Return what a page is called in addresses."""
        return self.web.sessions.handle("page", page.data, str(page.round), page.item)

    def cards(self, session: Session, page: Page, *, all_cells: bool = False) -> list[Card]:
        """Return the cards of a page, as this rater is shown them."""
        board, keyed = self.web.board, self.web.sessions.handle

        def handle(*parts: str) -> str:
            return keyed(session.id, *parts)

        cells = board.pages[page] if all_cells else self.desk.cells(session.rater, page)
        return cards_of(page, cells, board.data(page.data), session.rater, keyed, handle)

    def sheet(self, session: Session, page: Page) -> Sheet:
        """Return what a page shows, with what the rater typed or answered before."""
        web, rater = self.web, session.rater
        data = web.board.data(page.data)
        cards = self.cards(session, page)
        saved = self._draft(rater, page)
        draft = saved or Draft()
        before, after = _neighbours(data, page.item)
        previous = self.desk.before(rater, page)
        pairs = any(card.is_pair for card in cards)
        markdown = web.texts == "markdown"
        row = int(data.positions([page.item])[0])
        source = None if data.sources is None else data.sources[row]
        return Sheet(
            page=self.handle(page),
            client=secrets.token_urlsafe(16),
            form="pair" if pairs else web.form,
            source=_said(source, markdown=markdown) if source else [],
            before=[display_text(text) for text in before],
            after=[display_text(text) for text in after],
            outputs=tuple(
                self._output(place, card, rater, draft, markdown=markdown) for place, card in enumerate(cards)
            ),
            progress=self.desk.progress(rater),
            previous=None if previous is None else self.handle(previous),
            seconds=draft.seconds,
            draft_lost=saved is None,
            revised=web.board.is_done_by(rater, page),
        )

    def _output(self, place: int, card: Card, rater: str, draft: Draft, *, markdown: bool) -> Output:
        web = self.web
        typed = draft.cards.get(cell_name(card))
        given = web.board.last_answers(rater, card.first)
        sign = card.cells[0][1]
        marking = web.form in MARKING and not card.is_pair
        scores = {aspect: f"{sign * one.score + 0.0:g}" for aspect, one in given.items()}
        if typed is not None:
            scores |= {aspect: f"{score:g}" for aspect, score in typed.scores.items()}
        comment = next((one.comment for one in given.values() if one.comment), "")
        marks = self._marks(given) if typed is None else [vars(mark) for mark in typed.marks]
        return Output(
            handle=card.handle,
            label=_label(place),
            # Where letters are marked they are counted, so that the text is shown as it is.
            texts=tuple(
                [display_text(text)] if marking else _said(text, markdown=markdown) for text in card.texts
            ),
            fields=() if web.form == "mqm" and marking else tuple(
                _field(card.handle, at, aspect, scores.get(aspect, ""), ends, stars=web.form == "stars")
                for at, (aspect, ends) in enumerate(web.campaign.settings.aspects.items())
            ),
            marks=json.dumps(marks),
            comment=(typed and typed.comment) or comment or "",
        )  # fmt: skip

    def _marks(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        from sparingly.run.campaign.answers import marks_of

        seqs = [one.seq for one in given.values()]
        if not seqs or self.web.form not in MARKING:
            return []
        with self.web.campaign.database.reading() as connection:
            return marks_of(connection, self.web.campaign.name, seqs)

    def _draft(self, rater: str, page: Page) -> Draft | None:
        """Return what the rater has typed; None where it cannot be read, empty where there is nothing."""
        content = self.web.drafts.read(rater, page.data, page.item)
        return Draft() if content is None else Draft.read(content)


def cell_name(card: Card) -> str:
    """Return what a card is called in drafts, which outlive the session."""
    return f"{card.first.model}\x1f{card.first.other}"


def _said(text: str | None, *, markdown: bool) -> list[DisplayText]:
    """Return a text, or the turns of a chat."""
    chat = turns(text)
    if chat is None:
        return [display_text(text, markdown=markdown)]
    return [display_text(part, markdown=markdown, speaker=speaker) for speaker, part in chat]


def _label(place: int) -> str:
    letters = len(ascii_uppercase)
    return (
        ascii_uppercase[place]
        if place < letters
        else f"{_label(place // letters - 1)}{_label(place % letters)}"
    )


def _field(handle: str, at: int, aspect: str, value: str, ends: Ends | None, *, stars: bool) -> Field:
    low, high = ends or DEFAULT_SCALE
    span = high - low
    step = 1.0 if span >= 20 else span / 100 if span != int(span) or span < 3 else 0.1
    return Field(
        name=f"score:{handle}:{at}",
        aspect=aspect,
        value=value,
        low=f"{low:g}",
        high=f"{high:g}",
        step=f"{step:g}",
        stars=_stars(low, high) if stars else (),
    )


def _stars(low: float, high: float) -> tuple[tuple[str, int], ...]:
    """Return the scores that stars stand for: every whole number of a short scale, else five even steps."""
    whole = low == int(low) and high == int(high) and 1 <= high - low < _MOST_STARS
    scores: Sequence[float] = (
        [low + step for step in range(int(high - low) + 1)]
        if whole
        else list(np.linspace(low, high, _FEW_STARS))
    )
    return tuple((f"{score:g}", place) for place, score in enumerate(scores, 1))


def _neighbours(data: EvalSet, item: str) -> tuple[list[str], list[str]]:
    """Return the sources of a document's items before and after an item."""
    columns = data.columns
    if data.sources is None or fields.DOCUMENT not in columns or fields.POSITION not in columns:
        return [], []
    row = int(data.positions([item])[0])
    document = columns[fields.DOCUMENT][row]
    if document is None:
        return [], []
    inside = np.flatnonzero(columns[fields.DOCUMENT] == document)
    order = inside[np.argsort(columns[fields.POSITION][inside], kind="stable")]
    place = int(np.flatnonzero(order == row)[0])
    sources = data.sources
    before = [sources[at] for at in order[max(0, place - BEFORE) : place]]
    after = [sources[at] for at in order[place + 1 : place + 1 + AFTER]]
    return [text for text in before if text], [text for text in after if text]
