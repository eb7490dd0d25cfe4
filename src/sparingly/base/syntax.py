"""How a sentence names an argument: as a flag on the command line, as an argument in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND: ContextVar[tuple[str, ...] | None] = ContextVar("command", default=None)
# A number and a place to fill in are written as they are.
_BARE = re.compile(r"[-+]?\d+(\.\d+)?|FILES|COLUMN|…")


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """Write arguments as flags while a command runs, of which these are the words."""
    token = _COMMAND.set(tuple(words))
    try:
        yield
    finally:
        _COMMAND.reset(token)


def command_with(*more: str) -> str:
    """Return the command that runs, with further words: what to paste."""
    import shlex

    return f"sparingly {shlex.join([*(_COMMAND.get() or ()), *more])}"


def either(flag: str, python: str) -> str:
    """Return what to type where the user is."""
    return python if _COMMAND.get() is None else flag


def argument(name: str, value: str | None = "…") -> str:
    """Return an argument with its value: ``--target set`` or ``target="set"``; None stands for a switch."""
    import shlex

    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return either(flag, f"{name}=True")
    if _BARE.fullmatch(value):
        return either(f"{flag} {value}", f"{name}={value}")
    return either(f"{flag} {shlex.quote(value)}", f"{name}={_text(value)}")


def one_of_several(name: str, value: str) -> str:
    """Return an argument that takes several values, with one: ``--lower-is-better TER`` or a list of it."""
    return either(argument(name, value), f"{name}=[{_text(value)}]")


def arguments(values: Mapping[str, str]) -> str:
    """Return several arguments: ``--pass-rate 90% --width 4%`` or ``pass_rate="90%", width="4%"``."""
    return either(" ", ", ").join(argument(name, value) for name, value in values.items())


def role_argument(column: str, role: str) -> str:
    """Return what gives a column of a table a role: ``--role answer=output`` or ``roles={…}``."""
    import shlex

    quoted = f"{column}={role}"
    quoted = quoted if column == "COLUMN" else shlex.quote(quoted)
    return either(f"--role {quoted}", f"roles={{{_text(column)}: {_text(role)}}}")


def lacking(what: str) -> str:
    """Return the end of a sentence about what a set has none of: how to name the column that holds it."""
    role = {"sources": "input", "outputs": "output", "metrics": "metric", "documents": "document"}[what]
    return f"and the evaluation set has none. If a column holds them, add {role_argument('COLUMN', role)}."


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
