"""Writers of one SQLite file taking turns.

SQLite lets waiting writers try again ever less often, down to ten times a second, while the one that has just
written may begin again at once: under load some wait for a quarter of a minute. Here everybody tries often,
the longer it has waited the more often, and who has just written lets others go first while there are any.
"""

from __future__ import annotations

import random
import sqlite3
import time

_RANDOM = random.SystemRandom()
# For so many seconds after it met another writer, a writer lets others go first.
_REMEMBER = 1.0
_POLITE = (0.006, 0.012)
_OFTEN, _MORE_OFTEN = (0.001, 0.005), (0.0005, 0.002)
_LONG = 0.5


class SqliteWriteLock:
    """Lets the writers of one SQLite file take turns."""

    def __init__(self, most_seconds: float) -> None:
        self.most_seconds = most_seconds
        self._met, self._ended = 0.0, 0.0

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that writes, as soon as nobody else does."""
        start = time.monotonic()
        if start - self._met < _REMEMBER and start - self._ended < _POLITE[1]:
            time.sleep(_RANDOM.uniform(*_POLITE))
        connection.execute("PRAGMA busy_timeout=0")
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    self._met = time.monotonic()
                    if "locked" not in str(error) or self._met - start > self.most_seconds:
                        raise
                waited = time.monotonic() - start
                time.sleep(_RANDOM.uniform(*(_OFTEN if waited < _LONG else _MORE_OFTEN)))
        finally:
            # Readers are waited for at the end, which is never long.
            connection.execute(f"PRAGMA busy_timeout={int(1000 * self.most_seconds)}")

    def end(self) -> None:
        """Remember that a transaction ends now."""
        self._ended = time.monotonic()
