"""Numbers that take long: computed once for every state of the journal, beside the pages, and kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition, Thread
from typing import Generic, TypeVar

from sparingly.base.errors import SparinglyError

Found = TypeVar("Found")
# Where answers come in all the time, at most this part of the time is spent on computing.
_SHARE = 0.2


@dataclass(frozen=True)
class Kept(Generic[Found]):
    """What was computed.

    Attributes:
        value: The result; None where it could not be computed.
        seq: The entry of the journal that it speaks of.
        at: When it was ready.
        problem: Why it could not be computed; empty where it could.
    """

    value: Found | None
    seq: int
    at: datetime
    problem: str = ""


class Keeper(Generic[Found]):
    """Computes in a thread, one at a time, and shows the last result meanwhile."""

    def __init__(self, compute: Callable[[int], Found], number: Callable[[], int]) -> None:
        self._compute, self._number = compute, number
        self._changed = Condition()
        self._kept: Kept[Found] | None = None
        self._busy = False
        self._not_before = 0.0

    def look(self, wait: float = 0.0) -> tuple[Kept[Found] | None, bool]:
        """Return the last result, and whether it is of the journal as it is now; begin anew where it is not.

        Args:
            wait: For how many seconds to wait where there is no result for this state yet.
        """
        seq, end = self._number(), time.monotonic() + wait
        with self._changed:
            while not self._is_fresh(seq):
                self._begin(seq)
                left = end - time.monotonic()
                if not self._busy or left <= 0 or not self._changed.wait(left):
                    break
            return self._kept, self._is_fresh(seq)

    def _is_fresh(self, seq: int) -> bool:
        return self._kept is not None and self._kept.seq >= seq

    def _begin(self, seq: int) -> None:
        if not self._busy and time.monotonic() >= self._not_before:
            self._busy = True
            Thread(target=self._work, args=(seq,), daemon=True).start()

    def _work(self, seq: int) -> None:
        begun = time.monotonic()
        value, problem = None, ""
        try:
            value = self._compute(seq)
        except SparinglyError as error:
            problem = str(error)
        except Exception as error:
            # A thread has nobody to complain to: the page says that it went wrong.
            problem = f"It could not be computed ({type(error).__name__})."
        now = time.monotonic()
        with self._changed:
            self._kept = Kept(value, seq, datetime.now(UTC), problem)
            self._busy, self._not_before = False, now + (now - begun) * (1 / _SHARE - 1)
            self._changed.notify_all()
