"""Parameters of commands in short: their help, their names, and how often they may be given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from cyclopts import Parameter

Options = TypeVar("Options")


def about(help: str, *names: str, **settings: Any) -> Parameter:
    """Return a parameter with its help, and with names where that of the variable is not its only one."""
    return Parameter(name=names or None, help=help, **settings)


def flag(help: str, *names: str, **settings: Any) -> Parameter:
    """Return a switch that is off unless it is given."""
    return about(help, *names, negative="", **settings)


def several(help: str, *names: str) -> Parameter:
    """Return an option that may be given more than once, and whose help says so."""
    return repeatable(f"{help}; repeat for several.", *names)


def repeatable(help: str, *names: str) -> Parameter:
    """Return an option that may be given more than once."""
    return about(help, *names, negative="", show_default=False)


@dataclass_transform(frozen_default=True)
def options(kind: type[Options]) -> type[Options]:
    """Make a class a frozen dataclass whose fields are options of the command that takes it."""
    return Parameter(name="*")(dataclass(frozen=True)(kind))
