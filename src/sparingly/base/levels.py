"""Levels of intervals and error rates of tests: numbers between 0 and 1."""

from __future__ import annotations

from sparingly.base.errors import UsageError


def check_level(level: float) -> None:
    """Raise UsageError unless 0 < level < 1."""
    if not 0.0 < level < 1.0:
        raise UsageError(f"A level lies between 0 and 1, such as 0.95, not {level}.")


def check_alpha(alpha: float) -> None:
    """Raise UsageError unless 0 < alpha < 1."""
    if not 0.0 < alpha < 1.0:
        raise UsageError(f"The error rate alpha must lie between 0 and 1, such as 0.05, not {alpha}.")
