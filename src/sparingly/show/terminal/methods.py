"""The registered methods in the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rich.console import Console

from sparingly.base.registry import Method, describe_method
from sparingly.show.terminal.console import line, make_console, make_table


def show_methods(methods: Sequence[type[Method]], console: Console | None = None) -> None:
    """Print a table of methods."""
    console = console or make_console()
    rows = [
        (method.name, method.kind, ", ".join(method.needs) or "nothing", method.summary())
        for method in methods
    ]
    console.print(make_table(("name", "kind", "needs", "what it does"), rows))
    line(console, "sparingly methods NAME shows one in full; methods are written name:key=value,key=value")


def show_method(method: type[Method], console: Console | None = None) -> None:
    """Print one method with its documentation and parameters."""
    console = console or make_console()
    described = describe_method(method)
    line(console, f"{method.name} ({method.kind})", style="bold")
    line(console, inspect.cleandoc(method.__doc__ or ""))
    line(console, f"\nneeds: {', '.join(method.needs) or 'nothing'}")
    if method.reference:
        line(console, f"after: {method.reference}")
    rows = [
        (
            part["name"],
            " | ".join(part["choices"]) if part["choices"] else part["type"],
            "required" if part["required"] else _default(part["default"]),
            part["help"],
        )
        for part in described["parameters"]
    ]
    if rows:
        console.print(make_table(("parameter", "value", "default", "meaning"), rows))


def _default(value: str | float | None) -> str:
    """Return a default as it is written in a method: none, true, false, a number, or a text as it is."""
    return value if isinstance(value, str) else str(value).lower()
