"""Where a leaderboard comes from: when it was made, from which commit and with which grid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from benchmarks.leaderboard.results import Results
from sparingly._version import __version__
from sparingly.base.format import counted


@dataclass(frozen=True)
class Origin:
    """When a leaderboard was made, from what and with which grid.

    Attributes:
        date: The day, as 2026-01-31.
        commit: The commit of the code, if it is known.
        grid: The grid as it was written.
    """

    date: str
    commit: str | None
    grid: str

    def sentence(self, results: Results) -> str:
        """Return what was run, when and by which version."""
        counting = len(results.counting())
        others = len(results.sets) - counting
        apart = f" and {others} more that {'do' if others > 1 else 'does'} not count" if others else ""
        commit = f", commit {self.commit}" if self.commit else ""
        return (
            f"Made on {self.date} by sparingly {__version__}{commit}: "
            f"{counted(len(results.entries), 'entry', 'entries')} on {counted(counting, 'set')}{apart}."
        )


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()
