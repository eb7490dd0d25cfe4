"""The leaderboard as a page, as Markdown and as CSV."""

from benchmarks.leaderboard.page import write

__all__ = ["write"]
