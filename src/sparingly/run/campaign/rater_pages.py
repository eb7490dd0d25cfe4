"""What raters work on in the web pages: leases of items, drafts, pages that are asked and answered."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from sparingly.data import fields
from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.answers import Cell, disputes, marks_at
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.datasets import DataSets
from sparingly.run.campaign.group_commit import GroupCommit
from sparingly.run.campaign.guidelines import guidelines_at
from sparingly.run.campaign.history import (
    ADJUDICATED,
    PAUSED,
    RESUMED,
    SKIPPED,
    adjudicators,
    anchors_at,
    questions_at,
    skips_at,
    withdrawn_raters,
)
from sparingly.run.campaign.journal import Clock, timestamp, utc_now
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import CAMPAIGNS, DRAFTS, EVENTS, LEASES, RATINGS, of_campaign, rows_of
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.guidelines import Guidelines
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.run.forms.spans import Span

# --- Leases: two raters at once are not given the same item or document ---

PageUnit = tuple[str, str]
SECONDS = 1800.0


class Leases:
    """The leases of a campaign: a unit (a data set with an item or a document) is lent for a while."""

    def __init__(self, campaign: str, clock: Clock = utc_now, seconds: float = SECONDS) -> None:
        self.campaign, self.clock, self.seconds = campaign, clock, seconds

    def current(self, connection: Connection) -> dict[PageUnit, tuple[str, str]]:
        """Return the units that are lent now, each with its rater and the time at which it is free again."""
        query = rows_of(LEASES, self.campaign).where(LEASES.c.until > timestamp(self.clock()))
        rows = connection.execute(query)
        return {(row.data, row.unit): (row.rater, row.until) for row in rows}

    def is_fresh(self, until: str) -> bool:
        """Say whether more than half of a lease is left, so that it need not be written again."""
        return until > timestamp(self.clock() + timedelta(seconds=self.seconds / 2))

    def lend(self, connection: Connection, unit: PageUnit, rater: str) -> None:
        """Lend a unit, or lend it for longer."""
        self.give_back(connection, [unit])
        until = timestamp(self.clock() + timedelta(seconds=self.seconds))
        row = {"campaign": self.campaign, "data": unit[0], "unit": unit[1], "rater": rater, "until": until}
        connection.execute(insert(LEASES), row)

    def give_back(self, connection: Connection, units: Iterable[PageUnit]) -> None:
        """End leases."""
        for data, unit in units:
            rows = of_campaign(LEASES, self.campaign, data=data, unit=unit)
            connection.execute(delete(LEASES).where(*rows))


# --- Drafts ---


class Drafts:
    """The drafts of a campaign: one for a rater and an item, as text."""

    def __init__(
        self,
        database: Database,
        campaign: str,
        clock: Clock = utc_now,
        group_commit: GroupCommit | None = None,
    ) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock
        self._group_commit = group_commit or GroupCommit(database)

    def save(self, rater: str, data: str, item: str, content: str) -> None:
        """Save a draft in place of the one before."""
        at = timestamp(self.clock())
        key = {"rater": rater, "data": data, "item": item}

        def write(connection: Connection) -> None:
            draft = update(DRAFTS).where(*of_campaign(DRAFTS, self.campaign, **key))
            if not connection.execute(draft.values(at=at, content=content)).rowcount:
                row = {"campaign": self.campaign, **key, "at": at, "content": content}
                connection.execute(insert(DRAFTS), row)

        self._group_commit.do(write)

    def read(self, rater: str, data: str, item: str) -> str | None:
        """Return a draft, where there is one."""
        with self.database.reading() as connection:
            query = rows_of(DRAFTS, self.campaign, "content", rater=rater, data=data, item=item)
            return connection.execute(query).scalar_one_or_none()

    def drop(self, connection: Connection, rater: str, data: str, item: str) -> None:
        """Delete a draft, in a transaction that is under way."""
        draft = of_campaign(DRAFTS, self.campaign, rater=rater, data=data, item=item)
        connection.execute(delete(DRAFTS).where(*draft))


# --- Pages, followed along the journal ---


class Page(NamedTuple):
    """What is judged at a time: an item in a round of a data set."""

    data: str
    round: int
    item: str


@dataclass
class _PageIndex:
    """What is asked at a number of the journal."""

    seq: int = 0
    texts: dict[str, QuestionTexts] = field(default_factory=dict)
    questions: dict[Page, list[Question]] = field(default_factory=dict)
    units: dict[PageUnit, list[Page]] = field(default_factory=dict)
    unit_of: dict[Page, PageUnit] = field(default_factory=dict)
    page_of: dict[Cell, Page] = field(default_factory=dict)
    key_of: dict[Cell, Cell] = field(default_factory=dict)
    again: dict[Cell, int] = field(default_factory=dict)
    paused: bool = False
    closed: bool = False
    guidelines: Guidelines | None = None
    overlap: set[Page] = field(default_factory=set)


def _board_key(index: _PageIndex, cell: Cell, round: int | None) -> Cell:
    """Return what answers are counted under: an output that a round asks for again is apart from itself."""
    if round is None or index.again.get(cell) != round:
        return cell
    data, item, model, _ = cell
    return data, item, model, f"\x1fagain {round}"


# After so many raters who cannot judge an output nobody else is asked.
MOST_SKIPS = 2
# So many outputs (or comparisons) two raters judge, where the share of the overlap is fewer.
LEAST_OVERLAP = 20


def _shared_pages(index: _PageIndex, share: float, seed: int) -> set[Page]:
    """Return the pages that two raters judge: of each round a share of the questions, drawn by unit.

    Of the first round at least ``LEAST_OVERLAP``, so that agreement is known from the first day.
    """
    rounds: dict[tuple[str, int], list[PageUnit]] = {}
    for unit, pages in index.units.items():
        rounds.setdefault(pages[0][:2], []).append(unit)
    shared: set[Page] = set()
    for (_, number), units in rounds.items():
        sizes = {unit: sum(len(index.questions[page]) for page in index.units[unit]) for unit in units}
        enough = max(share * sum(sizes.values()), LEAST_OVERLAP if number == 1 else 0)
        count = 0
        # In an order that is drawn once.
        names = {unit: "\x1f".join((str(seed), *unit)).encode("utf-8", "surrogatepass") for unit in units}
        for unit in sorted(units, key=lambda unit: sha256(names[unit]).digest()):
            if count >= enough:
                break
            count += sizes[unit]
            shared.update(index.units[unit])
    return shared


class PageBoard:
    """The state of a campaign in memory; ``refresh`` reads the new entries of the journal.

    Rounds and changes of models are read again when there is such an entry; of answers only the new ones are
    read, so that a page costs the same however long the campaign has run. What stays of an answer is which
    aspect of which cell it is about, as a bit; scores and comments are read when somebody looks at them.
    """

    def __init__(
        self, database: Database, settings: Settings, overlap: float = 0.0, third_rater: bool = False
    ) -> None:
        """Follow a campaign in which two raters judge a share of the outputs, at least ``LEAST_OVERLAP``.

        Where they disagree, reviewers decide, or a ``third_rater`` does.
        """
        self.database, self.settings, self.overlap = database, settings, overlap
        self.third_rater = third_rater
        self.withdrawn: set[str] = set()
        # Who disagrees about which cell, and nobody has decided.
        self._disputed: dict[Cell, set[str]] = {}
        self._disputed_pages: set[Page] = set()
        self.seq = 0
        self._lock = threading.RLock()
        self._data_sets = DataSets(settings.name)
        self._index = _PageIndex()
        self._bits = {aspect: 1 << place for place, aspect in enumerate(settings.aspects)}
        self._all = sum(self._bits.values())
        # The aspects that are judged, by cell, and by rater and cell.
        self._answered: dict[Cell, int] = {}
        self._judged: dict[str, dict[Cell, int]] = {}
        # Who cannot judge a cell; how many have judged all of it; pages that want a first or a second rater.
        self._skips: dict[Cell, set[str]] = {}
        self._judges: Counter[Cell] = Counter()
        self._open: set[Page] = set()
        self._open_again: set[Page] = set()
        self._done: dict[str, dict[Page, None]] = {}

    # --- following the journal ---

    def refresh(self, connection: Connection | None = None) -> None:
        """Read what is new, in a transaction that is under way or in one of its own.

        The lock is taken before a transaction is begun: a reader of a SQLite file that waits for something
        else would keep a writer from ending.
        """
        with self._lock:
            if connection is not None:
                self._read(connection)
                return
            with self.database.reading() as new_connection:
                self._read(new_connection)

    def _read(self, connection: Connection) -> None:
        table, events = CAMPAIGNS.c, EVENTS.c
        last = connection.execute(select(table.last_seq).where(table.name == self.settings.name)).scalar_one()
        if last <= self.seq:
            return
        newest = connection.execute(
            select(func.max(events.seq)).where(
                events.campaign == self.settings.name, events.kind.not_in((SKIPPED, ADJUDICATED))
            )
        ).scalar_one()
        questions_changed = newest is not None and newest > self._index.seq
        if questions_changed:
            self._index = self._read_index(connection, last)
            withdrawn = withdrawn_raters(connection, self.settings.name, last)
            if withdrawn != self.withdrawn:
                # What they said is as if nobody had said it: everything is counted again.
                self.withdrawn, self.seq = withdrawn, 0
                for counts in (self._answered, self._judged, self._skips, self._judges, self._disputed):
                    counts.clear()
        new = self._read_answers(connection, last)
        # Follow which pages are answered, and by whom.
        if questions_changed:
            self._open = set(self._index.questions)
            self._open_again = set(self._index.overlap)
            self._done = {}
            new = [(rater, key) for rater, judged in self._judged.items() for key in judged]
        answers = [(rater, page) for rater, key in new if (page := self._index.page_of.get(key)) is not None]
        touched = {page for _, page in answers}
        self._open -= {page for page in touched if not any(map(self.missing, self._index.questions[page]))}
        self._open_again -= {page for page in touched if not any(map(self._lacks_second, self.pages[page]))}
        self._read_disputes(connection, {key for _, key in new if self._judges[key] > 1}, last)
        for rater, page in answers:
            pages = self._done.setdefault(rater, {})
            pages.pop(page, None)
            pages[page] = None
        self.seq = last

    def _read_index(self, connection: Connection, seq: int) -> _PageIndex:
        index, events = _PageIndex(seq), EVENTS.c
        query = select(events.kind).where(events.campaign == self.settings.name).order_by(events.seq)
        for kind in connection.execute(query).scalars():
            index.paused = kind == PAUSED or (index.paused and kind != RESUMED)
            index.closed = index.closed or kind == "closed"
        for data in self.settings.budgets:
            data_set = self._data_sets.at(connection, data, seq)
            index.texts[data] = QuestionTexts(data_set)
            documents = data_set.columns.get(fields.DOCUMENT)
            positions = data_set.columns.get(fields.POSITION)
            positions_of: dict[PageUnit, dict[Page, float]] = {}
            questions = questions_at(connection, self.settings, data, seq)
            index.again |= {
                (data, cell.item, cell.model, ""): cell.round
                for cell in anchors_at(connection, self.settings.name, data, seq)
            }
            rows = data_set.positions(question.item for question in questions)
            for question, row in zip(questions, rows, strict=True):
                key = _board_key(index, question.cell, question.round)
                page = Page(data, question.round, question.item)
                index.page_of[key], index.key_of[key] = page, key
                index.questions.setdefault(page, []).append(question)
                document = None if documents is None else documents[row]
                name = f"item {question.item}" if document is None else f"document {document}"
                place = 0.0 if positions is None else float(np.nan_to_num(positions[row]))
                positions_of.setdefault((data, f"{question.round} {name}"), {})[page] = place
            # What is lent together: the items of a document in a round in their order, or an item.
            for unit, places in positions_of.items():
                index.units[unit] = sorted(places, key=lambda page: (places[page], page.item))
                index.unit_of.update(dict.fromkeys(index.units[unit], unit))
        index.guidelines = guidelines_at(connection, self.settings.name, seq)
        if self.overlap:
            index.overlap = _shared_pages(index, self.overlap, self.settings.seed)
        return index

    def _read_answers(self, connection: Connection, last: int) -> list[tuple[str, Cell]]:
        """Take new answers, and return by whom and about what they are."""
        table = RATINGS.c
        query = rows_of(RATINGS, self.settings.name, "rater data item model other aspect round")
        rows = connection.execute(query.where(table.seq > self.seq, table.seq <= last).order_by(table.seq))
        new: list[tuple[str, Cell]] = []
        for row in rows:
            key = _board_key(self._index, (row.data, row.item, row.model, row.other), row.round)
            # One tuple for a cell however many have judged it, to save memory.
            key = self._index.key_of.get(key, key)
            if row.rater in self.withdrawn:
                continue
            bit = self._bits[row.aspect]
            new.append((row.rater, key))
            self._answered[key] = self._answered.get(key, 0) | bit
            aspects = self._judged.setdefault(row.rater, {})
            self._skips.get(key, set()).discard(row.rater)
            # Taken out first, so that the order is that of the last answers.
            earlier = aspects.pop(key, 0)
            aspects[key] = earlier | bit
            self._judges[key] += earlier != self._all and aspects[key] == self._all
        # What a rater cannot judge is done with for them; another one is asked.
        for skip in skips_at(connection, self.settings.name, last, self.seq):
            key = _board_key(self._index, skip.cell, skip.round)
            key = self._index.key_of.get(key, key)
            if key not in self._judged.get(skip.rater, {}):
                new.append((skip.rater, key))
                self._judged.setdefault(skip.rater, {})[key] = 0
                self._skips.setdefault(key, set()).add(skip.rater)
        return new

    def _read_disputes(self, connection: Connection, cells: set[Cell], last: int) -> None:
        """Find which of some cells two raters disagree about, and which are decided."""
        table, rows = RATINGS.c, list[Any]()
        items = sorted({cell[1] for cell in cells})
        for start in range(0, len(items), 500):
            query = rows_of(RATINGS, self.settings.name, "data item model other aspect rater score")
            query = query.where(table.item.in_(items[start : start + 500]), table.seq <= last)
            rows += connection.execute(query.order_by(table.seq)).mappings()
        for cell in cells:
            self._disputed.pop(cell, None)
        disputed = disputes(self.settings, rows, self.withdrawn)
        self._disputed |= {cell: raters for cell, raters in disputed.items() if cell in cells}
        for data in self.settings.budgets if self._disputed else ():
            for decided in adjudicators(connection, self.settings.name, data, last):
                self._disputed.pop((data, *decided), None)
        pages = (self._index.page_of.get(cell) for cell in self._disputed)
        self._disputed_pages = {page for page in pages if page is not None}

    # --- what is there ---

    @property
    def is_open(self) -> bool:
        """Whether new questions are handed out: the campaign is neither paused nor closed."""
        return not (self._index.paused or self._index.closed)

    @property
    def is_closed(self) -> bool:
        """Whether the campaign has ended."""
        return self._index.closed

    @property
    def guidelines(self) -> Guidelines | None:
        """What raters are told now."""
        return self._index.guidelines

    @property
    def pages(self) -> dict[Page, list[Question]]:
        """Every page with its questions, without texts, in the order in which they are asked."""
        return self._index.questions

    @property
    def units(self) -> dict[PageUnit, list[Page]]:
        """What is lent to a rater as a whole, in the order in which it is asked: a document, or an item."""
        return self._index.units

    def texts(self, name: str) -> QuestionTexts:
        """Return the texts of a data set, with the models that are in it now."""
        return self._index.texts[name]

    def unit_of(self, page: Page) -> PageUnit:
        """Return the unit that a page belongs to."""
        return self._index.unit_of[page]

    def missing(self, question: Question) -> bool:
        """Say whether nobody has judged some aspect of a question, and two have not said that they cannot."""
        key = _board_key(self._index, question.cell, question.round)
        return self._answered.get(key, 0) != self._all and len(self._skips.get(key, ())) < MOST_SKIPS

    def is_open_to(self, rater: str, page: Page) -> bool:
        """Say whether a page may be given to a rater: something on it wants a first or a second answer."""
        is_open = page in self._open or page in self._open_again
        if page not in self._disputed_pages and (is_reviewer(rater) or not is_open):
            return False
        return any(self._is_open_question(rater, page, question) for question in self.pages[page])

    def _is_open_question(self, rater: str, page: Page, question: Question) -> bool:
        """Say whether a rater may be asked a question; reviewers are asked nothing else."""
        if is_reviewer(rater):
            return self.adjudicates(rater, question)
        is_open = self.missing(question) or (page in self._open_again and self._lacks_second(question))
        return (is_open and not self._is_done(rater, question)) or self.adjudicates(rater, question)

    def adjudicates(self, rater: str, question: Question) -> bool:
        """Say whether a rater's answer to a question would decide where two others disagree."""
        return (
            (self.third_rater or is_reviewer(rater))
            and question.cell in self._disputed
            and not self._is_done(rater, question)
        )

    @property
    def disputed_count(self) -> int:
        """How many outputs (or comparisons) two raters disagree about, and nobody has decided."""
        return len(self._disputed)

    def earlier_answers(self, question: Question) -> list[dict[str, Answer]]:
        """Return what each rater who disagrees said of a question, by aspect."""
        raters = sorted(self._disputed.get(question.cell, ()))
        return [self.last_answers(rater, question.cell, question.round) for rater in raters]

    def is_answered(self, page: Page) -> bool:
        """Say whether everything on a page was judged by somebody."""
        return page not in self._open

    @property
    def overlap_counts(self) -> tuple[int, int]:
        """How many pages two raters have judged, of those that two are to judge."""
        return len(self._index.overlap) - len(self._open_again), len(self._index.overlap)

    def _lacks_second(self, question: Question) -> bool:
        key = _board_key(self._index, question.cell, question.round)
        return self._judges[key] < 2 and len(self._skips.get(key, ())) < MOST_SKIPS

    def _is_done(self, rater: str, question: Question) -> bool:
        key = _board_key(self._index, question.cell, question.round)
        return self._judged.get(rater, {}).get(key, 0) == self._all or rater in self._skips.get(key, ())

    @property
    def answered_count(self) -> int:
        """How many pages are judged."""
        return len(self._index.questions) - len(self._open)

    def last_answers(self, rater: str, cell: Cell, round: int | None = None) -> dict[str, Answer]:
        """Return the last answers of a rater about a cell, by aspect, with the errors that were marked.

        Where a round asks for an output again, what was said of it before is not among its answers.
        """
        if not self._has_judged(rater, _board_key(self._index, cell, round)):
            return {}
        data, item, model, second = cell
        table, anchor = RATINGS.c, self._index.again.get(cell)
        names = {"data": data, "item": item, "model": model, "other": second, "rater": rater}
        query = rows_of(RATINGS, self.settings.name, "aspect seq score comment", **names)
        query = query.where(table.seq <= self.seq)
        if anchor is not None:
            query = query.where(table.round == anchor if round == anchor else table.round != anchor)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(table.seq)).all()
            marks = marks_at(connection, self.settings.name, [row.seq for row in rows])
        last = {
            row.aspect: Answer(
                rater,
                item,
                row.score,
                None if second else model,
                (model, second) if second else None,
                row.aspect,
                data,
                comment=row.comment,
                marks=tuple(Span(**mark) for mark in marks[row.seq]) if row.seq in marks else None,
            )
            for row in rows
        }
        return {aspect: last[aspect] for aspect in self.settings.aspects if aspect in last}

    def is_done_by(self, rater: str, page: Page) -> bool:
        """Say whether a rater has judged everything on a page, or said that they cannot."""
        return all(self._is_done(rater, question) for question in self.pages[page])

    def rated_by(self, rater: str) -> list[Page]:
        """Return the pages on which a rater gave some answer, the last one last."""
        judged = self._judged.get(rater, {})
        pages = (self._index.page_of.get(key) for key, bits in judged.items() if bits)
        return [page for page in dict.fromkeys(pages) if page is not None]

    def judged_count(self, rater: str) -> int:
        """Return on how many pages a rater has judged something; those they only skipped do not count."""
        return len(self.rated_by(rater))

    def questions_for(self, rater: str, page: Page, *, all_questions: bool = False) -> list[Question]:
        """Return what a rater is shown of a page: what is missing, and what they judged themselves."""
        return [
            question
            for question in self.pages[page]
            if all_questions
            or self._is_open_question(rater, page, question)
            or self._has_judged(rater, _board_key(self._index, question.cell, question.round))
        ]

    def _has_judged(self, rater: str, cell: Cell) -> bool:
        return cell in self._judged.get(rater, {})

    def done_by(self, rater: str) -> list[Page]:
        """Return the pages on which a rater has judged something, the last one last."""
        with self._lock:
            return list(self._done.get(rater, ()))
