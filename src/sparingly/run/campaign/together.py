"""Threads that write at the same moment write together: one transaction, one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Given = TypeVar("Given")
Done = TypeVar("Done")


class _Entry(Generic[Given, Done]):
    """What one thread wants to write, and what became of it."""

    def __init__(self, given: Sequence[Given]) -> None:
        self.given = given
        self.done: list[Done] | None = None
        self.error: BaseException | None = None


class Together(Generic[Given, Done]):
    """Hands what several threads give to one call of ``write``, and each what became of its own part.

    The first thread that comes writes. Those that come while it waits for the disk are written by the next
    one, all at once; an error of the database is everyone's whose part was in it.
    """

    def __init__(self, write: Callable[[Sequence[Given]], list[Done]]) -> None:
        self._write = write
        self._waiting: list[_Entry[Given, Done]] = []
        self._changed, self._busy = threading.Condition(), False

    def write(self, given: Sequence[Given]) -> list[Done]:
        """Write a part, alone or with others, and return what became of it when it is safely there."""
        entry: _Entry[Given, Done] = _Entry(given)
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

    def _write_all(self, entries: list[_Entry[Given, Done]]) -> None:
        error: BaseException | None = None
        done: list[Done] = []
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
