"""Threads that write at the same moment share one transaction and one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import Connection

from sparingly.run.campaign.database import Database

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")
Result = TypeVar("Result")
Work = Callable[[Connection], Any]
# What the work of one thread returned, and why it failed.
WorkResult = tuple[Any, Exception | None]


class GroupWriter(Generic[Part, Outcome]):
    """Hands the parts of several threads to one call of ``write``, and each thread its own outcomes.

    The first thread that comes writes. Those that come while it waits for the disk are written by the next
    one, all at once; an error of the database is raised in every thread whose part was in it.
    """

    def __init__(self, write: Callable[[Sequence[Part]], list[Outcome]]) -> None:
        self._write = write
        # What each thread wants to write, and what becomes of it.
        self._waiting: list[tuple[Sequence[Part], Future[list[Outcome]]]] = []
        self._changed, self._busy = threading.Condition(), False

    def write(self, parts: Sequence[Part]) -> list[Outcome]:
        """Write parts, alone or with others, and return their outcomes when they are on disk."""
        pending: Future[list[Outcome]] = Future()
        with self._changed:
            self._waiting.append((parts, pending))
            while self._busy and not pending.done():
                self._changed.wait()
            if pending.done():
                return pending.result()
            self._busy = True
            group, self._waiting = self._waiting, []
        try:
            outcomes = iter(self._write([part for members, _ in group for part in members]))
            for members, future in group:
                future.set_result(list(islice(outcomes, len(members))))
        except BaseException as problem:
            for _, future in group:
                if not future.done():
                    future.set_exception(problem)
        with self._changed:
            self._busy = False
            self._changed.notify_all()
        return pending.result()


class GroupCommit:
    """Does the work of several threads in one transaction.

    The work of a thread is undone by itself where it fails, and the others are kept. Everybody waits until
    all of it is on disk. Work must not append to the journal, whose numbers others might read too early.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._group: GroupWriter[Work, WorkResult] = GroupWriter(self._write)

    def do(self, work: Callable[[Connection], Result]) -> Result:
        """Do the work, alone or with others, and return its result when all is on disk."""
        ((value, error),) = self._group.write([work])
        if error is not None:
            raise error
        return cast(Result, value)

    def _write(self, group: Sequence[Work]) -> list[WorkResult]:
        results: list[WorkResult] = []
        with self.database.writing() as connection:
            for work in group:
                try:
                    with self.database.errors_as_sentences(), connection.begin_nested():
                        results.append((work(connection), None))
                except Exception as error:
                    results.append((None, error))
        return results
