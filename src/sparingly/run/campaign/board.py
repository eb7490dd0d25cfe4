"""What is asked and what is answered, followed along the journal without reading all of it each time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.leases import Unit
from sparingly.run.campaign.library import Library
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import CAMPAIGNS, EVENTS, RATINGS
from sparingly.run.campaign.todo import Cell, asked_at

Key = tuple[str, str, str, str]
_PAUSED, _RESUMED = "paused", "resumed"


class Page(NamedTuple):
    """What is judged at a time: an item in a round of a data set."""

    data: str
    round: int
    item: str


@dataclass(frozen=True)
class Given:
    """The last answer of a rater about a cell and an aspect."""

    seq: int
    score: float
    comment: str | None


@dataclass
class _Asked:
    """What is asked at a number of the journal."""

    seq: int = 0
    held: dict[str, EvalSet] = field(default_factory=dict)
    cells: dict[Page, list[Cell]] = field(default_factory=dict)
    units: dict[Unit, list[Page]] = field(default_factory=dict)
    unit_of: dict[Page, Unit] = field(default_factory=dict)
    page_of: dict[Key, Page] = field(default_factory=dict)
    key_of: dict[Key, Key] = field(default_factory=dict)
    paused: bool = False
    closed: bool = False


class Board:
    """The state of a campaign in memory; ``refresh`` reads what the journal has more than before.

    Rounds and changes of models are read anew when there is such an entry; of answers only the new ones are
    read, so that a page costs the same however long the campaign has run. Of an answer stays which aspect of
    which cell it is about, as a bit; scores and comments are read when somebody looks at them again.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database, self.settings = database, settings
        self.seq = 0
        self._lock = threading.RLock()
        self._library = Library(settings.name)
        self._asked = _Asked()
        self._bits = {aspect: 1 << place for place, aspect in enumerate(settings.aspects)}
        self._all = sum(self._bits.values())
        # The aspects that are judged, by cell, and by rater and cell.
        self._answered: dict[Key, int] = {}
        self._judged: dict[str, dict[Key, int]] = {}
        self._open: set[Page] = set()
        self._done: dict[str, dict[Page, None]] = {}

    # --- following the journal ---------------------------------------------------------------------

    def refresh(self, connection: Connection | None = None) -> None:
        """Read what is new, in a transaction that is under way or in one of its own.

        The lock is taken before a transaction is begun: a reader of a SQLite file that waits for something
        else would keep a writer from ending.
        """
        with self._lock:
            if connection is not None:
                self._read(connection)
                return
            with self.database.reading() as own:
                self._read(own)

    def _read(self, connection: Connection) -> None:
        table = CAMPAIGNS.c
        last = connection.execute(select(table.last_seq).where(table.name == self.settings.name)).scalar_one()
        if last <= self.seq:
            return
        events = EVENTS.c
        newest = connection.execute(
            select(func.max(events.seq)).where(events.campaign == self.settings.name)
        ).scalar_one()
        again = newest is not None and newest > self._asked.seq
        if again:
            self._asked = self._read_asked(connection, last)
        new = self._read_answers(connection, last)
        self._count(new, again=again)
        self.seq = last

    def _count(self, new: list[tuple[str, Key]], *, again: bool) -> None:
        """Follow which pages are answered, and by whom."""
        if again:
            self._open = set(self._asked.cells)
            self._done = {}
            new = [(rater, key) for rater, judged in self._judged.items() for key in judged]
        touched = {page for _, key in new if (page := self._asked.page_of.get(key)) is not None}
        self._open -= {page for page in touched if not any(map(self.missing, self._asked.cells[page]))}
        for rater, key in new:
            page = self._asked.page_of.get(key)
            if page is not None:
                done = self._done.setdefault(rater, {})
                done.pop(page, None)
                done[page] = None

    def _read_asked(self, connection: Connection, seq: int) -> _Asked:
        found = _Asked(seq)
        kinds = EVENTS.c
        for kind in connection.execute(
            select(kinds.kind).where(kinds.campaign == self.settings.name).order_by(kinds.seq)
        ).scalars():
            found.paused = kind == _PAUSED or (found.paused and kind != _RESUMED)
            found.closed = found.closed or kind == "closed"
        for data in self.settings.budgets:
            held = found.held[data] = self._library.at(connection, data, seq)
            cells = asked_at(connection, self.settings, data, seq).cells
            for cell in cells:
                key, page = cell.key, Page(data, cell.round, cell.item)
                found.page_of[key], found.key_of[key] = page, key
                found.cells.setdefault(page, []).append(cell)
            for unit, pages in _units(held, data, cells):
                found.units[unit] = pages
                found.unit_of.update(dict.fromkeys(pages, unit))
        return found

    def _read_answers(self, connection: Connection, last: int) -> list[tuple[str, Key]]:
        """Take new answers, and return by whom and about what they are."""
        table = RATINGS.c
        names = ("rater", "data", "item", "model", "other", "aspect")
        rows = connection.execute(
            select(*(table[name] for name in names))
            .where(table.campaign == self.settings.name, table.seq > self.seq, table.seq <= last)
            .order_by(table.seq)
        )
        new: list[tuple[str, Key]] = []
        for row in rows:
            key: Key = (row.data, row.item, row.model, row.other)
            # One tuple for a cell however many have judged it: the texts of the row are not kept.
            key = self._asked.key_of.get(key, key)
            bit = self._bits[row.aspect]
            new.append((row.rater, key))
            self._answered[key] = self._answered.get(key, 0) | bit
            mine = self._judged.setdefault(row.rater, {})
            # Taken out first, so that the order is that of the last answers.
            mine[key] = mine.pop(key, 0) | bit
        return new

    # --- what is there -----------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether new questions are handed out: the campaign is neither paused nor closed."""
        return not (self._asked.paused or self._asked.closed)

    @property
    def is_closed(self) -> bool:
        """Whether the campaign has ended."""
        return self._asked.closed

    @property
    def pages(self) -> dict[Page, list[Cell]]:
        """Every page with its cells, in the order in which they are asked."""
        return self._asked.cells

    @property
    def units(self) -> dict[Unit, list[Page]]:
        """What is lent to a rater as a whole, in the order in which it is asked: a document, or an item."""
        return self._asked.units

    def data(self, name: str) -> EvalSet:
        """Return a data set with the models that are in it now."""
        return self._asked.held[name]

    def unit_of(self, page: Page) -> Unit:
        """Return the unit that a page belongs to."""
        return self._asked.unit_of[page]

    def missing(self, cell: Cell) -> bool:
        """Say whether nobody has judged some aspect of a cell."""
        return self._answered.get(cell.key, 0) != self._all

    def is_answered(self, page: Page) -> bool:
        """Say whether everything on a page was judged by somebody."""
        return page not in self._open

    @property
    def answered(self) -> int:
        """How many pages are judged."""
        return len(self._asked.cells) - len(self._open)

    def given(self, rater: str, cell: Cell) -> dict[str, Given]:
        """Return what a rater said of a cell, by aspect."""
        if not self._has_judged(rater, cell):
            return {}
        table = RATINGS.c
        about = (table.data, table.item, table.model, table.other)
        query = select(table.aspect, table.seq, table.score, table.comment).where(
            table.campaign == self.settings.name,
            *(column == value for column, value in zip(about, cell.key, strict=True)),
            table.rater == rater,
            table.seq <= self.seq,
        )
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(table.seq)).all()
        last = {row.aspect: Given(row.seq, row.score, row.comment) for row in rows}
        return {aspect: last[aspect] for aspect in self.settings.aspects if aspect in last}

    def is_done_by(self, rater: str, page: Page) -> bool:
        """Say whether a rater has judged everything on a page."""
        mine = self._judged.get(rater, {})
        return all(mine.get(cell.key) == self._all for cell in self.pages[page])

    def cells_for(self, rater: str, page: Page, *, all_cells: bool = False) -> list[Cell]:
        """Return what a rater is shown of a page: what is missing, and what they judged themselves."""
        return [
            cell
            for cell in self.pages[page]
            if all_cells or self.missing(cell) or self._has_judged(rater, cell)
        ]

    def _has_judged(self, rater: str, cell: Cell) -> bool:
        return cell.key in self._judged.get(rater, {})

    def done_by(self, rater: str) -> list[Page]:
        """Return the pages on which a rater has judged something, the last one last."""
        with self._lock:
            return list(self._done.get(rater, ()))


def _units(held: EvalSet, data: str, cells: tuple[Cell, ...]) -> Iterator[tuple[Unit, list[Page]]]:
    """Yield what is lent together: the items of a document in a round in their order, or an item."""
    items = sorted({cell.item for cell in cells})
    rows = dict(zip(items, held.positions(items), strict=True))
    columns = held.columns
    documents = columns.get(fields.DOCUMENT)
    positions = columns.get(fields.POSITION)
    found: dict[Unit, dict[Page, float]] = {}
    for cell in cells:
        row = rows[cell.item]
        document = None if documents is None else documents[row]
        name = f"item {cell.item}" if document is None else f"document {document}"
        place = 0.0 if positions is None else float(np.nan_to_num(positions[row]))
        found.setdefault((data, f"{cell.round} {name}"), {})[Page(data, cell.round, cell.item)] = place
    for unit, pages in found.items():
        yield unit, sorted(pages, key=lambda page: (pages[page], page.item))
