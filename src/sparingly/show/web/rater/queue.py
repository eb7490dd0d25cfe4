"""Who is given what: the next page of a rater, lent for a while, and what is tidied up when it is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection

from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.journal import Journal, utc_now
from sparingly.run.campaign.rater_pages import Leases, Page, PageBoard, PageUnit
from sparingly.run.forms.question import Question
from sparingly.show.web.panel import PREFIX
from sparingly.show.web.web import Web


@dataclass(frozen=True)
class PageProgress:
    """How far a rater and the campaign are, in pages."""

    mine: int  # how many pages the rater has judged
    judged: int  # how many pages are judged, of those that the rater can see: all, or the assigned ones
    asked: int  # how many there are


class PageQueue:
    """Hands pages out to raters.

    Without an assignment, a rater is lent a unit (a document, or an item without one) that nobody else has,
    and judges what is missing of it in order. With one, everybody judges what was assigned to them.
    """

    def __init__(self, web: Web) -> None:
        self.web = web
        self.board: PageBoard = web.board
        self.leases = Leases(web.campaign.name)

    def current(self, rater: str) -> Page | None:
        """Return the page that a rater is to judge now; None where there is none at the moment."""
        self.board.refresh()
        if not self.board.is_open or self.has_done_enough(rater):
            return None
        if self._is_assigned(rater):
            pages = self._assigned(rater)
            return next((page for page in pages if not self.board.is_done_by(rater, page)), None)
        with self.web.campaign.database.reading() as connection:
            leases = self.leases.current(connection)
        # What is lent for long enough is not lent again.
        for unit, (name, until) in leases.items():
            page = (
                next(self._open(unit, rater), None) if name == rater and self.leases.is_fresh(until) else None
            )
            if page is not None:
                return page
        if not any(self._free(leases, rater)):
            return None
        return self.web.group_commit.do(lambda connection: self._lend(connection, rater))

    def finish(self, rater: str, page: Page) -> None:
        """Forget the draft of a page that was judged, and lend what comes next."""

        def write(connection: Connection) -> None:
            self.web.drafts.drop(connection, rater, page.data, page.item)
            if not self._is_assigned(rater):
                self._lend(connection, rater)

        self.web.group_commit.do(write)

    def renew(self, rater: str, page: Page) -> None:
        """Lend a page for longer to a rater who is at it."""
        unit = self.board.unit_of(page)
        with self.web.campaign.database.reading() as connection:
            name, until = self.leases.current(connection).get(unit, ("", ""))
        if name == rater and not self.leases.is_fresh(until):
            with self.web.campaign.database.writing() as connection:
                self.leases.lend(connection, unit, rater)

    def is_mine(self, rater: str, page: Page) -> bool:
        """Say whether a rater may open a page: it is lent or assigned to them, or they have judged it."""
        if self._is_assigned(rater):
            return page in self._assigned(rater)
        with self.web.campaign.database.reading() as connection:
            lent = self.leases.current(connection).get(self.board.unit_of(page), ("", ""))
        return lent[0] == rater or page in self.board.done_by(rater)

    def questions(self, rater: str, page: Page) -> list[Question]:
        """Return what a rater is asked about on a page."""
        return self.board.questions_for(rater, page, all_questions=self._is_assigned(rater))

    def has_done_enough(self, rater: str) -> bool:
        """Say whether somebody of a panel has judged as many pages as were asked of them.

        Nobody whose answers were withdrawn is asked more.
        """
        if rater in self.board.withdrawn:
            return True
        panel = self.web.panel
        if panel is None or panel.pages is None or not rater.startswith(PREFIX):
            return False
        return self.board.judged_count(rater) >= panel.pages

    def may_complete(self, rater: str) -> bool:
        """Say whether somebody of a panel gets the completion code where there is nothing to judge for them.

        A pause is no end: they come back.
        """
        if self.web.panel is None or not rater.startswith(PREFIX):
            return False
        is_paused = not (self.board.is_open or self.board.is_closed)
        return self.has_done_enough(rater) or (not is_paused and self.board.judged_count(rater) > 0)

    def before(self, rater: str, page: Page | None) -> Page | None:
        """Return the page that a rater judged before this one; the last one where this is new."""
        pages = self.board.done_by(rater)
        if page in pages:
            place = pages.index(page)
            return pages[place - 1] if place else None
        return pages[-1] if pages else None

    def progress(self, rater: str) -> PageProgress:
        """Return how far a rater is."""
        board = self.board
        if self._is_assigned(rater):
            pages = self._assigned(rater)
            judged = sum(board.is_done_by(rater, page) for page in pages)
            return PageProgress(judged, judged, len(pages))
        return PageProgress(len(board.done_by(rater)), board.answered_count, len(board.pages))

    def _lend(self, connection: Connection, rater: str) -> Page | None:
        """Lend a rater the next unit, or the one they have for longer, while nobody else is given any."""
        Journal(connection, self.web.campaign.name, utc_now)
        self.board.refresh(connection)
        leases = self.leases.current(connection)
        mine = [unit for unit, (name, _) in leases.items() if name == rater]
        is_done = self.has_done_enough(rater)
        done = [unit for unit in mine if is_done or not any(self._open(unit, rater))]
        self.leases.give_back(connection, done)
        if is_done or not self.board.is_open:
            return None
        lent = (unit for unit in mine if any(self._open(unit, rater)))
        unit = next(chain(lent, self._free(leases, rater)), None)
        if unit is None:
            return None
        if unit not in leases or not self.leases.is_fresh(leases[unit][1]):
            self.leases.lend(connection, unit, rater)
        return next(self._open(unit, rater))

    def _open(self, unit: PageUnit, rater: str) -> Iterator[Page]:
        pages = self.board.units.get(unit, [])
        return (page for page in pages if self.board.is_open_to(rater, page))

    def _free(self, leases: Mapping[PageUnit, tuple[str, str]], rater: str) -> Iterator[PageUnit]:
        return (
            unit
            for unit in self.board.units
            if leases.get(unit, (rater, ""))[0] == rater and any(True for _ in self._open(unit, rater))
        )

    def _is_assigned(self, rater: str) -> bool:
        """Say whether a rater judges what was assigned; who adjudicates takes what others disagree about."""
        return self.web.assignment is not None and not is_reviewer(rater)

    def _assigned(self, rater: str) -> list[Page]:
        assignment = self.web.assignment
        if assignment is None or rater not in assignment.raters:
            return []
        by_item: dict[str, list[Page]] = {}
        for page in self.board.pages:
            by_item.setdefault(page.item, []).append(page)
        return [page for task in assignment.of(rater) for page in by_item.get(task.item, ())]
