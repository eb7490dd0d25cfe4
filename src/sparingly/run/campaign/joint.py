"""Small things that many threads write at the same moment: one transaction, one wait for the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from sqlalchemy import Connection

from sparingly.run.campaign.database import Database
from sparingly.run.campaign.together import Together

Found = TypeVar("Found")
Work = Callable[[Connection], Any]


@dataclass(frozen=True)
class _Became:
    """What one thread's part gave, or why it failed."""

    value: Any = None
    error: Exception | None = None


class Joint:
    """Does the work of several threads in one transaction.

    The part of a thread is undone by itself where it fails, and the others are kept. Everybody waits until
    all of it is on disk. Work must not append to the journal, whose numbers others might read too early.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._together: Together[Work, _Became] = Together(self._write)

    def do(self, work: Callable[[Connection], Found]) -> Found:
        """Do a part, alone or with others, and return what it gives when it is safely there."""
        (became,) = self._together.write([work])
        if became.error is not None:
            raise became.error
        return cast(Found, became.value)

    def _write(self, parts: Sequence[Work]) -> list[_Became]:
        with self.database.writing() as connection:
            return [_done(connection, work) for work in parts]


def _done(connection: Connection, work: Work) -> _Became:
    try:
        with connection.begin_nested():
            return _Became(work(connection))
    except Exception as error:
        return _Became(error=error)
