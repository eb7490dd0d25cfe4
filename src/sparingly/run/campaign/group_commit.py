"""Threads that write at the same moment share one transaction and one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import Connection

from sparingly.run.campaign.database import Database

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")


class _PendingWrite(Generic[Part, Outcome]):
    """What one thread wants to write, and what became of it."""

    def __init__(self, given: Sequence[Part]) -> None:
        self.given = given
        self.done: list[Outcome] | None = None
        self.error: BaseException | None = None


class GroupWriter(Generic[Part, Outcome]):
    """Hands what several threads give to one call of ``write``, and each what became of its own part.

    The first thread that comes writes. Those that come while it waits for the disk are written by the next
    one, all at once; an error of the database is everyone's whose part was in it.
    """

    def __init__(self, write: Callable[[Sequence[Part]], list[Outcome]]) -> None:
        self._write = write
        self._waiting: list[_PendingWrite[Part, Outcome]] = []
        self._changed, self._busy = threading.Condition(), False

    def write(self, given: Sequence[Part]) -> list[Outcome]:
        """Write a part, alone or with others, and return what became of it when it is safely there."""
        entry: _PendingWrite[Part, Outcome] = _PendingWrite(given)
        with self._changed:
            self._waiting.append(entry)
            while self._busy and entry.done is None and entry.error is None:
                self._changed.wait()
            mine = entry.done is None and entry.error is None
            if mine:
                self._busy = True
                entries, self._waiting = self._waiting, []
        if mine:
            self._write_all(entries)
        if entry.error is not None:
            raise entry.error
        return entry.done or []

    def _write_all(self, entries: list[_PendingWrite[Part, Outcome]]) -> None:
        error: BaseException | None = None
        done: list[Outcome] = []
        try:
            done = self._write([one for entry in entries for one in entry.given])
        except BaseException as problem:
            error = problem
        start = 0
        with self._changed:
            for entry in entries:
                entry.error = error
                entry.done = done[start : start + len(entry.given)]
                start += len(entry.given)
            self._busy = False
            self._changed.notify_all()


Result = TypeVar("Result")
Work = Callable[[Connection], Any]


@dataclass(frozen=True)
class _WorkResult:
    """What one thread's part gave, or why it failed."""

    value: Any = None
    error: Exception | None = None


class GroupCommit:
    """Does the work of several threads in one transaction.

    The part of a thread is undone by itself where it fails, and the others are kept. Everybody waits until
    all of it is on disk. Work must not append to the journal, whose numbers others might read too early.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._together: GroupWriter[Work, _WorkResult] = GroupWriter(self._write)

    def do(self, work: Callable[[Connection], Result]) -> Result:
        """Do a part, alone or with others, and return what it gives when it is safely there."""
        (became,) = self._together.write([work])
        if became.error is not None:
            raise became.error
        return cast(Result, became.value)

    def _write(self, parts: Sequence[Work]) -> list[_WorkResult]:
        with self.database.writing() as connection:
            return [_run_alone(connection, work) for work in parts]


def _run_alone(connection: Connection, work: Work) -> _WorkResult:
    try:
        with connection.begin_nested():
            return _WorkResult(work(connection))
    except Exception as error:
        return _WorkResult(error=error)
