"""Checks of arguments that many functions share: levels, error rates, names."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sparingly.base.errors import UnknownNameError, UsageError


def check_level(level: float) -> None:
    """Raise UsageError unless 0 < level < 1."""
    if not 0.0 < level < 1.0:
        raise UsageError(f"A level lies between 0 and 1, such as 0.95, not {level}.")


def check_alpha(alpha: float) -> None:
    """Raise UsageError unless 0 < alpha < 1."""
    if not 0.0 < alpha < 1.0:
        raise UsageError(f"The error rate alpha must lie between 0 and 1, such as 0.05, not {alpha}.")


def check_names(kind: str, names: Iterable[str], options: Collection[str]) -> None:
    """Raise UnknownNameError for the first of some names that is none of the options."""
    for name in names:
        if name not in options:
            raise UnknownNameError(kind, name, options)
