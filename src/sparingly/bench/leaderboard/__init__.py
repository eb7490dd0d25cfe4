"""The leaderboard as a page, as Markdown and as CSV."""

from sparingly.bench.leaderboard.page import write

__all__ = ["write"]
